"""Which topics consumers subscribe to, as their metadata says (`ConsumerProtocol.java`)."""

import functools
import struct
from collections.abc import Callable, Iterable
from typing import Any, Final

CONSUMER: Final = "consumer"
"""The protocol type of consumer groups."""


@functools.cache
def _reader() -> Callable[[bytes, int], tuple[Any, int]]:
    from kio.schema.consumer_protocol_subscription.v0.data import ConsumerProtocolSubscription
    from kio.serial import entity_reader

    return entity_reader(ConsumerProtocolSubscription)


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """All topics of the subscriptions, of which only the part of version 0 is read; None if one is none."""
    from kio.serial.errors import DecodeError

    topics: set[str] = set()
    try:
        for data in metadata:
            (version,) = struct.unpack_from(">h", data)
            if version < 0:
                return None
            topics.update(_reader()(data, 2)[0].topics)
    except (DecodeError, struct.error, ValueError, IndexError, TypeError):
        return None
    return frozenset(topics)
