"""The machine is late: it is too busy, it stands still, or its clock jumps. What a client does too late
then, or not at all, it may do in time otherwise."""

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import trio

from .journal import Happened
from .judging import excused
from .stage import Outcome

WINDOW_S: Final = 10.0
"""So much longer than its own timeout a call may take."""
LIMIT_S: Final = 5.0
"""So late the hunt's own timers may be, all together, within the window: sessions end after 6 s."""
ATTEMPTS: Final = 3
_TICK_S: Final = 0.1


@asynccontextmanager
async def noticing(outcome: Outcome) -> AsyncIterator[None]:
    """Meanwhile it is noticed if the machine is late."""
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
    window = deque[tuple[float, float]]()
    while True:
        began, wall = trio.current_time(), time.time()
        await trio.sleep(_TICK_S)
        now = trio.current_time()
        took, wall_took = now - began, time.time() - wall
        # While a machine sleeps, only the wall clock goes on.
        window.append((now, max(took - _TICK_S, abs(wall_took - took))))
        while window[0][0] <= now - WINDOW_S:
            window.popleft()
        late_s = sum(late for _, late in window)
        if late_s >= LIMIT_S:
            outcome.late = True
            outcome.journal.add(Happened(what=f"the machine is late, or its clock jumps: by {late_s:.1f} s"))
            window.clear()


async def in_time(run: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """Runs again what can't be judged, since the machine was late. If that is so each time, the last one is
    returned."""
    for _ in range(ATTEMPTS):
        outcome = await run()
        if not excused(outcome):
            break
    return outcome
