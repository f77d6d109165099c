"""What groups have read of a partition: whether there is more than that, and where they may have begun."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from .row import Note, Row, note

_SETTLED_MS: Final = 60_000
"""What was written so long before a group's first commit was there when it began."""
_COARSE_MS: Final = 1_000


@dataclass(slots=True)
class Readers:
    """`last` has the last commit of each group, `behind` since which row there is more than that, and `idle`
    are the groups that have read all. `settled` is the last batch of those that are a minute old, `recent`
    are those since, one a second; only if the log `is_whole`."""

    last: dict[str, Row] = field(default_factory=dict)
    behind: dict[str, Row] = field(default_factory=dict)
    idle: set[str] = field(default_factory=set)
    recent: deque[Row] = field(default_factory=deque)
    settled: Row | None = None
    is_whole: bool = False

    def append(self, row: Row) -> None:
        if self.idle:
            more = {each for each in self.idle if (self.last[each].offset or 0) < (row.end_offset or 0)}
            self.behind |= dict.fromkeys(more, row)
            self.idle -= more
        self.is_whole = self.is_whole or (row.offset == 0 and not self.last)
        if not self.is_whole:
            return
        self._settle(row.at_ms)
        if self.recent and row.at_ms // _COARSE_MS == self.recent[-1].at_ms // _COARSE_MS:
            self.recent[-1] = row
        else:
            self.recent.append(row)

    def _settle(self, now_ms: int) -> None:
        while self.recent and now_ms - self.recent[0].at_ms > _SETTLED_MS:
            self.settled = self.recent.popleft()

    def commit(self, row: Row, end: int) -> Iterator[Note]:
        assert row.group is not None
        offset, group = row.offset or 0, row.group
        if group not in self.last:
            self._settle(row.at_ms)
            before = 0 if self.settled is None else self.settled.end_offset or 0
            if self.is_whole and 0 < before < offset:
                yield note("begun-late", self.settled, row, client=None, offset=0, end_offset=before)
        self.last[group] = row
        self.idle.discard(group)
        self.behind.pop(group, None)
        if end > offset:
            self.behind[group] = row
        else:
            self.idle.add(group)

    def end(self, end: int | None) -> Iterator[Note]:
        for group, row in self.behind.items():
            last = self.last[group]
            yield note("unread", last, row, group=group, client=None, offset=last.offset, end_offset=end)
