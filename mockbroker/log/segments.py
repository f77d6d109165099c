"""The segments of a replica's log, each of which is a file in Kafka (`UnifiedLog.maybeRoll`,
`LogSegment`)."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, Protocol

from ..configs import TopicSettings
from ..protocol.record_batch import Batch, header_of

NO_TIMESTAMP: Final = -1
_MOST_OFFSETS: Final = 1 << 31
"""How many offsets a segment may span: its indexes hold them as ints relative to the first."""
_FOREVER: Final = 1 << 63
_OFFSET_ENTRY_BYTES: Final = 8
_TIME_ENTRY_BYTES: Final = 12
_NOTHING: Final = array("q")


class Draws(Protocol):
    """The randomness for `segment.jitter.ms`."""

    def randrange(self, start: int, stop: int, /) -> int: ...


class Segment:
    """Sizes in bytes, times in ms; timestamps are the largest of the batches, -1 if there are none.

    The offset index has the last offset of some batches in `offsets`, and where they begin in `positions`.
    The next batch goes to another segment if it ends beyond `end_limit`, makes this one larger than
    `size_limit`, has a timestamp beyond `timestamp_limit`, or if the time is beyond `time_limit_ms`; the
    first batch sets these. A batch is entered in the indexes if it begins beyond `index_limit`.
    """

    __slots__ = (
        "base_offset",
        "created_ms",
        "end_limit",
        "first_timestamp",
        "index_limit",
        "indexed_timestamp",
        "jitter_ms",
        "max_timestamp",
        "modified_ms",
        "offsets",
        "positions",
        "size",
        "size_limit",
        "time_entries",
        "time_limit_ms",
        "timestamp_limit",
    )

    def __init__(self, base_offset: int, created_ms: int, jitter_ms: int = 0) -> None:
        self.base_offset = base_offset
        self.created_ms = created_ms
        self.jitter_ms = jitter_ms
        self.modified_ms = created_ms
        self.clear()

    @property
    def latest(self) -> int:
        """The largest timestamp; if no record has one, the time of the last append."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_ms

    def clear(self) -> None:
        """Empties the segment and its indexes."""
        self.first_timestamp = self.max_timestamp = self.indexed_timestamp = NO_TIMESTAMP
        self.size = self.time_entries = 0
        self.size_limit = -1
        self.offsets = self.positions = _NOTHING
        self.end_limit = self.index_limit = self.timestamp_limit = self.time_limit_ms = _FOREVER

    def enter(self, last_offset: int, interval_bytes: int) -> None:
        """Enters a batch that is about to be appended in the indexes (`OffsetIndex.java`,
        `TimeIndex.java`)."""
        if self.offsets is _NOTHING:
            self.offsets, self.positions = array("q"), array("q")
        self.offsets.append(last_offset)
        self.positions.append(self.size)
        if self.max_timestamp > self.indexed_timestamp:
            self.indexed_timestamp = self.max_timestamp
            self.time_entries += 1
        self.index_limit = self.size + interval_bytes


