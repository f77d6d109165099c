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


class Timers:
    """Timers in order of their deadlines; those of one deadline fire in the order they were set."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer]] = []
        self._numbers = itertools.count()

    def at(self, deadline_ms: int, callback: Callable[[], None]) -> Timer:
        timer = Timer(deadline_ms, callback)
        heapq.heappush(self._heap, (deadline_ms, next(self._numbers), timer))
        return timer

    def next_deadline(self) -> int | None:
        """Milliseconds on the shell's clock, or None when nothing waits."""
        heap = self._heap
        while heap and heap[0][2].callback is None:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now_ms: int) -> Callable[[], None] | None:
        """The next callback that is due, if any."""
        deadline = self.next_deadline()
        if deadline is None or deadline > now_ms:
            return None
        timer = heapq.heappop(self._heap)[2]
        callback, timer.callback = timer.callback, None
        return callback
