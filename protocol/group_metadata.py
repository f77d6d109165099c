"""Values of classic groups in `__consumer_offsets` (`GroupMetadataValue.json`)."""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from .primitives import read_uvarint, skip_tags, text_of, write_bytes, write_string

_NONE: Final = -1
_FLEXIBLE: Final = 4
_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")


class MemberMetadata(NamedTuple):
    """A member, with its metadata for the protocol that was chosen (`subscription`) and its assignment. In
    version 0 `rebalance_timeout_ms` is the session timeout; `instance_id` is null before version 3."""

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class GroupMetadata(NamedTuple):
    """A generation of a group: Stable if it has members, else Empty. `since_ms` is when the group got into
    its state, or -1, as always before version 2."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    since_ms: int
    members: Sequence[MemberMetadata]


def write_group(group: GroupMetadata, version: int) -> bytes:
    """The value of version 0 to 3. ValueError for another version: no broker writes one."""
    if not 0 <= version < _FLEXIBLE:
        raise ValueError(f"groups are not written with version {version}")
    out = bytearray(_INT16.pack(version))
    write_string(out, group.protocol_type)
    out += _INT32.pack(group.generation)
    write_string(out, group.protocol)
    write_string(out, group.leader)
    if version >= 2:
        out += _INT64.pack(group.since_ms)
    out += _INT32.pack(len(group.members))
    for member in group.members:
        write_string(out, member.id)
        if version >= 3:
            write_string(out, member.instance_id)
        write_string(out, member.client_id)
        write_string(out, member.client_host)
        if version >= 1:
            out += _INT32.pack(member.rebalance_timeout_ms)
        out += _INT32.pack(member.session_timeout_ms)
        write_bytes(out, member.subscription)
        write_bytes(out, member.assignment)
    return bytes(out)


def read_group(data: bytes) -> GroupMetadata:
    """Reads a value of version 0 to 4. ValueError for another version, or if it is cut short."""
    try:
        (version,) = _INT16.unpack_from(data)
        if not 0 <= version <= _FLEXIBLE:
            raise ValueError(f"unknown version {version} of a group")
        return _Reader(data, version).group()
    except (struct.error, IndexError) as error:
        raise ValueError(f"a group is cut short: {error}") from None


class _Reader:
    def __init__(self, data: bytes, version: int) -> None:
        self._data = data
        self._version = version
        self._at = 2

    def group(self) -> GroupMetadata:
        protocol_type = self._text()
        generation = self._int32()
        protocol, leader = self._nullable(), self._nullable()
        since_ms = _NONE
        if self._version >= 2:
            (since_ms,) = _INT64.unpack_from(self._data, self._at)
            self._at += 8
        count = self._size() if self._version == _FLEXIBLE else self._int32()
        members = [self._member() for _ in range(count)]
        self._tags()
        return GroupMetadata(protocol_type, generation, protocol, leader, since_ms, members)

    def _member(self) -> MemberMetadata:
        member_id = self._text()
        instance_id = self._nullable() if self._version >= 3 else None
        client_id, client_host = self._text(), self._text()
        rebalance_ms = self._int32() if self._version >= 1 else _NONE
        session_ms = self._int32()
        if self._version < 1:
            rebalance_ms = session_ms
        subscription, assignment = self._bytes(), self._bytes()
        self._tags()
        return MemberMetadata(
            member_id,
            instance_id,
            client_id,
            client_host,
            rebalance_ms,
            session_ms,
            subscription,
            assignment,
        )

    def _int32(self) -> int:
        (value,) = _INT32.unpack_from(self._data, self._at)
        self._at += 4
        return value  # type: ignore[no-any-return]

    def _size(self) -> int:
        """A compact length; -1 for null."""
        size, self._at = read_uvarint(self._data, self._at)
        return size - 1

    def _text(self) -> str:
        return self._nullable() or ""

    def _nullable(self) -> str | None:
        if self._version == _FLEXIBLE:
            size = self._size()
        else:
            (size,) = _INT16.unpack_from(self._data, self._at)
            self._at += 2
        return None if size < 0 else text_of(self._take(size))

    def _bytes(self) -> bytes:
        size = self._size() if self._version == _FLEXIBLE else self._int32()
        return self._take(max(size, 0))

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise IndexError(f"{size} bytes where {len(self._data) - self._at} are left")
        taken, self._at = self._data[self._at : end], end
        return taken

    def _tags(self) -> None:
        if self._version == _FLEXIBLE:
            self._at = skip_tags(self._data, self._at)