class Segments:
    """The segments of one log, oldest first; there is always at least one, and the last one is active.

    With `by_file_time` the timestamps of records do not count (before KIP-33). `first_dirty` is the offset up
    to which the log was compacted.
    """

    __slots__ = ("_draws", "active", "all", "by_file_time", "first_dirty", "settings")

    def __init__(self, settings: TopicSettings, draws: Draws, now_ms: int) -> None:
        self.settings = settings
        self._draws = draws
        self.by_file_time = False
        self.first_dirty = 0
        self.all: list[Segment] = []
        self._begin(0, now_ms)

    def holding(self, offset: int) -> int:
        """Index of the segment that holds `offset`; of the first one if all are above."""
        return max(0, bisect_right(self.all, offset, key=base_offset_of) - 1)

    def begins_at(self, offset: int) -> bool:
        """Whether the log rolled there: the active segment begins at `offset`, and is not the only one."""
        return self.active.base_offset == offset and len(self.all) > 1

    def largest_timestamp(self, segment: Segment) -> int:
        """The largest timestamp; if no record has one, the time of the last append."""
        return segment.modified_ms if self.by_file_time else segment.latest

    # -- appending

    def extend(self, base_offset: int, end_offset: int, size: int, timestamp: int, now_ms: int) -> None:
        """A batch was appended, which ends before `end_offset` and has this max timestamp."""
        active = self.active
        before = active.size
        after = before + size
        if (
            after > active.size_limit
            or end_offset > active.end_limit
            or timestamp > active.timestamp_limit
            or now_ms > active.time_limit_ms
        ):
            self.make_room(base_offset, end_offset, size, timestamp, now_ms)
            self.add(end_offset, size, timestamp, now_ms)
            return
        if timestamp > active.max_timestamp:
            active.max_timestamp = timestamp
        if before > active.index_limit:
            self._enter(active, end_offset - 1)
        active.size = after
        active.modified_ms = now_ms

    def make_room(self, base_offset: int, end_offset: int, size: int, timestamp: int, now_ms: int) -> None:
        """Rolls if what is about to be appended does not fit into the active segment."""
        active = self.active
        if active.size and (
            active.size + size > active.size_limit
            or end_offset > active.end_limit
            or timestamp > active.timestamp_limit
            or now_ms > active.time_limit_ms
        ):
            self._begin(base_offset, now_ms)

    def add(self, end_offset: int, size: int, timestamp: int, now_ms: int) -> None:
        """Adds a batch to the active segment, whatever its limits."""
        active = self.active
        if not active.size:
            active.first_timestamp = timestamp
            self._limit(active)
        if timestamp > active.max_timestamp:
            active.max_timestamp = timestamp
        if active.size > active.index_limit:
            self._enter(active, end_offset - 1)
        active.size += size
        active.modified_ms = now_ms

    def _enter(self, segment: Segment, last_offset: int) -> None:
        segment.enter(last_offset, self.settings.index_interval_bytes)
        if self._is_full(segment):
            segment.end_limit = -1

    def begin_at(self, base_offset: int, now_ms: int) -> None:
        """Forgets everything, and begins a new segment."""
        self.all.clear()
        self.first_dirty = base_offset
        self._begin(base_offset, now_ms)

    def roll(self, base_offset: int, now_ms: int) -> None:
        """Begins a new segment, even if the active one has room."""
        if self.active.size:
            self._begin(base_offset, now_ms)

    def _begin(self, base_offset: int, now_ms: int) -> None:
        most = self.settings.segment_jitter_ms and min(self.settings.segment_jitter_ms, self.settings.roll_ms)
        jitter_ms = self._draws.randrange(0, most) if most > 0 else 0
        self.active = Segment(base_offset, now_ms, jitter_ms)
        self.all.append(self.active)

    def _limit(self, active: Segment) -> None:
        """Sets the limits of the active segment, which is not empty."""
        settings = self.settings
        active.size_limit = settings.segment_bytes
        if not active.size:
            active.index_limit = settings.index_interval_bytes
        active.end_limit = -1 if self._is_full(active) else active.base_offset + _MOST_OFFSETS
        active.timestamp_limit = active.time_limit_ms = _FOREVER
        longest_ms = settings.roll_ms - active.jitter_ms
        if active.first_timestamp >= 0 and not self.by_file_time:
            active.timestamp_limit = active.first_timestamp + longest_ms
        else:
            active.time_limit_ms = active.created_ms + longest_ms

    def _is_full(self, segment: Segment) -> bool:
        """Whether one of its indexes is full."""
        most_bytes = self.settings.segment_index_bytes
        # The last slot of the time index is reserved for when the segment is closed.
        return (
            len(segment.offsets) >= most_bytes // _OFFSET_ENTRY_BYTES
            or segment.time_entries >= most_bytes // _TIME_ENTRY_BYTES - 1
        )

    def configure(self, settings: TopicSettings) -> None:
        """From now on segments roll by these settings."""
        self.settings = settings
        if self.active.size:
            self._limit(self.active)

    def go_by_file_time(self, by_file_time: bool) -> None:
        """Sets whether the timestamps of records count."""
        self.by_file_time = by_file_time
        self.configure(self.settings)

    # -- cutting

    def truncate(self, offset: int) -> int:
        """Forgets segments that begin above `offset`; returns the base offset of the last one, which has to
        be measured."""
        while len(self.all) > 1 and self.all[-1].base_offset > offset:
            self.all.pop()
        self.active = self.all[-1]
        self.first_dirty = min(self.first_dirty, offset)
        return self.active.base_offset

    def measure(self, segment: Segment, batches: Iterable[Batch]) -> None:
        """Computes size, timestamps and indexes from its present batches."""
        segment.clear()
        self.count(segment, batches)
        if segment is self.active and segment.size:
            self._limit(segment)

    def count(self, segment: Segment, batches: Iterable[Batch]) -> None:
        """Adds batches that follow to size, timestamps and indexes."""
        interval_bytes = self.settings.index_interval_bytes
        for batch in batches:
            head = header_of(batch)
            if not segment.size:
                segment.first_timestamp = head.max_timestamp
                segment.index_limit = interval_bytes
            if head.max_timestamp > segment.max_timestamp:
                segment.max_timestamp = head.max_timestamp
            if segment.size > segment.index_limit:
                segment.enter(head.base_offset + head.last_offset_delta, interval_bytes)
            segment.size += len(batch)


def base_offset_of(segment: Segment) -> int:
    return segment.base_offset
