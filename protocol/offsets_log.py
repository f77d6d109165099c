"""Keys of `__consumer_offsets`, and committed offsets in it (`OffsetCommitKey.json`, `GroupMetadataKey.json`,
`OffsetCommitValue.json`).

The first two bytes of a key say what it is for: a committed offset (0 and 1), a classic group (2), or one of
the kinds of the newer groups (KIP-848, KIP-932, KIP-1071), of which only the epoch of the group and the
ids of its members are read.
"""

import functools
import struct
from typing import Final, NamedTuple

from .group_metadata import read_group as read_classic_group
from .primitives import read_uvarint, text_of, write_compact_string, write_string

_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")
_COMMIT_KEY: Final = _INT16.pack(1)
_GROUP_KEY: Final = _INT16.pack(2)
_WITH_EPOCH_HEAD: Final = struct.Struct(">hqi")
_WITHOUT_METADATA: Final = struct.Struct(">hqihq")
_CACHED_LENGTH: Final = 256
"""The keys of longer group ids are not cached."""
NO_TOPIC_ID: Final = bytes(16)
_COMMITS: Final = (0, 1)
_CLASSIC: Final = 2
WITH_EPOCH: Final = {3: "consumer", 11: "share", 17: "streams"}
WITH_MEMBER: Final = {5: "consumer", 10: "share", 19: "streams"}
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


class MemberKey(NamedTuple):
    """A member of a group of the newer types; it is deleted when the member leaves."""

    group: str
    type: str
    member: str


class OtherKey(NamedTuple):
    """A key of another kind: assignments, subscriptions."""

    number: int


