"""Deadlines of the core. The shell provides the time; nothing here reads a clock."""

import heapq
import itertools
from collections.abc import Callable, Iterator
from typing import Final

from .owner import Owner


class Timer:
    """A callback due at `deadline_ms`, unless cancelled. `owner` is the request that waits for it."""

    __slots__ = ("_queue", "callback", "deadline_ms", "owner")

    def __init__(
        self,
        queue: "_Queue",
        deadline_ms: int,
        callback: Callable[[], None],
        owner: Owner | None = None,
    ) -> None:
        self._queue = queue
        self.deadline_ms = deadline_ms
        self.callback: Callable[[], None] | None = callback
        self.owner = owner

    def cancel(self) -> None:
        if self.callback is not None:
            self.callback = self.owner = None
            self._queue.cancel()


_Entry = tuple[int, int, Timer]
_FEW: Final = 64


class _Queue:
    """Timers by deadline, then number. Cancelled ones are removed when they come first, or when they are the
    greater part, because deadlines may be weeks away."""

    __slots__ = ("cancelled", "heap")

    def __init__(self) -> None:
        self.heap: list[_Entry] = []
        self.cancelled = 0
        """How many of them are cancelled."""

    def cancel(self) -> None:
        """One of the timers was cancelled."""
        self.cancelled += 1
        if self.cancelled > _FEW and self.cancelled * 2 > len(self.heap):
            self.heap = [entry for entry in self.heap if entry[2].callback is not None]
            heapq.heapify(self.heap)
            self.cancelled = 0
        elif self.heap[0][2].callback is None:
            self.drop_first()

    def drop_first(self) -> None:
        """Removes cancelled timers that come first."""
        heap = self.heap
        while heap and heap[0][2].callback is None:
            heapq.heappop(heap)
            self.cancelled -= 1


class Timers:
    """Timers in order of their deadlines; those with the same deadline fire in the order in which they were
    set.

    A wait is a timer for somebody who waits for an answer. `waited_ms` is how much more time has passed for
    waits than the clock says: 0, except in a shell whose clock stands still while its clients' clocks do not.
    """

    def __init__(self) -> None:
        self.waited_ms = 0
        self._timers = _Queue()
        self._waits = _Queue()
        self._numbers = itertools.count()

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._timers.heap) + len(self._waits.heap)

    def at(self, deadline_ms: int, callback: Callable[[], None]) -> Timer:
        timer = Timer(self._timers, deadline_ms, callback)
        heapq.heappush(self._timers.heap, (deadline_ms, next(self._numbers), timer))
        return timer

    def wait_until(self, deadline_ms: int, callback: Callable[[], None], owner: Owner | None = None) -> Timer:
        timer = Timer(self._waits, deadline_ms, callback, owner)
        heapq.heappush(self._waits.heap, (deadline_ms + self.waited_ms, next(self._numbers), timer))
        return timer

    def next_deadline(self) -> int | None:
        """In ms on the shell's clock; None if there is no timer."""
        timers, wait = self._timers.heap, self.next_wait()
        if not timers or wait is None:
            return timers[0][0] if timers else wait
        return min(timers[0][0], wait)

    def next_wait(self) -> int | None:
        """As `next_deadline`, but only of waits."""
        waits = self._waits.heap
        return waits[0][0] - self.waited_ms if waits else None

    def due(self, now_ms: int) -> Iterator[tuple[int, Callable[[], None], Owner | None]]:
        """Removes the timers that are due one by one: deadline, callback and owner, if any. Timers that are
        set meanwhile are among them."""
        timers, waits = self._timers, self._waits
        while True:
            queue, heap, waited_ms = timers, timers.heap, 0
            if waits.heap:
                deadline_ms, number, _ = waits.heap[0]
                if not heap or (deadline_ms - self.waited_ms, number) < heap[0]:
                    queue, heap, waited_ms = waits, waits.heap, self.waited_ms
            if not heap or heap[0][0] - waited_ms > now_ms:
                return
            deadline_ms, _, timer = heapq.heappop(heap)
            if queue.cancelled:
                queue.drop_first()
            callback, timer.callback = timer.callback, None
            assert callback is not None, "the first is not cancelled"
            yield deadline_ms - waited_ms, callback, timer.owner
