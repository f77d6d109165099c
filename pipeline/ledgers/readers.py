"""What groups have read of a partition: whether there is more than that, and where they may have begun."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from .row import Note, Row, note, voice

_SETTLED_MS: Final = 60_000
"""What was written so long before a group's first commit was there when it began."""
_COARSE_MS: Final = 1_000
_AWAY_MS: Final = 10_000
"""Who commits sooner may have read what was compacted then: automatic commits are five seconds apart."""


@dataclass(slots=True)
class Readers:
    """`last` has the last commit of each group, `behind` since which row there is more than that, and `idle`
    are the groups that have read all.

    `settled` is the last batch of those that are a minute old, `recent` are those since, one a second; only
    if the log `is_whole` from its `start` on, and has no transactions.

    `log` has the last batch of each log, `gaps` by group the batch after a gap in which its last commit is,
    and `compacted` is what the cleaner did last."""

    last: dict[str, Row] = field(default_factory=dict)
    behind: dict[str, Row] = field(default_factory=dict)
    idle: set[str] = field(default_factory=set)
    recent: deque[Row] = field(default_factory=deque)
    settled: Row | None = None
    is_whole: bool = False
    start: Row | None = None
    log: dict[str, Row] = field(default_factory=dict)
    gaps: dict[str, Row] = field(default_factory=dict)
    compacted: Row | None = None

    def append(self, row: Row) -> None:
        if self.idle:
            more = {each for each in self.idle if (self.last[each].offset or 0) < (row.end_offset or 0)}
            self.behind |= dict.fromkeys(more, row)
            self.idle -= more
        self._find_gaps(row)
        if (row.detail or "").startswith("transactional"):
            # It is read when its transaction ends, which may be late.
            self.is_whole, self.start = False, row
        elif self.start is None:
            self.is_whole, self.start = row.offset == 0, row
        if not self.is_whole:
            return
        self._settle(row.at_ms)
        if self.recent and row.at_ms // _COARSE_MS == self.recent[-1].at_ms // _COARSE_MS:
            self.recent[-1] = row
        else:
            self.recent.append(row)

    def _find_gaps(self, row: Row) -> None:
        """A log has gaps only where it was compacted. Files of other names have what was removed."""
        if row.source == "segment" and not row.file.endswith(".log"):
            return
        who, offset = voice(row), row.offset or 0
        before = self.log.get(who)
        self.log[who] = row
        if before is not None and (before.end_offset or 0) < offset:
            for group, last in self.last.items():
                if (before.end_offset or 0) <= (last.offset or 0) < offset:
                    self.gaps[group] = row

    def _skipped(self, last: Row, row: Row, gap: Row) -> Sequence[Note]:
        cleaned = self.compacted
        if cleaned is None or not last.at_ms + _AWAY_MS <= cleaned.at_ms <= row.at_ms:
            return ()
        if (last.offset or 0) >= (cleaned.end_offset or 0) or (gap.offset or 0) > (row.offset or 0):
            return ()
        about = {"offset": last.offset, "end_offset": gap.offset}
        return [note("records-skipped", last, cleaned, row, client=None, **about)]

    def _settle(self, now_ms: int) -> None:
        while self.recent and now_ms - self.recent[0].at_ms > _SETTLED_MS:
            self.settled = self.recent.popleft()

    def commit(self, row: Row, end: int) -> Iterable[Note]:
        assert row.group is not None
        group = row.group
        found: Sequence[Note] = ()
        last = self.last.get(group)
        if last is None:
            found = self._begun(row)
        elif group in self.gaps:
            found = self._skipped(last, row, self.gaps.pop(group))
        self.last[group] = row
        if end > (row.offset or 0):
            self.behind[group] = row
            self.idle.discard(group)
        else:
            self.behind.pop(group, None)
            self.idle.add(group)
        return found

    def _begun(self, row: Row) -> Sequence[Note]:
        self._settle(row.at_ms)
        before = 0 if self.settled is None else self.settled.end_offset or 0
        if self.is_whole and self.start is not None and 0 < before < (row.offset or 0):
            about = {"offset": 0, "end_offset": before, "number": self.start.at_ms}
            return [note("begun-late", self.settled, row, client=None, **about)]
        return ()

    def end(self, end: int | None) -> Iterator[Note]:
        for group, row in self.behind.items():
            last = self.last[group]
            yield note("unread", last, row, group=group, client=None, offset=last.offset, end_offset=end)
