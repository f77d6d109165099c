"""Log compaction: the last record of each key stays (`LogCleaner`, `LogCleanerManager`).

What lies below the first dirty offset was compacted before; the active segment never is. Offsets stay, and
batches are written anew with the records that are left. Transaction markers stay as they are.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..protocol.filtering import StoredRecord, stored_records, with_records, without_records
from ..protocol.record_batch import CONTROL, DELETE_HORIZON, Batch, BatchHeader, header_of
from .segments import Segment, Segments

if TYPE_CHECKING:
    from ..cluster.configs import TopicSettings
    from .log import Log
    from .producer_state import ProducerStates


class Dirty(NamedTuple):
    """What can be compacted now: segments from index `first` up to, not including, `end`."""

    first_offset: int
    first: int
    end: int
    ratio: float
    """Of the bytes of these segments to the bytes of them and the compacted ones."""
    overdue: bool
    """Whether a record has waited for longer than `max.compaction.lag.ms` (KIP-354)."""


def dirty(segments: Segments, log: "Log", settings: "TopicSettings", now_ms: int) -> Dirty:
    """`LogCleanerManager.cleanableOffsets`: bounded by the last stable offset, the active segment, and the
    first segment that is younger than `min.compaction.lag.ms` (KIP-58)."""
    found = segments.all
    offset = segments.first_dirty
    if not log.start_offset <= offset <= log.end_offset:
        offset = log.start_offset
    if not found:
        return Dirty(offset, 0, 0, 0.0, False)
    first, active = segments.holding(offset), len(found) - 1
    bound = min(segments.holding(log.last_stable_offset), active)
    end = first
    while end < bound and not _too_young(found[end], settings, now_ms):
        end += 1
    cleaned = sum(each.size for each in found if each.base_offset < offset)
    cleanable = sum(each.size for each in found[first:end])
    total = cleaned + cleanable
    firsts = [each.first_timestamp for each in found[first:active] if each.first_timestamp > 0]
    overdue = bool(cleanable and firsts and min(firsts) < now_ms - settings.max_compaction_lag_ms)
    return Dirty(offset, first, end, cleanable / total if total else 0.0, overdue)


def _too_young(segment: Segment, settings: "TopicSettings", now_ms: int) -> bool:
    lag_ms = settings.min_compaction_lag_ms
    return lag_ms > 0 and segment.largest_timestamp > now_ms - lag_ms


def dirtier_at(segments: Segments, log: "Log", settings: "TopicSettings", now_ms: int) -> int | None:
    """When time alone lets more be compacted, None when only appends do."""
    part = dirty(segments, log, settings, now_ms)
    waiting = segments.all[part.first : -1]
    least_ms, most_ms = settings.min_compaction_lag_ms, settings.max_compaction_lag_ms
    times = [each.largest_timestamp + least_ms for each in waiting if least_ms > 0]
    times += [each.first_timestamp + most_ms + 1 for each in waiting if each.first_timestamp > 0]
    if log.last_stable_offset < segments.active_base:
        times.append(now_ms + 1)
    return min((time for time in times if time > now_ms), default=None)


def compact(
    segments: Segments, log: "Log", replicas: "Iterable[Log]", settings: "TopicSettings", now_ms: int
) -> bool:
    """Compacts `log` and the same batches of `replicas` if it is dirty enough; whether it was."""
    part = dirty(segments, log, settings, now_ms)
    if not part.overdue and not part.ratio > settings.min_cleanable_dirty_ratio:
        return False
    end = segments.all[part.end].base_offset
    upto = bisect_left(log.bases, end)
    latest = _latest_offsets(log.batches[bisect_left(log.bases, segments.all[part.first].base_offset) : upto])
    changed: dict[int, tuple[Batch, Batch | None]] = {}
    for base, batch in zip(log.bases[:upto], log.batches[:upto], strict=True):
        after = _compacted(batch, latest, log.producers, end, now_ms, settings.delete_retention_ms)
        if after is not batch:
            changed[base] = batch, after
    for replica in replicas:
        replica.replace(changed, end)
    _merge(segments, log, part.end, settings.segment_bytes)
    segments.first_dirty = end
    return True


def _latest_offsets(batches: Iterable[Batch]) -> dict[bytes, int]:
    """The last offset of each key."""
    found: dict[bytes, int] = {}
    for batch in batches:
        if not header_of(batch).attributes & CONTROL:
            for record in stored_records(batch):
                if record.key is not None:
                    found[record.key] = record.offset
    return found


def _compacted(
    batch: Batch,
    latest: dict[bytes, int],
    producers: "ProducerStates",
    end: int,
    now_ms: int,
    delete_retention_ms: int,
) -> Batch | None:
    """The batch with what is left of it; itself if that is all, None if it goes.

    A tombstone stays until the delete horizon of its batch, which the first pass over it sets (KAFKA-8522).
    """
    header = header_of(batch)
    if header.attributes & CONTROL:
        return batch
    horizon = header.base_timestamp if header.attributes & DELETE_HORIZON else None
    expired = horizon is not None and now_ms >= horizon
    kept = [
        record
        for record in stored_records(batch)
        if record.key is not None
        and record.offset >= latest.get(record.key, -1)
        and not (record.tombstone and expired)
    ]
    if not kept:
        return _emptied(batch, header, producers, end)
    if horizon is None and _has_tombstone(kept):
        return with_records(header, kept, now_ms + delete_retention_ms)
    return batch if len(kept) == header.record_count else with_records(header, kept, horizon)


def _has_tombstone(records: Iterable[StoredRecord]) -> bool:
    return any(record.tombstone for record in records)


def _emptied(batch: Batch, header: BatchHeader, producers: "ProducerStates", end: int) -> Batch | None:
    """An empty batch stays for a producer's last sequence, and for the last offset that was compacted."""
    last_offset = header.base_offset + header.last_offset_delta
    entry = producers.entries.get(header.producer_id)
    needed = entry is not None and entry.batches and entry.batches[-1].last_offset == last_offset
    if not needed and last_offset + 1 != end:
        return None
    return without_records(header) if header.record_count else batch


def _merge(segments: Segments, log: "Log", count: int, segment_bytes: int) -> None:
    """Joins neighbours among the first `count` segments that had no more than `segment_bytes` before."""
    found = segments.all
    merged: list[Segment] = []
    size = 0
    for each in found[:count]:
        if merged and size + each.size <= segment_bytes:
            merged[-1].modified_ms = each.modified_ms
            size += each.size
        else:
            merged.append(each)
            size = each.size
    found[:count] = merged
    for index, each in enumerate(merged):
        segments.measure(each, log, segments.end_of(index))
