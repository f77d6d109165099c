"""Deadlines of the core. Time is handed in by the shell; nothing here reads a clock."""

import heapq
import itertools
from collections.abc import Callable
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
            self._queue.cancelled()


_Entry = tuple[int, int, Timer]
_FEW: Final = 64


class _Queue:
    """Timers by deadline, then number. Cancelled ones go when they come first, or make up the most of it:
    deadlines may be weeks away."""

    __slots__ = ("_cancelled", "heap")

    def __init__(self) -> None:
        self.heap: list[_Entry] = []
        self._cancelled = 0

    def first(self) -> _Entry | None:
        heap = self.heap
        while heap and heap[0][2].callback is None:
            heapq.heappop(heap)
            self._cancelled -= 1
        return heap[0] if heap else None

    def cancelled(self) -> None:
        self._cancelled += 1
        if self._cancelled > _FEW and self._cancelled * 2 > len(self.heap):
            self.heap = [entry for entry in self.heap if entry[2].callback is not None]
            heapq.heapify(self.heap)
            self._cancelled = 0


class Timers:
    """Timers in order of their deadlines; those of one deadline fire in the order they were set.

    A wait is a timer for somebody who waits for an answer. `waited_ms` is how much more time has gone by for
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
        """Milliseconds on the shell's clock, or None when nothing is to fire."""
        first, wait = self._timers.first(), self.next_wait()
        if first is None or wait is None:
            return wait if first is None else first[0]
        return min(first[0], wait)

    def next_wait(self) -> int | None:
        """As `next_deadline`, of the waits alone."""
        wait = self._waits.first()
        return None if wait is None else wait[0] - self.waited_ms

    def pop_due(self, now_ms: int) -> tuple[int, Callable[[], None], Owner | None] | None:
        """When the next that is due was, its callback and its owner, if any."""
        first = self._timers.first()
        queue, deadline = self._timers, None if first is None else first[0]
        if (wait := self._waits.first()) is not None:
            wait_deadline = wait[0] - self.waited_ms
            if first is None or (wait_deadline, wait[1]) < first[:2]:
                queue, deadline = self._waits, wait_deadline
        if deadline is None or deadline > now_ms:
            return None
        timer = heapq.heappop(queue.heap)[2]
        callback, timer.callback = timer.callback, None
        assert callback is not None, "the first that is not cancelled"
        return deadline, callback, timer.owner
