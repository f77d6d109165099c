"""Keys of streams groups in `__consumer_offsets` (KIP-1071, `StreamsGroup*Key.json`)."""

import enum
import struct
from typing import Final, NamedTuple

from .primitives import write_string
from .record_fields import RecordReader

_INT16: Final = struct.Struct(">h")


class StreamsKind(enum.IntEnum):
    """The first two bytes of a key."""

    EPOCH = 17
    MEMBER = 19
    TARGET_EPOCH = 20
    TARGET = 21
    CURRENT = 22
    TOPOLOGY = 23


STREAMS_KINDS: Final = frozenset(StreamsKind)
_NAMED: Final = (StreamsKind.MEMBER, StreamsKind.TARGET, StreamsKind.CURRENT)
_BURIED: Final = (
    StreamsKind.CURRENT,
    StreamsKind.TARGET,
    StreamsKind.TARGET_EPOCH,
    StreamsKind.MEMBER,
    StreamsKind.EPOCH,
    StreamsKind.TOPOLOGY,
)


class StreamsKey(NamedTuple):
    """`name` is a member's id, or empty."""

    kind: StreamsKind
    group: str
    name: str = ""


def write_streams_key(key: StreamsKey) -> bytes:
    """TextTooLongError."""
    out = bytearray(_INT16.pack(key.kind))
    write_string(out, key.group)
    if key.kind in _NAMED:
        write_string(out, key.name)
    return bytes(out)


def read_streams_key(data: bytes) -> StreamsKey | None:
    """None for a key of another kind. ValueError if it is cut short."""
    if len(data) < _INT16.size or (number := _INT16.unpack_from(data)[0]) not in STREAMS_KINDS:
        return None
    kind, reader = StreamsKind(number), RecordReader(data, _INT16.size)
    return StreamsKey(kind, reader.text(), reader.text() if kind in _NAMED else "")


def streams_burial_order(key: bytes) -> int:
    """By this Kafka sorts the tombstones of a group (`StreamsGroup.createGroupTombstoneRecords`)."""
    return _BURIED.index(StreamsKind(_INT16.unpack_from(key)[0]))
