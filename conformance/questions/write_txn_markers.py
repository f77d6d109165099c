"""WriteTxnMarkers: markers as coordinators and administrators send them (KIP-98, KIP-664)."""

from typing import Any

from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps


def _marker(producer: TransactionalProducer, committed: bool = False) -> dict[str, Any]:
    return {
        "producer_id": producer.id,
        "producer_epoch": producer.epoch,
        "transaction_result": committed,
        "coordinator_epoch": 7,
        "transaction_version": 0,
    }


def _mark(
    s: Scene, producer: TransactionalProducer, topic: str, committed: bool = False, **other: Any
) -> Any:
    topics = [{"name": topic, "partition_indexes": other.pop("partitions", [0])}]
    return s.ask(markers=[{**_marker(producer, committed), "topics": topics, **other}])


def of_an_open_transaction(s: Scene) -> Steps:
    topic = s.topic()
    producer = TransactionalProducer(s)
    producer.start()
    producer.begin(topic)
    yield "old epoch", _mark(s, producer, topic, producer_epoch=producer.epoch - 1)
    if s.version >= 2:
        yield "transaction version 2, same epoch", _mark(s, producer, topic, transaction_version=2)
    yield "abort", _mark(s, producer, topic)
    yield "log", s.stored(topic)
    yield "again", _mark(s, producer, topic)
    yield "older coordinator", _mark(s, producer, topic, coordinator_epoch=6)
    yield "next epoch", _mark(s, producer, topic, producer_epoch=producer.epoch + 1)
    yield "log end", s.offset(topic)


def without_transaction(s: Scene) -> Steps:
    topic = s.topic()
    producer = TransactionalProducer(s)
    yield "commit", _mark(s, producer, topic, True)
    yield "unknown partition", _mark(s, producer, topic, partitions=[7])
    yield "unknown topic", _mark(s, producer, s.name("unknown"))
    yield "log end", s.offset(topic)
    yield "no markers", s.ask(markers=[])


def markers_named_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = TransactionalProducer(s)

    def ask(*markers: list[list[int]], name: str = topic) -> Any:
        topics = [[{"name": name, "partition_indexes": each} for each in parts] for parts in markers]
        return s.ask(markers=[{**_marker(producer), "topics": each} for each in topics], within=1.0)

    yield "a partition", ask([[0, 0]])
    yield "log end", s.offset(topic)
    yield "a topic", ask([[0], [1]])
    yield "log ends", [s.offset(topic), s.offset(topic, 1)]
    yield "a topic and a partition", ask([[0], [0]])
    yield "log end then", s.offset(topic)
    yield "a marker", ask([[0]], [[0]])
    yield "log end after two", s.offset(topic)
    yield "a marker, other partitions", ask([[0]], [[1]])
    yield "an unknown partition", ask([[7, 7]])
    yield "an unknown topic", ask([[0], [0]], name=s.name("unknown"))
