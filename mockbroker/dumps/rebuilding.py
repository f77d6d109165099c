"""Batches that are written anew, from the records that a dump shows or a batch of an old format has."""

from collections.abc import Sequence
from typing import NamedTuple

from ..protocol.batch_writing import batch_of, varint_of
from ..protocol.group_metadata import GroupMetadata, write_group
from ..protocol.offsets_log import (
    Commit,
    CommitKey,
    GroupKey,
    GroupState,
    commit_key,
    commit_value,
    group_key,
)
from ..protocol.record_batch import BatchHeader, Record
from .decoded import Entry

_COMMIT_VERSION = 3
_COMMIT_THAT_EXPIRES = 1
_GROUP_VERSION = 3


class Bounds(NamedTuple):
    """What a batch says besides its records; `attributes` are without compression."""

    base_offset: int
    last_offset: int
    leader_epoch: int = -1
    attributes: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    timestamp: int = -1
    """The largest timestamp in ms if there are no records."""


def rebuilt(bounds: Bounds, records: Sequence[Record]) -> bytearray:
    """An uncompressed batch; there may be gaps between its records, or no records at all."""
    times = [each.timestamp for each in records] or [bounds.timestamp]
    body = bytearray()
    for each in records:
        one = bytearray(1) + varint_of(each.timestamp - times[0])
        one += varint_of(each.offset - bounds.base_offset)
        one += _sized(each.key) + _sized(each.value) + b"\0"
        body += varint_of(len(one)) + one
    header = BatchHeader(
        bounds.base_offset,
        0,
        bounds.leader_epoch,
        2,
        0,
        bounds.attributes,
        bounds.last_offset - bounds.base_offset,
        times[0],
        max(times),
        bounds.producer_id,
        bounds.producer_epoch,
        bounds.base_sequence,
        len(records),
    )
    return batch_of(header, bytes(body))


def key_and_value(entry: Entry, time_ms: int) -> tuple[bytes, bytes | None] | None:
    """The bytes of a record, which was written at `time_ms`; None if the dump does not show all of it, as
    with groups of the newer types.

    A group whose members are not shown becomes empty. ValueError for an unknown version.
    """
    key, value = entry.key, entry.value
    if isinstance(key, CommitKey):
        made = commit_key(key.group, key.topic, key.partition)
    elif isinstance(key, GroupKey) and key.type == "classic":
        made = group_key(key.group)
    else:
        return None
    match value:
        case None:
            return made, None
        case Commit():
            told = value if value.commit_ms >= 0 else value._replace(commit_ms=time_ms)
            version = _COMMIT_VERSION if told.expire_ms < 0 else _COMMIT_THAT_EXPIRES
            return made, commit_value(told, version if entry.version is None else entry.version)
        case GroupMetadata():
            return made, write_group(value, _GROUP_VERSION if entry.version is None else entry.version)
        case GroupState():
            empty = GroupMetadata("consumer", value.generation, None, None, time_ms, ())
            return made, write_group(empty, _GROUP_VERSION)


def _sized(data: bytes | None) -> bytes:
    return varint_of(-1) if data is None else varint_of(len(data)) + data
