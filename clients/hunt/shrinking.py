"""Makes a plan smaller for as long as it still shows what it showed."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import trio

from mockbroker.shrinking import Shrinking

from .plan import Plan, smaller
from .stage import Outcome

Run = Callable[[Plan], Awaitable[Outcome]]
LIMIT_S: Final = 120.0
_TRIES: Final = 2
"""A client does not do the same each time: so often a smaller plan is tried."""


async def shrink(
    plan: Plan,
    outcome: Outcome,
    shows: Callable[[Outcome], bool],
    runs: Sequence[Run],
    limit_s: float = LIMIT_S,
    scope: trio.CancelScope | None = None,
) -> tuple[Plan, Outcome]:
    """The smallest plan that was found in the time, or until `scope` is cancelled, and a run of it that still
    `shows` what is looked for. `runs` are used at the same time."""
    end, search = trio.current_time() + limit_s, Shrinking(plan, smaller)

    async def show(candidate: Plan, run: Run, shown: dict[int, Outcome], number: int) -> None:
        for _ in range(_TRIES):
            found = await run(candidate)
            if shows(found):
                shown[number] = found
                return

    with scope or trio.CancelScope():
        while trio.current_time() <= end and (candidates := search.next(len(runs))):
            shown: dict[int, Outcome] = {}
            async with trio.open_nursery() as nursery:
                for number, (candidate, run) in enumerate(zip(candidates, runs, strict=False)):
                    nursery.start_soon(show, candidate, run, shown, number)
            if shown:
                first = min(shown)
                search.fails(candidates[first])
                outcome = shown[first]
    return search.smallest, outcome
