"""Which transactions lie in a replica's log (`ProducerStateManager.java`, `TransactionIndex.java`)."""

from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Iterator
from typing import NamedTuple


class Aborted(NamedTuple):
    """An aborted transaction: its first offset, that of its marker, and the last stable offset then."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class LogTransactions:
    """`open` are the producer ids of transactions without marker by first offset, in order; `ended` are
    (first offset, marker's offset) of those whose marker may lie above the high watermark; both it and
    `aborted` are in order of the markers."""

    __slots__ = ("aborted", "ended", "open")

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        self.ended: deque[tuple[int, int]] = deque()
        self.aborted: list[Aborted] = []

    def begin(self, producer_id: int, first_offset: int) -> None:
        self.open[first_offset] = producer_id

    def end(self, producer_id: int, first_offset: int, marker_offset: int, committed: bool) -> None:
        self.open.pop(first_offset, None)
        self.ended.append((first_offset, marker_offset))
        if not committed:
            stable = next(iter(self.open), marker_offset + 1)
            self.aborted.append(Aborted(producer_id, first_offset, marker_offset, stable))

    def last_stable_offset(self, high_watermark: int) -> int:
        """The first offset that is not decided, up to the high watermark.

        A marker above the high watermark decides nothing yet.
        """
        self.decided(high_watermark)
        first = min(next(iter(self.open), high_watermark), high_watermark)
        return min([first, *(each[0] for each in self.ended)])

    def decided(self, high_watermark: int) -> None:
        """Markers below the high watermark hold nothing back any more."""
        while self.ended and self.ended[0][1] < high_watermark:
            self.ended.popleft()

    def aborted_in(self, start: int, end: int) -> Iterator[Aborted]:
        """Those that a reader from `start` up to, not including, `end` has to know of."""
        for each in self.aborted[bisect_left(self.aborted, start, key=_last_offset) :]:
            if each.first_offset < end:
                yield each
            if each.last_stable_offset >= end:
                return

    def truncate(self, end_offset: int) -> None:
        """Forgets what lies at or above `end_offset`; transactions that lost their marker are open again."""
        while self.aborted and self.aborted[-1].last_offset >= end_offset:
            self.aborted.pop()
        while self.ended and self.ended[-1][1] >= end_offset:
            self.ended.pop()
        self.open = {first: producer for first, producer in self.open.items() if first < end_offset}

    def reopen(self, producer_id: int, first_offset: int) -> None:
        """A transaction whose marker was truncated."""
        if first_offset not in self.open:
            self.open = dict(sorted([*self.open.items(), (first_offset, producer_id)]))

    def cleaned(self, over: Collection[Aborted]) -> None:
        """Compaction has left nothing of aborted transactions; a reader may never meet their markers."""
        if over:
            self.aborted = [each for each in self.aborted if each not in over]

    def truncate_from_start(self, log_start_offset: int) -> None:
        """Forgets aborted transactions whose marker is deleted: no reader may begin before it."""
        del self.aborted[: bisect_left(self.aborted, log_start_offset, key=_last_offset)]

    def forget(self, first_offset: int) -> None:
        """A transaction whose producer is forgotten with its records."""
        self.open.pop(first_offset, None)


def _last_offset(each: Aborted) -> int:
    return each.last_offset
