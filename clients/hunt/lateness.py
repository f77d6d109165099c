"""The machine is late: it is too busy, it stands still, or its clock jumps. What a client does too late
then, or not at all, it may do in time otherwise."""

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import trio

from ..drivers import Driver
from ..drivers.busy import Refused
from .journal import Happened
from .judging import excused
from .stage import Outcome

WINDOW_S: Final = 10.0
"""So much longer than its own timeout a call may take."""
_TOLD_S: Final = 2.0
ATTEMPTS: Final = 3
_TICK_S: Final = 0.2


@asynccontextmanager
async def noticing(outcome: Outcome, driver: Driver | None = None) -> AsyncIterator[None]:
    """Meanwhile it is noticed how late the machine is: the hunt's own timers, and the threads of a driver
    that wait for a processor."""
    failed: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_notice, outcome, None if driver is None else driver.refused())
        try:
            yield
        except Exception as error:
            # It leaves as it is, not in a group.
            failed = error
        nursery.cancel_scope.cancel()
    if failed is not None:
        raise failed


async def _notice(outcome: Outcome, refused: Refused | None) -> None:
    window = deque[tuple[float, float]]()
    while True:
        began, wall = trio.current_time(), time.time()
        await trio.sleep(_TICK_S)
        now = trio.current_time()
        took, wall_took = now - began, time.time() - wall
        # While a machine sleeps, only the wall clock goes on.
        late_s = max(took - _TICK_S, abs(wall_took - took))
        window.append((now, late_s + (0.0 if refused is None else refused.since_last_s())))
        while window[0][0] <= now - WINDOW_S:
            window.popleft()
        late_s = sum(late for _, late in window)
        outcome.late_s = max(outcome.late_s, late_s)
        if late_s >= _TOLD_S:
            outcome.journal.add(Happened(what=f"the machine is late, or its clock jumps: by {late_s:.1f} s"))
            window.clear()


async def in_time(run: Callable[[], Awaitable[Outcome]], *, again: bool = False) -> Outcome:
    """Runs again what can't be judged, since the machine was late. If that is so each time, the last one is
    returned. `again`: the first one, too, is a run of what could not be judged."""
    for number in range(ATTEMPTS):
        outcome = await run()
        outcome.again = again or number > 0
        if not excused(outcome):
            break
    return outcome
