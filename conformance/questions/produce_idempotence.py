"""Produce with producer ids: KIP-98's sequences, as brokers judge them since KAFKA-14402's clean-ups."""

from typing import Any

from ...rig.batches import batch
from ..registry import Scene, Steps, about
from .produce import produce

question = about("produce")

FEW = (3, 8, 12, 13)
LAST_SEQUENCE = 2**31 - 1


class _Producer:
    def __init__(self, s: Scene, topic: str) -> None:
        self._s, self._topic, self._id = s, topic, s.producer_id()

    def send(self, sequence: int, count: int = 3, epoch: int = 0) -> Any:
        data = batch(count, producer_id=self._id, producer_epoch=epoch, sequence=sequence)
        return produce(self._s, self._topic, data)


@question(at=FEW)
def duplicates(s: Scene) -> Steps:
    """The last five batches are remembered."""
    topic = s.topic()
    producer = _Producer(s, topic)
    for sequence in range(0, 21, 3):
        yield f"sequence {sequence}", producer.send(sequence)
    for sequence in range(18, -1, -3):
        yield f"duplicate of {sequence}", producer.send(sequence)
    yield "log end", s.offset(topic)


@question(at=FEW)
def overlaps_and_gaps(s: Scene) -> Steps:
    topic = s.topic()
    producer = _Producer(s, topic)
    for sequence in (0, 3, 6):
        producer.send(sequence)
    yield "same first sequence, fewer records", producer.send(6, 2)
    yield "same first sequence, more records", producer.send(6, 6)
    yield "same last sequence, fewer records", producer.send(7, 2)
    yield "spans two batches", producer.send(3, 6)
    yield "gap of one", producer.send(10)
    yield "next", producer.send(9)
    yield "log end", s.offset(topic)


@question(at=FEW)
def epochs(s: Scene) -> Steps:
    topic = s.topic()
    producer = _Producer(s, topic)
    yield "epoch 0, sequence 0", producer.send(0)
    yield "epoch 1, next sequence", producer.send(3, epoch=1)
    yield "epoch 1, sequence 0", producer.send(0, epoch=1)
    yield "duplicate", producer.send(0, epoch=1)
    yield "epoch 0, next sequence", producer.send(3, epoch=0)
    yield "epoch 0, duplicate", producer.send(0, epoch=0)
    yield "epoch 3, sequence 0", producer.send(0, epoch=3)
    yield "epoch -1", producer.send(0, epoch=-1)
    yield "epoch 32767", producer.send(0, epoch=32767)
    yield "log end", s.offset(topic)


@question(at=FEW)
def unknown_producers(s: Scene) -> Steps:
    """A producer of which the partition has no state may start with any sequence."""
    topic = s.topic()
    first = _Producer(s, topic)
    yield "first sequence 7", first.send(7)
    yield "sequence 0 afterwards", first.send(0)
    yield "next", first.send(10)
    second = _Producer(s, topic)
    yield "first epoch 4, sequence 0", second.send(0, epoch=4)
    third = _Producer(s, topic)
    yield "first epoch 2, sequence 5", third.send(5, epoch=2)


@question(at=FEW)
def wrap_around(s: Scene) -> Steps:
    """After 2^31-1 sequences continue with 0."""
    topic = s.topic()
    producer = _Producer(s, topic)
    yield "up to the last", producer.send(LAST_SEQUENCE - 2)
    yield "0 is next", producer.send(0)
    across = _Producer(s, topic)
    yield "across the end", across.send(LAST_SEQUENCE - 1, 4)
    yield "duplicate", across.send(LAST_SEQUENCE - 1, 4)
    yield "next", across.send(2)
    yield "negative", across.send(-3)


@question(at=FEW)
def after_delete_records(s: Scene) -> Steps:
    topic = s.topic()
    producer = _Producer(s, topic)
    producer.send(0)
    producer.send(3)
    s.delete_records(topic, -1)
    yield "duplicate of a deleted batch", producer.send(3)
    yield "gap", producer.send(9)
    yield "next", producer.send(6)
    yield "duplicate", producer.send(6)
    other = _Producer(s, topic)
    yield "another producer, sequence 5", other.send(5)


@question(at=FEW)
def partitions_apart(s: Scene) -> Steps:
    """Sequences are counted for each partition and each producer separately."""
    topic = s.topic(partitions=2)
    ids = [s.producer_id(), s.producer_id()]
    for partition in (0, 1):
        for index, producer in enumerate(ids):
            data = batch(2, producer_id=producer, producer_epoch=0, sequence=0)
            yield f"partition {partition}, producer {index}", produce(s, topic, data, partition=partition)


@question(at=FEW)
def mixed_with_plain_batches(s: Scene) -> Steps:
    topic = s.topic()
    producer = _Producer(s, topic)
    yield "sequence 0", producer.send(0)
    yield "plain batch", produce(s, topic, batch(2))
    yield "sequence 3", producer.send(3)
    yield "duplicate", producer.send(3)
