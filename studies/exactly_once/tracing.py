"""Which behaviour of a release a loss, a duplicate or a halt comes from."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from mockbroker.policies import CATALOGUE, Policies, fixes
from mockbroker.protocol import releases

from .case import Case, Outcome

LATE_END: Final = "a late EndTxn"
"""No answer of a broker, but that of the versions that the client speaks (KIP-890, part 2)."""
_TRIES: Final = 2

SUSPECTS: Final = (
    "transaction-verification",
    "transaction-timeout-fencing",
    "transaction-completion",
    "epoch-bump",
    "end-txn-epoch",
    "last-epoch",
    "fenced-error",
    "producer-state-retention",
    "unknown-producer",
    "stale-duplicate",
    "duplicate-window",
    "marker-timestamp",
    "marker-only-producer",
    "verified-sequence",
    "commit-to-unknown-group",
    "follower-truncation",
    "isr-shrink-epoch",
)
"""The behaviours that a transaction meets."""


def differing(case: Case) -> Iterator[tuple[str, str]]:
    """Each suspect that the newest release, with every fix, answers otherwise than the case, and how."""
    newest = Policies(releases.parse(releases.NEWEST), fixes())
    own = Policies(releases.parse(case.kafka), case.policies)
    for name in SUSPECTS:
        if (answer := newest.answer(name)) != own.answer(name):
            yield name, answer


def trace(run: Callable[[Case], Outcome], case: Case) -> list[str]:
    """What a case that fails comes from: the answer that alone, as the newest release gives it, makes it come
    out well each time; or a late EndTxn. Nothing, if it does not fail each time: then it is a matter of time.
    """
    if not all(not run(case).exactly_once for _ in range(_TRIES)):
        return []
    if case.late_ends and _helps(run, replace(case, late_ends=False)):
        return [LATE_END]
    return [
        f"{name}={answer}"
        for name, answer in differing(case)
        if _helps(run, replace(case, policies={**case.policies, name: answer}))
    ]


def _helps(run: Callable[[Case], Outcome], case: Case) -> bool:
    return all(run(case).exactly_once for _ in range(_TRIES))


assert set(SUSPECTS) <= set(CATALOGUE)
