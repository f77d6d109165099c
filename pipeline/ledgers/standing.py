"""A group that commits the same offset again and again."""

from collections.abc import Iterable
from dataclasses import dataclass

from .row import Note, Row, note


@dataclass(slots=True)
class Standing:
    """The last commit's offset, and the first and the last commit of it while the log went further."""

    offset: int
    behind: Row | None = None
    last: Row | None = None
    count: int = 0

    def commit(self, row: Row, offset: int, log_end: int) -> None:
        if self.offset != offset:
            self.offset, self.behind, self.last, self.count = offset, None, None, 0
        elif log_end > offset:
            self.behind = self.behind or row
            if row.at_ms > (self.last or self.behind).at_ms:
                self.count += 1
            self.last = row

    def stands(self, group: str, log_end: int | None, least_ms: int) -> Iterable[Note]:
        """That it stood there for so long."""
        first, last = self.behind, self.last
        if first is None or last is None or last.at_ms - first.at_ms < least_ms:
            return
        about = {"group": group, "offset": self.offset, "end_offset": log_end, "number": self.count}
        yield note("stands-still", first, last, **about)
