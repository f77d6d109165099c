"""Which behaviour of a release a loss, a duplicate or a halt comes from."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from ...policies import CATALOGUE, Policies, fixes
from ...protocol import releases
from .case import Case, Outcome

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
    """The behaviours that alone, as they are in the newest release, make the case come out well.

    None of them: what went wrong lies in the versions of the APIs that were spoken, or in the client.
    """
    return [
        f"{name}={answer}"
        for name, answer in differing(case)
        if run(replace(case, policies={**case.policies, name: answer})).exactly_once
    ]


assert set(SUSPECTS) <= set(CATALOGUE)
