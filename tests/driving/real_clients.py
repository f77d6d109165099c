"""Producers and consumers of confluent-kafka, for a cluster that listens."""

from typing import Any

from confluent_kafka import Consumer, Message, Producer

from .clients import Listening

LIMIT_S = 60


def a_producer(cluster: Listening, **config: Any) -> Producer:
    return Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0, **config})


def a_consumer(cluster: Listening, group: str, **config: Any) -> Consumer:
    """It begins at the first record unless told."""
    own = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "log_level": 0}
    return Consumer({**own, "auto.offset.reset": "earliest", **config})


def polled(consumer: Consumer, count: int) -> list[Message]:
    """The next so many records."""
    found: list[Message] = []
    while len(found) < count:
        message = consumer.poll(LIMIT_S)
        assert message is not None, f"{len(found)} of {count} records came"
        assert not message.error(), message.error()
        found.append(message)
    return found
