"""The topics that consumers subscribe to, from their metadata (`ConsumerProtocol.java`)."""

import struct
from collections.abc import Iterable
from typing import Final

from ...protocol.consumer_protocol import reader
from ...protocol.reading import READ_ERRORS

CONSUMER: Final = "consumer"
"""The protocol type of consumer groups."""


class UnreadableError(Exception):
    """A subscription is shorter than it says, or null where that is not allowed."""


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """All topics of the subscriptions, of which only the fields of version 0 are read.

    None if one ends early or has a version below 0; UnreadableError if another length in it is wrong.
    """
    topics: set[str] = set()
    for data in metadata:
        if len(data) < 2 or struct.unpack_from(">h", data)[0] < 0:
            return None
        try:
            topics.update(reader("subscription", 0)(bytes(data), 2)["topics"])
        except READ_ERRORS:
            if _ends_early(data):
                return None
            raise UnreadableError from None
    return frozenset(topics)


def _ends_early(data: bytes) -> bool:
    """Whether a number of fixed size is cut off: Kafka handles that as a `BufferUnderflowException`."""
    try:
        (count,) = struct.unpack_from(">i", data, 2)
        at = 6
        if not 0 <= count <= len(data) - at:
            return False
        for _ in range(count):
            (length,) = struct.unpack_from(">h", data, at)
            at += 2 + length
            if length < 0 or at > len(data):
                return False
        struct.unpack_from(">i", data, at)
    except struct.error:
        return True
    return False
