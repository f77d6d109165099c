"""How far a group is behind in a partition, in a few numbers for however long a time."""

from dataclasses import dataclass, field
from typing import Final

from .row import Row

_SLICE_MS: Final = 10_000
_SLICES: Final = 60


@dataclass(slots=True)
class Lag:
    """Since a group was last as near to the end of the log: `base` is the commit with which that began,
    `least` the lag then, `last` the last commit and its lag. `slices` have the least lag in each of a few
    slices of time, which are as long as `width_ms`."""

    base: Row
    least: int
    last: tuple[Row, int]
    width_ms: int = _SLICE_MS
    slices: list[int] = field(default_factory=list)
    count: int = 0

    def add(self, row: Row, lag: int) -> None:
        if lag <= self.least:
            self.base, self.least, self.width_ms, self.count = row, lag, _SLICE_MS, 0
            self.slices.clear()
        self.last, self.count = (row, lag), self.count + 1
        while (number := (row.at_ms - self.base.at_ms) // self.width_ms) >= _SLICES:
            self.width_ms *= 2
            self.slices = [min(self.slices[at : at + 2]) for at in range(0, len(self.slices), 2)]
        if number < len(self.slices):
            self.slices[-1] = min(self.slices[-1], lag)
        else:
            # Nothing was committed meanwhile: it was no nearer.
            self.slices += [lag] * (number + 1 - len(self.slices))

    @property
    def grows(self) -> bool:
        """Whether it was further behind in each third of that time than in the one before."""
        third = len(self.slices) // 3
        if third < 2:
            return False
        first, second, rest = self.slices[:third], self.slices[third : 2 * third], self.slices[2 * third :]
        return min(first) < min(second) < min(rest) and max(first) < min(rest)
