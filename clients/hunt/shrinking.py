"""Makes a plan smaller for as long as it still shows what it showed."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Final

import trio

from .judging import judge
from .plan import Plan, smaller
from .stage import Outcome

Run = Callable[[Plan], Awaitable[Outcome]]
LIMIT_S: Final = 120.0
_TRIES: Final = 2
"""A client does not do the same each time: so often a smaller plan is tried."""


async def shrink(
    plan: Plan,
    outcome: Outcome,
    invariant: str,
    runs: Sequence[Run],
    limit_s: float = LIMIT_S,
    scope: trio.CancelScope | None = None,
) -> tuple[Plan, Outcome]:
    """The smallest plan that was found in the time, or until `scope` is cancelled, and a run of it that
    violates the invariant. `runs` are used at the same time."""
    end = trio.current_time() + limit_s
    smallest = plan, outcome
    with scope or trio.CancelScope():
        while trio.current_time() < end:
            found = await _smaller(smallest[0], invariant, runs, end)
            if found is None:
                break
            smallest = found
    return smallest


async def _smaller(
    plan: Plan, invariant: str, runs: Sequence[Run], end: float
) -> tuple[Plan, Outcome] | None:
    """The first of the smaller plans that shows it, or None."""
    left = iter(smaller(plan))
    while candidates := tuple(islice(left, len(runs))):
        if trio.current_time() > end:
            return None
        shown: dict[int, Outcome] = {}

        async def show(number: int, candidate: Plan, run: Run, shown: dict[int, Outcome] = shown) -> None:
            for _ in range(_TRIES):
                outcome = await run(candidate)
                if any(each.invariant == invariant for each in judge(outcome)):
                    shown[number] = outcome
                    return

        async with trio.open_nursery() as nursery:
            for number, (candidate, run) in enumerate(zip(candidates, runs, strict=False)):
                nursery.start_soon(show, number, candidate, run)
        if shown:
            first = min(shown)
            return candidates[first], shown[first]
    return None
