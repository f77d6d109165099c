"""What consumers of the classic protocol say in JoinGroup and learn in SyncGroup (`ConsumerProtocol.java`).

It is read and written where groups with members of both protocols are, hence seldom.
"""

import functools
import importlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .primitives import write_string
from .reading import READ_ERRORS, Reader, compile_plain_reader

NEWEST: Final = 3
"""The newest version of either; a higher one is read as this."""
_VERSION: Final = struct.Struct(">h")
_NULL: Final = b"\xff\xff\xff\xff"
Partitions = Sequence[tuple[str, Sequence[int]]]


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
    found = _read("subscription", "ConsumerProtocolSubscription", data)
    return Subscription(
        list(found["topics"]), _partitions(found.get("owned_partitions", ())), found.get("rack_id")
    )


def read_assignment(data: bytes) -> Assignment:
    """ValueError if it is cut short, or of a version below 0."""
    found = _read("assignment", "ConsumerProtocolAssignment", data)
    return Assignment(_partitions(found["assigned_partitions"]), bytes(found["user_data"] or b""))


def write_assignment(partitions: Mapping[str, Iterable[int]], version: int) -> bytes:
    """Without user data; all versions have the same fields."""
    data = bytearray(struct.pack(">hi", min(version, NEWEST), len(partitions)))
    for topic, given in partitions.items():
        indexes = list(given)
        write_string(data, topic)
        data += struct.pack(f">i{len(indexes)}i", len(indexes), *indexes)
    return bytes(data) + _NULL


def version_of(data: bytes) -> int:
    """ValueError if it is cut short, or below 0."""
    if len(data) < _VERSION.size or (version := _VERSION.unpack_from(data)[0]) < 0:
        raise ValueError("no version of the consumer protocol")
    return int(version)


def _read(kind: str, name: str, data: bytes) -> dict[str, Any]:
    reader = _reader(kind, name, min(version_of(data), NEWEST))
    try:
        found: dict[str, Any] = reader(bytes(data), _VERSION.size)
    except READ_ERRORS:
        raise ValueError(f"a {kind} of the consumer protocol can't be read") from None
    return found


@functools.cache
def _reader(kind: str, name: str, version: int) -> Reader:
    module = importlib.import_module(f"kio.schema.consumer_protocol_{kind}.v{version}.data")
    return compile_plain_reader(getattr(module, name))


def _partitions(found: Iterable[Mapping[str, Any]]) -> Partitions:
    return [(each["topic"], list(each["partitions"])) for each in found]
