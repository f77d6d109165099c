"""Keys of consumer groups in `__consumer_offsets` (KIP-848, `ConsumerGroup*Key.json`)."""

import enum
import struct
from typing import Final, NamedTuple

from .primitives import text_of, write_string

_INT16: Final = struct.Struct(">h")


class Kind(enum.IntEnum):
    """The first two bytes of a key."""

    EPOCH = 3
    PARTITIONS = 4
    """Up to 4.0."""
    MEMBER = 5
    TARGET_EPOCH = 6
    TARGET = 7
    CURRENT = 8
    REGEX = 16


KINDS: Final = frozenset(Kind)
_NAMED: Final = (Kind.MEMBER, Kind.TARGET, Kind.CURRENT, Kind.REGEX)


_BURIED: Final = (
    Kind.CURRENT,
    Kind.TARGET,
    Kind.TARGET_EPOCH,
    Kind.MEMBER,
    Kind.PARTITIONS,
    Kind.REGEX,
    Kind.EPOCH,
)


class Key(NamedTuple):
    """`name` is a member's id, a regular expression, or empty."""

    kind: Kind
    group: str
    name: str = ""


def write_key(key: Key) -> bytes:
    """TextTooLongError."""
    out = bytearray(_INT16.pack(key.kind))
    write_string(out, key.group)
    if key.kind in _NAMED:
        write_string(out, key.name)
    return bytes(out)


def read_key(data: bytes) -> Key | None:
    """None for a key of another kind. ValueError if it is cut short."""
    if len(data) < _INT16.size or (number := _INT16.unpack_from(data)[0]) not in KINDS:
        return None
    group, at = _text(data, _INT16.size)
    name, _ = _text(data, at) if number in _NAMED else ("", at)
    return Key(Kind(number), group, name)


def burial_order(key: bytes) -> int:
    """By this Kafka sorts the tombstones of a group (`ConsumerGroup.createGroupTombstoneRecords`)."""
    return _BURIED.index(Kind(_INT16.unpack_from(key)[0]))


def _text(data: bytes, at: int) -> tuple[str, int]:
    """A text, and where it ends."""
    if len(data) >= at + _INT16.size:
        (size,) = _INT16.unpack_from(data, at)
        end = at + _INT16.size + size
        if size >= 0 and end <= len(data):
            return text_of(data[at + _INT16.size : end]), end
    raise ValueError("the key of a consumer group is cut short")
