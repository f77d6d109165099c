"""How far read_committed consumers get, where the last stable offset is told: in traces and captures."""

from collections.abc import Iterable
from dataclasses import dataclass

from .row import Note, Row, note


@dataclass(slots=True)
class Stability:
    """That the last stable offset stands below the high watermark: `since` is the first high watermark that
    told so, `last` the last one that had risen, `begun` is the batch at that offset, if it is known.

    Captures tell the same again and again while nothing is written, and nobody waits for anything then."""

    since: Row | None = None
    last: Row | None = None
    begun: Row | None = None

    def watermark(self, row: Row, appended: Iterable[Row]) -> None:
        """`appended` are the last batches."""
        stable = row.from_offset
        if stable is None or row.offset is None:
            return
        if stable >= row.offset:
            self.clear()
        elif self.since is None or self.since.from_offset != stable:
            self.since, self.last, self.begun = row, row, None
            for each in appended:
                self.append(each)
        elif self.last is None or row.offset > (self.last.offset or 0):
            self.last = row

    def append(self, row: Row) -> None:
        """A batch whose producer was answered: before or after the high watermark rose."""
        stable = None if self.since is None else self.since.from_offset
        if stable is not None and (row.offset or 0) <= stable < (row.end_offset or 0):
            self.begun = row

    def clear(self) -> None:
        self.since = self.begun = None

    def stands(self, least_ms: int) -> Iterable[Note]:
        """That it stood still for so long, while the log went on."""
        first, last = self.begun or self.since, self.last
        if self.since is None or first is None or last is None or last.at_ms - first.at_ms < least_ms:
            return
        producer = None if self.begun is None else self.begun.producer_id
        about = {"client": None, "group": None, "producer_id": producer}
        stable = self.since.from_offset
        yield note("transaction-open", first, last, offset=stable, end_offset=last.offset, **about)
