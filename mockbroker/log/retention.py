"""Which segments are old or many enough to be deleted (`UnifiedLog.deleteOldSegments`)."""

from typing import TYPE_CHECKING

from .segments import Segments

if TYPE_CHECKING:
    from ..configs import TopicSettings
    from .log import Log


def delete_old(segments: Segments, log: "Log", settings: "TopicSettings", now_ms: int, limit: int) -> int:
    """Drops segments below the log start, then those beyond `retention.bytes`, then those older than
    `retention.ms`, in this order; the log start offset that follows. None goes that reaches beyond offset
    `limit`, and the active one goes too when all of it expired.
    """
    found = segments.all
    gone = 0
    while gone + 1 < len(found) and found[gone + 1].base_offset <= log.start_offset:
        gone += 1
    start = log.start_offset
    if settings.deletable:
        deletable = gone
        while deletable < len(found) and segments.end_of(deletable) <= limit:
            deletable += 1
        first = gone
        if settings.retention_bytes >= 0:
            excess = sum(each.size for each in found[gone:]) - settings.retention_bytes
            while gone < deletable and excess >= found[gone].size:
                excess -= found[gone].size
                gone += 1
        if settings.retention_ms >= 0:
            while gone < deletable and now_ms - found[gone].largest_timestamp > settings.retention_ms:
                gone += 1
        if gone > first:
            start = max(start, segments.end_of(gone - 1))
    del found[:gone]
    return start


def expires_at(segments: Segments, settings: "TopicSettings") -> int | None:
    """When the oldest segment will be too old, None when never."""
    if not settings.deletable or settings.retention_ms < 0 or not segments.all:
        return None
    return segments.all[0].largest_timestamp + settings.retention_ms + 1
