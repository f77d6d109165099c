"""Calls that take far longer under a few faults than without any."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..journal import Called, Committed, Sent
from ..plan import Plan
from ..stage import Outcome
from .needless import is_light
from .violation import Violation, is_late

TIMES: Final = 10
_AT_LEAST_MS: Final = 1_000
"""What a call may take under a few faults, besides the time for which they delay answers."""
_SHORT_MS: Final = 20
Took = Mapping[tuple[str, str], tuple[int, int]]
"""By user and verb: how long the longest call took, in ms, and the number of its entry."""


def suspects(outcome: Outcome) -> Took:
    """Calls that may be slow; only those of plans with few faults, which a client should hardly notice."""
    plan = outcome.plan
    if outcome.broken is not None or not plan.steps or not is_light(plan):
        return {}
    limit_ms = _AT_LEAST_MS + _delay_ms(plan)
    return {key: took for key, took in _longest(outcome).items() if took[0] > limit_ms}


def slow(outcome: Outcome, quiet: Sequence[Outcome], again: Sequence[Outcome]) -> Iterator[Violation]:
    """`slow`: a call takes more than ten times what it takes in the same plan without faults, each time that
    it is played. `quiet` are runs without faults, `again` further ones with them."""
    if any(map(is_late, (outcome, *quiet, *again))):
        return
    usual: dict[tuple[str, str], int] = defaultdict(lambda: _SHORT_MS)
    for each in quiet:
        for key, (ms, _) in _longest(each).items():
            usual[key] = max(usual[key], ms)
    for key, (ms, at) in suspects(outcome).items():
        every = [ms, *(suspects(each).get(key, (0, -1))[0] for each in again)]
        if min(every) > TIMES * usual[key]:
            user, verb = key
            told = ", ".join(f"{each:,}" for each in every)
            what = f"{verb} takes {told} ms, and no more than {usual[key]:,} ms without faults"
            yield Violation("slow", user, what, (at,))


def _longest(outcome: Outcome) -> dict[tuple[str, str], tuple[int, int]]:
    longest: dict[tuple[str, str], tuple[int, int]] = {}
    for user, verb, ms, at in _calls(outcome):
        longest[user, verb] = max(longest.get((user, verb), (0, at)), (ms, at))
    return longest


def _calls(outcome: Outcome) -> Iterator[tuple[str, str, int, int]]:
    for entry in outcome.journal.entries:
        match entry:
            case Called():
                yield entry.user, entry.verb, entry.took_ms, entry.at
            case Committed() if entry.took_ms:
                yield entry.user, "commit", entry.took_ms, entry.at
            case Sent() if entry.told is not None:
                yield entry.user, "produce", entry.told.ms - entry.ms, entry.at


def _delay_ms(plan: Plan) -> int:
    return sum(step.fields.get("ms", 0) * step.fields.get("times", 1) for step in plan.steps)
