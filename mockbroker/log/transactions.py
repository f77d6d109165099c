"""The transactions in a replica's log (`ProducerStateManager.java`, `TransactionIndex.java`)."""

from bisect import bisect_left
from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import NamedTuple


class Aborted(NamedTuple):
    """An aborted transaction: its first offset, the offset of its marker, and the last stable offset at that
    time."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class LogTransactions:
    """`open` has the producer ids of transactions without marker by first offset, in order; `ended` has
    (first offset, marker's offset) of those whose marker may be above the high watermark. `ended` and
    `aborted` are in the order of the markers."""

    __slots__ = ("aborted", "ended", "open")

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        self.ended: list[tuple[int, int]] = []
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
        """The first offset whose transaction is not decided, at most the high watermark.

        A marker above the high watermark decides nothing yet.
        """
        self.decided(high_watermark)
        first = min(next(iter(self.open), high_watermark), high_watermark)
        return min([first, *(each[0] for each in self.ended)])

    def decided(self, high_watermark: int) -> None:
        """Markers below the high watermark no longer hold anything back."""
        if self.ended and self.ended[0][1] < high_watermark:
            del self.ended[: bisect_left(self.ended, high_watermark, key=itemgetter(1))]

    def aborted_in(self, start: int, end: int) -> Iterator[Aborted]:
        """The aborted transactions that a reader from `start` to before `end` has to know."""
        for each in self.aborted[bisect_left(self.aborted, start, key=_last_offset) :]:
            if each.first_offset < end:
                yield each
            if each.last_stable_offset >= end:
                return

    def truncate(self, end_offset: int) -> None:
        """Forgets what is at or above `end_offset`; transactions that lost their marker are open again."""
        while self.aborted and self.aborted[-1].last_offset >= end_offset:
            self.aborted.pop()
        while self.ended and self.ended[-1][1] >= end_offset:
            self.ended.pop()
        self.open = {first: producer for first, producer in self.open.items() if first < end_offset}

    def reopen(self, producer_id: int, first_offset: int) -> None:
        """The marker of a transaction was truncated."""
        if first_offset not in self.open:
            self.open = dict(sorted([*self.open.items(), (first_offset, producer_id)]))

    def cleaned(self, over: Collection[Aborted]) -> None:
        """Compaction has removed all of these aborted transactions; a reader may never see their markers."""
        if over:
            self.aborted = [each for each in self.aborted if each not in over]

    def truncate_from_start(self, log_start_offset: int) -> None:
        """Forgets aborted transactions whose marker was deleted: no reader can begin before it."""
        del self.aborted[: bisect_left(self.aborted, log_start_offset, key=_last_offset)]

    def forget(self, first_offset: int) -> None:
        """The producer of a transaction was forgotten with its records."""
        self.open.pop(first_offset, None)


def _last_offset(each: Aborted) -> int:
    return each.last_offset
