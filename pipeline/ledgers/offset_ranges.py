"""Sets of offsets, as ranges from a first offset up to and without an end."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

Range = tuple[int, int]


class OffsetRanges:
    """Ranges that touch are one, so that a log is one however long it is."""

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self._firsts: list[int] = []
        self._ends: list[int] = []
        for each in ranges:
            self.add(*each)

    def __iter__(self) -> Iterator[Range]:
        return iter(zip(self._firsts, self._ends, strict=True))

    def __bool__(self) -> bool:
        return bool(self._firsts)

    @property
    def count(self) -> int:
        """How many offsets."""
        return sum(self._ends) - sum(self._firsts)

    def add(self, first: int, end: int) -> None:
        if first >= end:
            return
        low, high = bisect_left(self._ends, first), bisect_right(self._firsts, end)
        if low < high:
            first, end = min(first, self._firsts[low]), max(end, self._ends[high - 1])
        self._firsts[low:high], self._ends[low:high] = [first], [end]

    def remove(self, first: int, end: int) -> None:
        low, high = bisect_right(self._ends, first), bisect_left(self._firsts, end)
        if first >= end or low >= high:
            return
        before, after = self._firsts[low], self._ends[high - 1]
        rest = [each for each in ((before, first), (end, after)) if each[0] < each[1]]
        self._firsts[low:high], self._ends[low:high] = [each[0] for each in rest], [each[1] for each in rest]

    def within(self, first: int, end: int) -> Iterator[Range]:
        """What there is of a range."""
        for at in range(bisect_right(self._ends, first), bisect_left(self._firsts, end)):
            yield max(first, self._firsts[at]), min(end, self._ends[at])

    def without(self, *others: Iterable[Range]) -> "OffsetRanges":
        found = OffsetRanges(self)
        for other in others:
            for each in other:
                found.remove(*each)
        return found
