"""Waits for something to happen in a cluster's thread: from any other thread, under asyncio and under trio.

`tells` is a list of functions that are called in the cluster's thread whenever `done` may have become true. A
waiter is in the list for as long as it waits, and never afterwards.
"""

import contextlib
import math
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..errors import BlockingCallError

if TYPE_CHECKING:
    from concurrent.futures import Future

__tracebackhide__ = True

T = TypeVar("T")
Tells = list[Callable[..., None]]
WAIT_S: Final = 30.0
"""How long tests wait unless they say how long."""


def refuse_in_event_loop(instead: str) -> None:
    """BlockingCallError if asyncio or trio runs in this thread."""
    if _in_event_loop():
        raise BlockingCallError(
            f"this would block the event loop that your client runs in: `await {instead}`, or call it in a "
            "thread (asyncio.to_thread, trio.to_thread.run_sync)"
        )


def _in_event_loop() -> bool:
    # Whoever runs one of them has imported it.
    trio, asyncio = sys.modules.get("trio"), sys.modules.get("asyncio")
    if trio is not None and trio.lowlevel.in_trio_run():
        return True
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_trio_task() -> bool:
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_task())


def until(done: Callable[[], object], tells: Tells, timeout: float) -> bool:
    """Blocks until `done()` is true; False if it is still not true after `timeout` seconds."""
    told = threading.Event()
    deadline = time.monotonic() + timeout
    with _woken_by(tells, told.set):
        while not done():
            left = deadline - time.monotonic()
            if left <= 0 or not told.wait(min(left, threading.TIMEOUT_MAX)):
                return bool(done())
            told.clear()
        return True


async def until_async(done: Callable[[], object], tells: Tells, timeout: float) -> bool:
    """As `until`, under asyncio or trio; other tasks run meanwhile."""
    if _in_trio_task():
        return await _until_in_trio(done, tells, timeout)
    return await _until_in_asyncio(done, tells, timeout)


async def _until_in_trio(done: Callable[[], object], tells: Tells, timeout: float) -> bool:
    import trio

    token = trio.lowlevel.current_trio_token()
    told = trio.Event()

    def wake() -> None:
        with contextlib.suppress(trio.RunFinishedError):
            token.run_sync_soon(lambda: told.set())

    await trio.lowlevel.checkpoint()
    with _woken_by(tells, wake), trio.move_on_after(max(timeout, 0)):
        while not done():
            await told.wait()
            told = trio.Event()
        return True
    return bool(done())


async def _until_in_asyncio(done: Callable[[], object], tells: Tells, timeout: float) -> bool:
    import asyncio

    loop = asyncio.get_running_loop()
    told = asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(told.set)

    await asyncio.sleep(0)
    with _woken_by(tells, wake):
        try:
            # Only asyncio's own loop accepts infinite times.
            async with asyncio.timeout(None if timeout == math.inf else max(timeout, 0)):
                while not done():
                    await told.wait()
                    told.clear()
                return True
        except TimeoutError:
            return bool(done())


def found(look: Callable[[], T | None], every_s: float, timeout: float) -> T | None:
    """Looks again and again, for things of which nobody is told; blocks. None after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while (it := look()) is None and time.monotonic() < deadline:
        time.sleep(every_s)
    return it


async def found_async(look: Callable[[], Awaitable[T | None]], every_s: float, timeout: float) -> T | None:
    """As `found`, under asyncio or trio; other tasks run meanwhile."""
    deadline = time.monotonic() + timeout
    while (it := await look()) is None and time.monotonic() < deadline:
        await _pause(every_s)
    return it


async def _pause(seconds: float) -> None:
    if _in_trio_task():
        import trio

        await trio.sleep(seconds)
        return
    import asyncio

    await asyncio.sleep(seconds)


async def result_of(future: "Future[T]") -> T:
    """The result of another thread. If the caller is cancelled while waiting, the call is cancelled too,
    unless it has begun."""
    if not _in_trio_task():
        import asyncio

        return await asyncio.wrap_future(future)
    import trio

    tells: Tells = []
    future.add_done_callback(lambda _: [tell() for tell in list(tells)])
    try:
        await _until_in_trio(future.done, tells, math.inf)
    except trio.Cancelled:
        future.cancel()
        raise
    return future.result()


def to_the_end() -> "contextlib.AbstractContextManager[object]":
    """What is awaited in the block is finished even if it is cancelled. This matters under trio, where every
    wait would fail then; an asyncio task is cancelled once, and then waits again."""
    if _in_trio_task():
        import trio

        return trio.CancelScope(shield=True)
    return contextlib.nullcontext()


@contextlib.contextmanager
def _woken_by(tells: Tells, wake: Callable[[], None]) -> Iterator[None]:
    def tell(*_: Any) -> None:
        wake()

    tells.append(tell)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            tells.remove(tell)
