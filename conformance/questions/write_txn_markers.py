"""WriteTxnMarkers: markers as coordinators and administrators send them (KIP-98, KIP-664)."""

from typing import Any

from ...rig.scene import Scene
from ...rig.transaction_scene import Producer
from ..registry import Steps, about

question = about("write_txn_markers")


def _mark(s: Scene, producer: Producer, topic: str, committed: bool = False, **other: Any) -> Any:
    marker = {
        "producer_id": producer.id,
        "producer_epoch": producer.epoch,
        "transaction_result": committed,
        "topics": [{"name": topic, "partition_indexes": other.pop("partitions", [0])}],
        "coordinator_epoch": 7,
        "transaction_version": 0,
    }
    return s.ask(markers=[marker | other])


@question()
def of_an_open_transaction(s: Scene) -> Steps:
    topic = s.topic()
    producer = Producer(s)
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


@question()
def without_transaction(s: Scene) -> Steps:
    topic = s.topic()
    producer = Producer(s)
    yield "commit", _mark(s, producer, topic, True)
    yield "unknown partition", _mark(s, producer, topic, partitions=[7])
    yield "unknown topic", _mark(s, producer, s.name("unknown"))
    yield "log end", s.offset(topic)
    yield "no markers", s.ask(markers=[])
