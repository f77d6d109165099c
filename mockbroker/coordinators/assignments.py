"""Assignments and subscriptions of members, as names of topics and indexes of partitions."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol
from uuid import UUID

from ..protocol.consumer_protocol import Kind, reader
from ..protocol.reading import READ_ERRORS

_TO_VERSION_0: Final = 2
"""Bytes of the version at the start; all versions begin with the fields of version 0
(`ConsumerProtocol.java`)."""


class Named(Protocol):
    """A topic."""

    @property
    def name(self) -> str: ...


def named(
    topics: Mapping[UUID, Named], assigned: Mapping[UUID, Iterable[int]]
) -> tuple[tuple[str, int], ...]:
    """In order, without topics that are gone."""
    there = [(topics[each].name, assigned[each]) for each in assigned if each in topics]
    return tuple(sorted((name, index) for name, partitions in there for index in partitions))


def of_bytes(data: bytes) -> tuple[tuple[str, int], ...] | None:
    """What a classic member was assigned, in order. None if it can't be read; a member without partitions may
    have no bytes at all."""
    if not data:
        return ()
    if (found := _read("assignment", data)) is None:
        return None
    pairs = [(each["topic"], index) for each in found["assigned_partitions"] for index in each["partitions"]]
    return tuple(sorted(pairs))


def subscribed(data: bytes) -> tuple[str, ...] | None:
    """What a classic member subscribes to, in order. None if it can't be read."""
    found = _read("subscription", data)
    return None if found is None else tuple(sorted(found["topics"]))


def _read(kind: Kind, data: bytes) -> dict[str, Any] | None:
    if len(data) < _TO_VERSION_0 or data[0] > 0x7F:
        return None
    try:
        found: dict[str, Any] = reader(kind, 0)(data, _TO_VERSION_0)
    except READ_ERRORS:
        return None
    return found