class Commit(NamedTuple):
    """`leader_epoch` is -1 before version 3; `expire_ms` is -1 except in version 1; `topic_id` are the bytes
    of a UUID, all 0 if it is not known, as always before version 4 (KIP-848)."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int = -1
    topic_id: bytes = NO_TOPIC_ID


class GroupState(NamedTuple):
    """In the newer types `generation` is the group epoch, and `members` is -1, because the record has none.
    `state_ms` is Unix time, or -1."""

    generation: int
    members: int
    state_ms: int


def commit_key(group: str, topic: str, partition: int) -> bytes:
    if len(group) > _CACHED_LENGTH:
        return _commit_key.__wrapped__(group, topic, partition)
    return _commit_key(group, topic, partition)


@functools.lru_cache(maxsize=1024)
def _commit_key(group: str, topic: str, partition: int) -> bytes:
    out = bytearray(_COMMIT_KEY)
    write_string(out, group)
    write_string(out, topic)
    return bytes(out + _INT32.pack(partition))


def is_commit_key(key: bytes) -> bool:
    """Whether a key is that of a committed offset, as brokers write it."""
    return key.startswith(_COMMIT_KEY)


def group_key(group: str) -> bytes:
    """The key of a classic group."""
    out = bytearray(_GROUP_KEY)
    write_string(out, group)
    return bytes(out)


def group_key_of(key: bytes) -> bytes:
    """The key of the classic group to which that of a committed offset belongs."""
    (size,) = _INT16.unpack_from(key, 2)
    return _GROUP_KEY + key[2 : 4 + size]


def commit_value(commit: Commit, version: int) -> bytes:
    """A value of version 0 to 4; what the version has no field for is left out. ValueError for another
    version."""
    if not 0 <= version <= _FLEXIBLE:
        raise ValueError(f"unknown version {version} of a committed offset")
    if version >= 3:
        out = bytearray(_WITH_EPOCH_HEAD.pack(version, commit.offset, commit.leader_epoch))
    else:
        out = bytearray(_INT16.pack(version) + _INT64.pack(commit.offset))
    if version == _FLEXIBLE:
        write_compact_string(out, commit.metadata)
    else:
        write_string(out, commit.metadata)
    out += _INT64.pack(commit.commit_ms)
    if version == 1:
        out += _INT64.pack(commit.expire_ms)
    if version == _FLEXIBLE:
        out += b"\0" if commit.topic_id == NO_TOPIC_ID else b"\1\0\x10" + commit.topic_id
    return bytes(out)


def read_key(data: bytes) -> CommitKey | GroupKey | MemberKey | OtherKey:
    """ValueError if it is cut short."""
    try:
        (number,) = _INT16.unpack_from(data)
        if number not in _COMMITS and number != _CLASSIC and number not in (*WITH_EPOCH, *WITH_MEMBER):
            return OtherKey(number)
        group, at = _string(data, 2)
        if number in WITH_MEMBER:
            return MemberKey(group, WITH_MEMBER[number], _string(data, at)[0])
        if number not in _COMMITS:
            return GroupKey(group, WITH_EPOCH.get(number, "classic"))
        topic, at = _string(data, at)
        return CommitKey(group, topic, *_INT32.unpack_from(data, at))
    except (struct.error, IndexError) as error:
        raise ValueError(f"a key is cut short: {error}") from None


def read_commit(data: bytes) -> Commit:
    """Reads a value of version 0 to 4. ValueError for another version, or if it is cut short."""
    try:
        if len(data) == _WITHOUT_METADATA.size:
            version, offset, leader_epoch, size, commit_ms = _WITHOUT_METADATA.unpack(data)
            if version == 3 and size == 0:
                return Commit(offset, leader_epoch, "", commit_ms)
        (version,) = _INT16.unpack_from(data)
        if not 0 <= version <= _FLEXIBLE:
            raise ValueError(f"unknown version {version} of a committed offset")
        (offset,) = _INT64.unpack_from(data, 2)
        at, leader_epoch, expire_ms = 10, _NONE, _NONE
        if version >= 3:
            (leader_epoch,) = _INT32.unpack_from(data, at)
            at += 4
        metadata, at = _compact_string(data, at) if version == _FLEXIBLE else _string(data, at)
        (commit_ms,) = _INT64.unpack_from(data, at)
        if version == 1:
            (expire_ms,) = _INT64.unpack_from(data, at + 8)
        topic_id = _topic_id(data, at + 8) if version == _FLEXIBLE else NO_TOPIC_ID
        return Commit(offset, leader_epoch, metadata, commit_ms, expire_ms, topic_id)
    except (struct.error, IndexError) as error:
        raise ValueError(f"a committed offset is cut short: {error}") from None


def read_group(data: bytes, key: GroupKey) -> GroupState:
    """Reads a group's value. ValueError for an unknown version, or if it is cut short."""
    if key.type == "classic":
        group = read_classic_group(data)
        return GroupState(group.generation, len(group.members), group.since_ms)
    try:
        return GroupState(_INT32.unpack_from(data, 2)[0], _NONE, _NONE)
    except struct.error as error:
        raise ValueError(f"a group is cut short: {error}") from None


def _topic_id(data: bytes, at: int) -> bytes:
    """The topic id among the tagged fields at `at`."""
    count, at = read_uvarint(data, at)
    for _ in range(count):
        tag, at = read_uvarint(data, at)
        size, at = read_uvarint(data, at)
        if at + size > len(data):
            raise IndexError(f"a tagged field of {size} bytes where {len(data) - at} are left")
        if tag == 0 and size == len(NO_TOPIC_ID):
            return data[at : at + size]
        at += size
    return NO_TOPIC_ID


def _string(data: bytes, at: int) -> tuple[str, int]:
    """A string and the offset after it; null becomes empty."""
    (size,) = _INT16.unpack_from(data, at)
    return _text(data, at + 2, max(size, 0))


def _compact_string(data: bytes, at: int) -> tuple[str, int]:
    size, at = read_uvarint(data, at)
    return _text(data, at, max(size - 1, 0))


def _text(data: bytes, at: int, size: int) -> tuple[str, int]:
    if at + size > len(data):
        raise IndexError(f"a string of {size} bytes where {len(data) - at} are left")
    return text_of(data[at : at + size]), at + size
