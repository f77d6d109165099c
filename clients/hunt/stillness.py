"""The machine stands still, or its clock jumps: what is seen then says nothing about the client."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import trio

from .journal import Happened
from .stage import Outcome

LIMIT_S: Final = 5.0
"""So long no run may stand still: sessions of members end after 6 s."""
ATTEMPTS: Final = 3
_TICK_S: Final = 0.5


@asynccontextmanager
async def noticing(outcome: Outcome) -> AsyncIterator[None]:
    """Meanwhile it is noticed if the process is stopped, the machine sleeps, or the wall clock jumps."""
    failed: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_notice, outcome)
        try:
            yield
        except Exception as error:
            # It leaves as it is, not in a group.
            failed = error
        nursery.cancel_scope.cancel()
    if failed is not None:
        raise failed


async def _notice(outcome: Outcome) -> None:
    while True:
        began, wall = trio.current_time(), time.time()
        await trio.sleep(_TICK_S)
        took, wall_took = trio.current_time() - began, time.time() - wall
        # While a machine sleeps, only the wall clock goes on.
        still_s = max(took - _TICK_S, abs(wall_took - took))
        if still_s >= LIMIT_S:
            outcome.stood_still = True
            outcome.journal.add(
                Happened(what=f"the machine stands still, or its clock jumps: {still_s:.0f} s")
            )


async def undisturbed(run: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """Runs again what was disturbed so. What was disturbed each time is returned as it is: its journal says
    so."""
    for _ in range(ATTEMPTS):
        outcome = await run()
        if not outcome.stood_still:
            break
    return outcome
