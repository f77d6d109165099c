"""Segments of a log: where Kafka would have begun a new file (`UnifiedLog.maybeRoll`, `LogSegment.java`).

A log holds one list of batches, and nothing a client sees depends on its segments until they are deleted or
compacted. So appending notes no more than the time, and segments are worked out when they are asked for.
"""

from bisect import bisect_left, bisect_right
from struct import Struct
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from ..configs import TopicSettings
    from .log import Log

_MAX_TIMESTAMP: Final = Struct(">q").unpack_from
_MAX_TIMESTAMP_AT: Final = 35
NO_TIMESTAMP: Final = -1
_MOST_NOTED: Final = 1000


class Draws(Protocol):
    """What `segment.jitter.ms` is drawn from."""

    def randrange(self, start: int, stop: int, /) -> int: ...


class Segment:
    """Sizes in bytes, times in ms; timestamps are the largest of their batches, -1 when there are none."""

    __slots__ = (
        "base_offset",
        "created_ms",
        "first_timestamp",
        "jitter_ms",
        "max_timestamp",
        "modified_ms",
        "size",
    )

    def __init__(self, base_offset: int, created_ms: int, jitter_ms: int = 0) -> None:
        self.base_offset = base_offset
        self.created_ms = created_ms
        self.modified_ms = created_ms
        self.jitter_ms = jitter_ms
        self.first_timestamp = NO_TIMESTAMP
        self.max_timestamp = NO_TIMESTAMP
        self.size = 0

    @property
    def largest_timestamp(self) -> int:
        """The time of the last append stands in where no record has a timestamp."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_ms

    def roll_after(self, roll_ms: int) -> int:
        """The last time at which it takes a batch: the time of the append if its first batch has none."""
        first = self.first_timestamp
        return (first if first >= 0 else self.created_ms) + roll_ms - self.jitter_ms

    def add(self, size: int, timestamp: int, now_ms: int) -> None:
        if not self.size:
            self.first_timestamp = timestamp
        self.size += size
        self.modified_ms = now_ms
        if timestamp > self.max_timestamp:
            self.max_timestamp = timestamp


class Segments:
    """The segments of one partition's log, oldest first; the last is active.

    `by_file_time` leaves the timestamps of records out of account (before KIP-33). `first_dirty` is the
    offset up to which the log was compacted. Call `note` for the first append at a time, and `catch_up`
    before reading, before the log start moves, and before the topic's configuration changes.
    """

    __slots__ = (
        "_end_offset",
        "_noted_ms",
        "_noted_offsets",
        "_random",
        "all",
        "by_file_time",
        "first_dirty",
        "noted_ms",
    )

    def __init__(self, random: Draws, now_ms: int, by_file_time: bool) -> None:
        self._random = random
        self.by_file_time = by_file_time
        self._end_offset = 0
        self._noted_offsets = [0]
        self._noted_ms = [now_ms]
        self.all: list[Segment] = []
        self.first_dirty = 0
        self.noted_ms: int | None = None
        """The time that was noted last, None when the next append has to be noted whatever its time."""

    @property
    def lags(self) -> bool:
        """Whether so much was appended that `catch_up` is due, lest one look takes long."""
        return len(self._noted_ms) > _MOST_NOTED

    @property
    def active_base(self) -> int:
        """Base offset of the active segment."""
        return self.all[-1].base_offset if self.all else self._end_offset

    def end_of(self, index: int) -> int:
        """The offset behind the last of a segment."""
        return self.all[index + 1].base_offset if index + 1 < len(self.all) else self._end_offset

    def holding(self, offset: int) -> int:
        """Index of the segment that holds `offset`; that of the first when all lie above."""
        return max(0, bisect_right(self.all, offset, key=_base_offset) - 1)

    def note(self, base_offset: int, now_ms: int) -> None:
        """From `base_offset` on, batches are appended at `now_ms`."""
        self.noted_ms = now_ms
        self._noted_offsets.append(base_offset)
        self._noted_ms.append(now_ms)

    def catch_up(self, log: "Log", settings: "TopicSettings") -> None:
        """Places the batches that were appended since the last time, as `settings` say."""
        first = bisect_left(log.bases, self._end_offset)
        noted, noted_ms, at = self._noted_offsets, self._noted_ms, 0
        next_noted = noted[1] if len(noted) > 1 else log.end_offset
        now_ms, timestamp = noted_ms[0], NO_TIMESTAMP
        most_bytes, roll_ms = settings.segment_bytes, settings.roll_ms
        active = self.all[-1] if self.all else None
        roll_after = active.roll_after(roll_ms) if active else 0
        for base, batch in zip(log.bases[first:], log.batches[first:], strict=True):
            while base >= next_noted:
                at += 1
                now_ms = noted_ms[at]
                next_noted = noted[at + 1] if at + 1 < len(noted) else log.end_offset
            if not self.by_file_time:
                (timestamp,) = _MAX_TIMESTAMP(batch, _MAX_TIMESTAMP_AT)
            size = len(batch)
            if (
                active is None
                or active.size + size > most_bytes
                or (timestamp if active.first_timestamp >= 0 else now_ms) > roll_after
            ) and (active is None or active.size):
                active = Segment(base, now_ms, self._jitter(settings))
                self.all.append(active)
                active.first_timestamp = timestamp
                roll_after = active.roll_after(roll_ms)
            active.size += size
            active.modified_ms = now_ms
            if timestamp > active.max_timestamp:
                active.max_timestamp = timestamp
        self._end_offset = log.end_offset
        del self._noted_offsets[:-1], self._noted_ms[:-1]

    def truncate(self, log: "Log", offset: int, settings: "TopicSettings") -> None:
        """Forgets what lies at or above `offset`. Call it before the log itself is truncated."""
        self.catch_up(log, settings)
        while self.all and self.all[-1].base_offset >= offset:
            self.all.pop()
        if self.all:
            self.measure(self.all[-1], log, offset)
        self._end_offset = min(self._end_offset, offset)
        self.first_dirty = min(self.first_dirty, offset)

    def measure(self, segment: Segment, log: "Log", end: int) -> None:
        """Takes size and timestamps from the batches that are in the log now, up to offset `end`."""
        batches = log.batches[bisect_left(log.bases, segment.base_offset) : bisect_left(log.bases, end)]
        modified_ms, segment.size = segment.modified_ms, 0
        segment.first_timestamp = segment.max_timestamp = NO_TIMESTAMP
        for batch in batches:
            timestamp = NO_TIMESTAMP if self.by_file_time else _MAX_TIMESTAMP(batch, _MAX_TIMESTAMP_AT)[0]
            segment.add(len(batch), timestamp, modified_ms)

    def _jitter(self, settings: "TopicSettings") -> int:
        most = min(settings.segment_jitter_ms, settings.roll_ms)
        return self._random.randrange(0, most) if most > 0 else 0


def _base_offset(segment: Segment) -> int:
    return segment.base_offset
