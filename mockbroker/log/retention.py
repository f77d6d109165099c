"""Which segments retention deletes (`UnifiedLog.deleteOldSegments`)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .log import Log


def old_segments(log: "Log", now_ms: int, limit: int) -> int:
    """How many of the oldest segments to delete: those below the log start offset, then those beyond
    `retention.bytes`, then those older than `retention.ms`. No segment that reaches beyond offset `limit` is
    deleted; the active one is deleted too if all of it has expired.
    """
    segments = log.segments
    settings, found = segments.settings, segments.all
    count, gone = len(found), 0
    while gone + 1 < count and found[gone + 1].base_offset <= log.start_offset:
        gone += 1
    if not settings.deletable:
        return gone
    if settings.retention_bytes >= 0:
        excess = sum(each.size for each in found[gone:]) - settings.retention_bytes
        while gone < count and excess >= found[gone].size and _may_go(log, gone, limit):
            excess -= found[gone].size
            gone += 1
    if settings.retention_ms >= 0:
        latest_ms = now_ms - settings.retention_ms
        while (
            gone < count and segments.largest_timestamp(found[gone]) < latest_ms and _may_go(log, gone, limit)
        ):
            gone += 1
    return gone


def _may_go(log: "Log", index: int, limit: int) -> bool:
    empty = index == len(log.segments.all) - 1 and not log.segments.active.size
    return not empty and log.segment_end(index) <= limit


def expires_at(log: "Log") -> int | None:
    """When the oldest segment will have expired, None if never."""
    settings, oldest = log.segments.settings, log.segments.all[0]
    empty = oldest is log.segments.active and not oldest.size
    if not settings.deletable or settings.retention_ms < 0 or empty:
        return None
    return log.segments.largest_timestamp(oldest) + settings.retention_ms + 1


def is_below_start(log: "Log") -> bool:
    """Whether the oldest segment is below the log start offset."""
    found = log.segments.all
    return len(found) > 1 and found[1].base_offset <= log.start_offset
