"""Which topics consumers subscribe to, as their metadata says (`ConsumerProtocol.java`)."""

import functools
import struct
from collections.abc import Iterable
from typing import Final

from ..protocol.reading import READ_ERRORS, Reader, compile_plain_reader

CONSUMER: Final = "consumer"
"""The protocol type of consumer groups."""


@functools.cache
def _reader() -> Reader:
    from kio.schema.consumer_protocol_subscription.v0.data import ConsumerProtocolSubscription

    return compile_plain_reader(ConsumerProtocolSubscription)


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """All topics of the subscriptions, of which only the part of version 0 is read; None if one is none."""
    topics: set[str] = set()
    try:
        for data in metadata:
            (version,) = struct.unpack_from(">h", data)
            if version < 0:
                return None
            topics.update(_reader()(bytes(data), 2)["topics"])
    except READ_ERRORS:
        return None
    return frozenset(topics)
