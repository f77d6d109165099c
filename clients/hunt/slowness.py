"""Calls that look slow: whether that is the client's doing shows when their plans are played alone."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from .judging import Violation
from .judging.slow import slow, suspects
from .plan import Plan
from .stage import Outcome

_AGAIN: Final = 2
"""How often a plan is played again, with its faults and without."""
ENOUGH: Final = 3
"""So many plans are played again for one verb of one kind of user."""


class Suspects:
    """Runs with calls that look slow, to be played again once nothing else is played."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def take(self, outcome: Outcome) -> bool:
        """Whether it has to be played again."""
        kinds = {user.name: user.kind for user in outcome.plan.users}
        found = {(kinds.get(user, user), verb) for user, verb in suspects(outcome)}
        new = any(self._counts[each] < ENOUGH for each in found)
        self._counts.update(found)
        return new


async def played_alone(outcome: Outcome, run: Callable[[Plan], Awaitable[Outcome]]) -> list[Violation]:
    """What is slow each time."""
    quiet = [await run(replace(outcome.plan, steps=())) for _ in range(_AGAIN)]
    again = [await run(outcome.plan) for _ in range(_AGAIN + 1)]
    for each in (*quiet, *again):
        each.again = True
    return list(slow(again[0], quiet, again[1:]))
