"""Records of `__share_group_state` (KIP-932, `ShareSnapshot*.json`, `ShareUpdate*.json`).

The key is a share partition, in two forms: one for records that have its whole state, one for records that
say what has changed since.
"""

import struct
from collections.abc import Iterable
from itertools import starmap
from typing import Final, NamedTuple
from uuid import UUID

from .primitives import short_uuid, text_of, write_string, write_uvarint

_SNAPSHOT, _UPDATE = 0, 1
"""The first two bytes of a key."""
_INT16: Final = struct.Struct(">h")
_WHERE: Final = struct.Struct(">16si")
_WHOLE: Final = struct.Struct(">hiiiqqq")
_CHANGE: Final = struct.Struct(">hiiq")
_BATCH: Final = struct.Struct(">qqbhx")
_COUNT: Final = struct.Struct(">BBi")
UNKNOWN: Final = -1
"""A start offset or a count that is not known, or is not to be changed."""


class SharePartitionKey(NamedTuple):
    """What a share group has of a partition."""

    group: str
    topic_id: UUID
    partition: int

    @property
    def coordinator_key(self) -> str:
        """What FindCoordinator is asked for (`SharePartitionKey.asCoordinatorKey`)."""
        return f"{self.group}:{short_uuid(self.topic_id)}:{self.partition}"


class StateBatch(NamedTuple):
    """The state of the records from `first` to `last`, by Kafka's number, and how often they were
    delivered."""

    first: int
    last: int
    state: int
    deliveries: int


class Snapshot(NamedTuple):
    """The whole state of a share partition. `complete_count` is how many of the records from the start offset
    on are done; times are in ms."""

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    created_ms: int
    written_ms: int
    batches: tuple[StateBatch, ...]


class Update(NamedTuple):
    """What has changed since the last snapshot."""

    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    batches: tuple[StateBatch, ...]


def write_key(key: SharePartitionKey, *, whole: bool) -> bytes:
    """TextTooLongError."""
    out = bytearray(_INT16.pack(_SNAPSHOT if whole else _UPDATE))
    write_string(out, key.group)
    out += _WHERE.pack(key.topic_id.bytes, key.partition)
    return bytes(out)


def read_key(data: bytes) -> tuple[SharePartitionKey, bool]:
    """The share partition, and whether the value is a whole snapshot. ValueError."""
    try:
        kind, size = struct.unpack_from(">hh", data)
        topic_id, partition = _WHERE.unpack_from(data, 4 + size)
    except struct.error:
        raise ValueError("the key of a share partition is cut short") from None
    if kind not in (_SNAPSHOT, _UPDATE):
        raise ValueError(f"no share partition has a key of kind {kind}")
    return SharePartitionKey(text_of(data[4 : 4 + size]), UUID(bytes=topic_id), partition), kind == _SNAPSHOT


def pack(batches: Iterable[StateBatch]) -> bytes:
    """The batches of a value."""
    return b"".join(starmap(_BATCH.pack, batches))


def write_snapshot(value: Snapshot, packed: bytes | None = None) -> bytes:
    """`packed` are its batches, if that is done already."""
    out = bytearray(
        _WHOLE.pack(
            0,
            value.snapshot_epoch,
            value.state_epoch,
            value.leader_epoch,
            value.start_offset,
            value.created_ms,
            value.written_ms,
        )
    )
    return _with_batches(out, value, packed)


def write_update(value: Update, packed: bytes | None = None) -> bytes:
    """`packed` are its batches, if that is done already."""
    out = bytearray(_CHANGE.pack(0, value.snapshot_epoch, value.leader_epoch, value.start_offset))
    return _with_batches(out, value, packed)


def read_snapshot(data: bytes) -> Snapshot:
    """ValueError."""
    try:
        _, epoch, state_epoch, leader_epoch, start, created_ms, written_ms = _WHOLE.unpack_from(data)
        batches, count = _read_batches(data, _WHOLE.size)
    except (struct.error, IndexError):
        raise ValueError("the state of a share partition is cut short") from None
    return Snapshot(epoch, state_epoch, leader_epoch, start, count, created_ms, written_ms, batches)


def read_update(data: bytes) -> Update:
    """ValueError."""
    try:
        _, epoch, leader_epoch, start = _CHANGE.unpack_from(data)
        batches, count = _read_batches(data, _CHANGE.size)
    except (struct.error, IndexError):
        raise ValueError("a change of a share partition is cut short") from None
    return Update(epoch, leader_epoch, start, count, batches)


def _with_batches(out: bytearray, value: Snapshot | Update, packed: bytes | None) -> bytes:
    write_uvarint(out, len(value.batches) + 1)
    out += pack(value.batches) if packed is None else packed
    write_uvarint(out, int(value.complete_count != UNKNOWN))
    if value.complete_count != UNKNOWN:
        out += _COUNT.pack(0, 4, value.complete_count)
    return bytes(out)


def _read_batches(data: bytes, at: int) -> tuple[tuple[StateBatch, ...], int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    batches = []
    for _ in range(number - 1):
        batches.append(StateBatch(*_BATCH.unpack_from(data, at)))
        at += _BATCH.size
    return tuple(batches), _COUNT.unpack_from(data, at + 1)[2] if data[at] else UNKNOWN
