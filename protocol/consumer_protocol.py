"""What consumers of the classic protocol say in JoinGroup and learn in SyncGroup (`ConsumerProtocol.java`).

It is read and written where groups with members of both protocols are, hence seldom.
"""

import functools
import struct
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from .kio_modules import kio_module
from .primitives import write_bytes, write_string
from .reading import READ_ERRORS, Reader, compile_plain_reader

Kind = Literal["subscription", "assignment"]
NEWEST: Final = 3
"""The newest version of either; a higher one is read as this."""
_VERSION: Final = struct.Struct(">h")
Partitions = Collection[tuple[str, Collection[int]]]
"""Topics with their partitions."""


class Subscription(NamedTuple):
    topics: list[str]
    owned: Partitions
    """Up to v0 it does not say."""
    rack_id: str | None


class Assignment(NamedTuple):
    partitions: Partitions
    user_data: bytes


def read_subscription(data: bytes) -> Subscription:
    """ValueError if it is cut short, or of a version below 0."""
    found = _read("subscription", data)
    return Subscription(
        list(found["topics"]), _partitions(found.get("owned_partitions", ())), found.get("rack_id")
    )


def read_assignment(data: bytes) -> Assignment:
    """ValueError if it is cut short, or of a version below 0."""
    found = _read("assignment", data)
    return Assignment(_partitions(found["assigned_partitions"]), bytes(found["user_data"] or b""))


def write_assignment(partitions: Partitions, version: int, user_data: bytes | None = None) -> bytes:
    """All versions have the same fields."""
    data = bytearray(_VERSION.pack(min(version, NEWEST)))
    write_partitions(data, partitions)
    write_bytes(data, user_data)
    return bytes(data)


def write_partitions(out: bytearray, partitions: Partitions) -> None:
    out += struct.pack(">i", len(partitions))
    for topic, indexes in partitions:
        write_string(out, topic)
        out += struct.pack(f">i{len(indexes)}i", len(indexes), *indexes)


def version_of(data: bytes) -> int:
    """ValueError if it is cut short, or below 0."""
    if len(data) < _VERSION.size or (version := _VERSION.unpack_from(data)[0]) < 0:
        raise ValueError("no version of the consumer protocol")
    return int(version)


@functools.cache
def reader(kind: Kind, version: int) -> Reader:
    """Reads what follows the version, as kio's plain values."""
    module = kio_module(f"schema.consumer_protocol_{kind}.v{version}.data")
    return compile_plain_reader(getattr(module, f"ConsumerProtocol{kind.capitalize()}"))


def _read(kind: Kind, data: bytes) -> dict[str, Any]:
    read = reader(kind, min(version_of(data), NEWEST))
    try:
        found: dict[str, Any] = read(bytes(data), _VERSION.size)
    except READ_ERRORS:
        raise ValueError(f"a {kind} of the consumer protocol can't be read") from None
    return found


def _partitions(found: Iterable[Mapping[str, Any]]) -> Partitions:
    return [(each["topic"], list(each["partitions"])) for each in found]
