"""Which segments retention deletes (`UnifiedLog.deleteOldSegments`)."""

from .log import Log


def old_segments(log: Log, now_ms: int, limit: int) -> int:
    """How many of the oldest segments to delete: those below the log start offset, then those beyond
    `retention.bytes`, then those older than `retention.ms`. No segment that reaches beyond offset `limit` is
    deleted; the active one is deleted too if all of it has expired.
    """
    segments, settings = log.segments, log.segments.settings
    found, count = segments.all, len(segments.all)
    gone = 0
    while gone + 1 < count and found[gone + 1].base_offset <= log.start_offset:
        gone += 1

    def may_go() -> bool:
        empty = gone == count - 1 and not segments.active.size
        return not empty and log.segment_end(gone) <= limit

    if settings.deletable and settings.retention_bytes >= 0:
        excess = sum(each.size for each in found[gone:]) - settings.retention_bytes
        while gone < count and excess >= found[gone].size and may_go():
            excess -= found[gone].size
            gone += 1
    if settings.deletable and settings.retention_ms >= 0:
        latest_ms = now_ms - settings.retention_ms
        while gone < count and segments.largest_timestamp(found[gone]) < latest_ms and may_go():
            gone += 1
    return gone


def expires_at(log: Log) -> int | None:
    """When the oldest segment will have expired, None if never."""
    settings, oldest = log.segments.settings, log.segments.all[0]
    empty = oldest is log.segments.active and not oldest.size
    if not settings.deletable or settings.retention_ms < 0 or empty:
        return None
    return log.segments.largest_timestamp(oldest) + settings.retention_ms + 1


def is_below_start(log: Log) -> bool:
    """Whether the oldest segment is below the log start offset."""
    found = log.segments.all
    return len(found) > 1 and found[1].base_offset <= log.start_offset
