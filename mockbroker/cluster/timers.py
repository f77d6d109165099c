"""Deadlines of the core. Time is handed in by the shell; nothing here reads a clock."""

import heapq
import itertools
from collections.abc import Callable


class Timer:
    """A callback due at `deadline_ms`, unless cancelled."""

    __slots__ = ("callback", "deadline_ms")

    def __init__(self, deadline_ms: int, callback: Callable[[], None]) -> None:
        self.deadline_ms = deadline_ms
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


_Entry = tuple[int, int, Timer]


class Timers:
    """Timers in order of their deadlines; those of one deadline fire in the order they were set.

    A wait is a timer for somebody who waits for an answer. `waited_ms` is how much more time has gone by for
    waits than the clock says: 0, but for a shell whose clock stands still while its clients' do not.
    """

    def __init__(self) -> None:
        self.waited_ms = 0
        self._heap: list[_Entry] = []
        self._waits: list[_Entry] = []
        self._numbers = itertools.count()

    def at(self, deadline_ms: int, callback: Callable[[], None]) -> Timer:
        timer = Timer(deadline_ms, callback)
        heapq.heappush(self._heap, (deadline_ms, next(self._numbers), timer))
        return timer

    def wait_until(self, deadline_ms: int, callback: Callable[[], None]) -> Timer:
        timer = Timer(deadline_ms, callback)
        heapq.heappush(self._waits, (deadline_ms + self.waited_ms, next(self._numbers), timer))
        return timer

    def next_deadline(self) -> int | None:
        """Milliseconds on the shell's clock, or None when nothing is to fire."""
        first, wait = _first(self._heap), self.next_wait()
        if first is None or wait is None:
            return wait if first is None else first[0]
        return min(first[0], wait)

    def next_wait(self) -> int | None:
        """As `next_deadline`, of the waits alone."""
        wait = _first(self._waits)
        return None if wait is None else wait[0] - self.waited_ms

    def pop_due(self, now_ms: int) -> tuple[int, Callable[[], None]] | None:
        """The next callback that is due and when it was, if any."""
        first = _first(self._heap)
        heap, deadline = self._heap, None if first is None else first[0]
        if self._waits and (wait := _first(self._waits)) is not None:
            wait_deadline = wait[0] - self.waited_ms
            if first is None or (wait_deadline, wait[1]) < first[:2]:
                heap, deadline = self._waits, wait_deadline
        if deadline is None or deadline > now_ms:
            return None
        timer = heapq.heappop(heap)[2]
        callback, timer.callback = timer.callback, None
        assert callback is not None, "the first that is not cancelled"
        return deadline, callback


def _first(heap: list[_Entry]) -> _Entry | None:
    while heap and heap[0][2].callback is None:
        heapq.heappop(heap)
    return heap[0] if heap else None
