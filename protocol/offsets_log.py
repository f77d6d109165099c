"""Records of `__consumer_offsets` (`OffsetCommitValue.json`, `GroupMetadataValue.json` and their keys).

The first two bytes of a key say what it is for: a committed offset (0 and 1), a classic group (2), or one of
the kinds of the new group types, of which only the group's own epoch is read (KIP-848, KIP-932, KIP-1071).
"""

import struct
from typing import Final, NamedTuple

from construct import Const, Int16sb, Int16ub, Int32sb, Int64sb, PascalString, Struct

from .primitives import read_uvarint

_KEY: Final = Struct(
    "version" / Const(1, Int16sb),
    "group" / PascalString(Int16ub, "utf8"),
    "topic" / PascalString(Int16ub, "utf8"),
    "partition" / Int32sb,
)
_VALUE: Final = Struct(
    "version" / Const(3, Int16sb),
    "offset" / Int64sb,
    "leader_epoch" / Int32sb,
    "metadata" / PascalString(Int16ub, "utf8"),
    "commit_ms" / Int64sb,
)
_INT16: Final = struct.Struct(">h").unpack_from
_INT32: Final = struct.Struct(">i").unpack_from
_INT64: Final = struct.Struct(">q").unpack_from
_COMMITS: Final = (0, 1)
_CLASSIC: Final = 2
_WITH_EPOCH: Final = {3: "consumer", 11: "share", 17: "streams"}
_NONE: Final = -1
_FLEXIBLE: Final = 4


class CommitKey(NamedTuple):
    group: str
    topic: str
    partition: int


class GroupKey(NamedTuple):
    """`type` is `classic`, `consumer`, `share` or `streams`."""

    group: str
    type: str


class OtherKey(NamedTuple):
    """A key of another kind: members, assignments, subscriptions."""

    number: int


class Commit(NamedTuple):
    """`leader_epoch` is -1 before version 3; `expire_ms` is -1 except in version 1."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int


class GroupState(NamedTuple):
    """In the newer types `generation` is the group epoch, and `members` is -1, because the record has none.
    `state_ms` is Unix time, or -1."""

    generation: int
    members: int
    state_ms: int


def offset_record(
    group: str, topic: str, partition: int, offset: int, leader_epoch: int, metadata: str, commit_ms: int
) -> tuple[bytes, bytes]:
    """Key and value; the value has version 3, with the leader epoch (KIP-320)."""
    value = {"offset": offset, "leader_epoch": leader_epoch, "metadata": metadata, "commit_ms": commit_ms}
    return _KEY.build({"group": group, "topic": topic, "partition": partition}), _VALUE.build(value)


def read_key(data: bytes) -> CommitKey | GroupKey | OtherKey:
    """ValueError if it is cut short."""
    try:
        (number,) = _INT16(data)
        if number not in _COMMITS and number != _CLASSIC and number not in _WITH_EPOCH:
            return OtherKey(number)
        group, at = _string(data, 2)
        if number not in _COMMITS:
            return GroupKey(group, _WITH_EPOCH.get(number, "classic"))
        topic, at = _string(data, at)
        return CommitKey(group, topic, *_INT32(data, at))
    except (struct.error, IndexError) as error:
        raise ValueError(f"a key is cut short: {error}") from None


def read_commit(data: bytes) -> Commit:
    """Reads a value of version 0 to 4. ValueError for another version, or if it is cut short."""
    try:
        (version,) = _INT16(data)
        if not 0 <= version <= _FLEXIBLE:
            raise ValueError(f"unknown version {version} of a committed offset")
        (offset,) = _INT64(data, 2)
        at, leader_epoch, expire_ms = 10, _NONE, _NONE
        if version >= 3:
            (leader_epoch,) = _INT32(data, at)
            at += 4
        metadata, at = _compact_string(data, at) if version == _FLEXIBLE else _string(data, at)
        (commit_ms,) = _INT64(data, at)
        if version == 1:
            (expire_ms,) = _INT64(data, at + 8)
        return Commit(offset, leader_epoch, metadata, commit_ms, expire_ms)
    except (struct.error, IndexError) as error:
        raise ValueError(f"a committed offset is cut short: {error}") from None


def read_group(data: bytes, key: GroupKey) -> GroupState:
    """Reads a group's value. ValueError for an unknown version, or if it is cut short."""
    try:
        (version,) = _INT16(data)
        if key.type != "classic":
            return GroupState(_INT32(data, 2)[0], _NONE, _NONE)
        if not 0 <= version <= _FLEXIBLE:
            raise ValueError(f"unknown version {version} of a group")
        string = _compact_string if version == _FLEXIBLE else _string
        _, at = string(data, 2)
        (generation,) = _INT32(data, at)
        _, at = string(data, at + 4)
        _, at = string(data, at)
        state_ms = _NONE
        if version >= 2:
            (state_ms,) = _INT64(data, at)
            at += 8
        members = read_uvarint(data, at)[0] - 1 if version == _FLEXIBLE else _INT32(data, at)[0]
        return GroupState(generation, members, state_ms)
    except (struct.error, IndexError) as error:
        raise ValueError(f"a group is cut short: {error}") from None


def _string(data: bytes, at: int) -> tuple[str, int]:
    """A string and the offset after it; null becomes empty."""
    (size,) = _INT16(data, at)
    return _text(data, at + 2, max(size, 0))


def _compact_string(data: bytes, at: int) -> tuple[str, int]:
    size, at = read_uvarint(data, at)
    return _text(data, at, max(size - 1, 0))


def _text(data: bytes, at: int, size: int) -> tuple[str, int]:
    if at + size > len(data):
        raise IndexError(f"a string of {size} bytes where {len(data) - at} are left")
    return data[at : at + size].decode(), at + size
