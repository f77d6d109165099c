"""Keys of streams groups in `__consumer_offsets` (KIP-1071, `StreamsGroup*Key.json`)."""

import enum
from typing import Final, NamedTuple

from .group_keys import GroupKeys


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


_KEYS: Final = GroupKeys(StreamsKind, _NAMED, _BURIED)


def write_streams_key(key: StreamsKey) -> bytes:
    """TextTooLongError."""
    return _KEYS.write(*key)


def read_streams_key(data: bytes) -> StreamsKey | None:
    """None for a key of another kind. ValueError if it is cut short."""
    found = _KEYS.read(data)
    return None if found is None else StreamsKey(*found)


def streams_burial_order(key: bytes) -> int:
    """By this Kafka sorts the tombstones of a group (`StreamsGroup.createGroupTombstoneRecords`)."""
    return _KEYS.burial_order(key)
