"""Records of share groups in `__consumer_offsets` (KIP-932, `ShareGroup*.json`)."""

import enum
import struct
from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

from ..portions import at_once
from .group_keys import GroupKeys
from .primitives import write_compact_string, write_uvarint
from .record_fields import RecordReader, texts_in_parts, write_nullable

_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")
_STATE_BYTES: Final = 1
"""Of a member's state, which is always stable."""


class ShareKind(enum.IntEnum):
    """The first two bytes of a key."""

    MEMBER = 10
    EPOCH = 11
    TARGET_EPOCH = 12
    TARGET = 13
    CURRENT = 14
    PARTITIONS = 15


SHARE_KINDS: Final = frozenset(ShareKind)
_NAMED: Final = (ShareKind.MEMBER, ShareKind.TARGET, ShareKind.CURRENT)
_BURIED: Final = (
    ShareKind.CURRENT,
    ShareKind.TARGET,
    ShareKind.TARGET_EPOCH,
    ShareKind.MEMBER,
    ShareKind.PARTITIONS,
    ShareKind.EPOCH,
)
Partitions = Mapping[UUID, list[int]]


class ShareKey(NamedTuple):
    """`name` is a member's id, or empty."""

    kind: ShareKind
    group: str
    name: str = ""


class ShareMemberValue(NamedTuple):
    """What a member has said of itself. To be written, its topics may be as `texts_in_parts` has them."""

    rack_id: str | None
    client_id: str
    client_host: str
    topics: list[str] | bytes


class ShareEpochValue(NamedTuple):
    """`metadata_hash` is that of the group's topics."""

    epoch: int
    metadata_hash: int = 0


class ShareTargetEpochValue(NamedTuple):
    """`assigned_ms` is 0 if it is not known."""

    epoch: int
    assigned_ms: int


class ShareTargetValue(NamedTuple):
    partitions: Partitions


class ShareCurrentValue(NamedTuple):
    epoch: int
    previous_epoch: int
    assigned: Partitions


class SharePartitionsValue(NamedTuple):
    """The partitions whose states are being made, those that have one, and the topics whose states are
    being deleted; with the names of topics."""

    initializing: Partitions
    initialized: Partitions
    deleting: list[UUID]
    names: Mapping[UUID, str]


ShareValue = (
    ShareMemberValue
    | ShareEpochValue
    | ShareTargetEpochValue
    | ShareTargetValue
    | ShareCurrentValue
    | SharePartitionsValue
)


_KEYS: Final = GroupKeys(ShareKind, _NAMED, _BURIED)


def write_share_key(key: ShareKey) -> bytes:
    """TextTooLongError."""
    return _KEYS.write(*key)


def read_share_key(data: bytes) -> ShareKey | None:
    """None for a key of another kind. ValueError if it is cut short."""
    found = _KEYS.read(data)
    return None if found is None else ShareKey(*found)


def share_burial_order(key: bytes) -> int:
    """By this Kafka sorts the tombstones of a group (`ShareGroup.createGroupTombstoneRecords`)."""
    return _KEYS.burial_order(key)


def write_share_value(value: ShareValue, *, with_times: bool) -> bytes:
    """`with_times` is whether it says when partitions were assigned, as since 4.3."""
    out = bytearray(_INT16.size)
    tags = b"\0"
    match value:
        case ShareMemberValue():
            write_nullable(out, value.rack_id)
            write_compact_string(out, value.client_id)
            write_compact_string(out, value.client_host)
            topics = value.topics
            out += topics if isinstance(topics, bytes) else at_once(texts_in_parts(topics))
        case ShareEpochValue():
            out += struct.pack(">iq", *value)
        case ShareTargetEpochValue():
            out += struct.pack(">i", value.epoch)
            if with_times and value.assigned_ms:
                tags = struct.pack(">BBBq", 1, 0, 8, value.assigned_ms)
        case ShareTargetValue():
            _write_partitions(out, value.partitions)
        case ShareCurrentValue():
            out += struct.pack(">iib", value.epoch, value.previous_epoch, 0)
            _write_partitions(out, value.assigned)
        case SharePartitionsValue():
            _write_partitions(out, value.initializing, value.names)
            _write_partitions(out, value.initialized, value.names)
            write_uvarint(out, len(value.deleting) + 1)
            for topic_id in value.deleting:
                out += topic_id.bytes
                write_compact_string(out, value.names.get(topic_id, "<UNKNOWN>"))
                out.append(0)
    return bytes(out) + tags


def read_share_value(kind: ShareKind, data: bytes) -> ShareValue:
    """ValueError for another version, or if it is cut short."""
    reader = RecordReader(data, 0)
    if reader.number(_INT16):
        raise ValueError("the record of a share group has an unknown version")
    value = _read(kind, reader)
    tags = reader.tags()
    if isinstance(value, ShareTargetEpochValue):
        return value._replace(assigned_ms=int.from_bytes(tags.get(0, b""), signed=True))
    return value


def _read(kind: ShareKind, reader: RecordReader) -> ShareValue:
    match kind:
        case ShareKind.MEMBER:
            rack_id, client_id, client_host = reader.nullable(), reader.compact(), reader.compact()
            topics = [reader.compact() for _ in range(reader.count())]
            return ShareMemberValue(rack_id, client_id, client_host, topics)
        case ShareKind.EPOCH:
            return ShareEpochValue(reader.number(_INT32), reader.number(_INT64))
        case ShareKind.TARGET_EPOCH:
            return ShareTargetEpochValue(reader.number(_INT32), 0)
        case ShareKind.TARGET:
            return ShareTargetValue(reader.partitions())
        case ShareKind.CURRENT:
            epoch, previous = reader.number(_INT32), reader.number(_INT32)
            reader.skip(_STATE_BYTES)
            return ShareCurrentValue(epoch, previous, reader.partitions())
        case ShareKind.PARTITIONS:
            names: dict[UUID, str] = {}
            initializing, initialized = reader.partitions(names), reader.partitions(names)
            deleting = []
            for _ in range(reader.count()):
                deleting.append(topic_id := reader.uuid())
                names[topic_id] = reader.compact()
                reader.tags()
            return SharePartitionsValue(initializing, initialized, deleting, names)


def _write_partitions(out: bytearray, found: Partitions, names: Mapping[UUID, str] | None = None) -> None:
    write_uvarint(out, len(found) + 1)
    for topic_id, partitions in found.items():
        out += topic_id.bytes
        if names is not None:
            write_compact_string(out, names.get(topic_id, "<UNKNOWN>"))
        write_uvarint(out, len(partitions) + 1)
        out += struct.pack(f">{len(partitions)}i", *partitions)
        out.append(0)
