"""Rows that say the same, one soon after the other."""

from dataclasses import dataclass
from typing import Self

from .row import Row


@dataclass(slots=True)
class Run:
    """From the first to the last row."""

    first: Row
    last: Row
    count: int = 1

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(row, row)

    @property
    def took_ms(self) -> int:
        return self.last.at_ms - self.first.at_ms

    def takes(self, row: Row, apart_ms: int) -> bool:
        """Adds a row, unless it is further apart from the last one."""
        if row.at_ms - self.last.at_ms > apart_ms:
            return False
        self.last = row
        self.count += 1
        return True
