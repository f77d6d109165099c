"""Transactions as InitProducerId, Produce and Fetch show them (KIP-98, KIP-360, KIP-447, KIP-890)."""

from typing import Any

from ...rig.transaction_scene import TIMEOUT_MS, TransactionalProducer
from ..registry import Scene, Steps, about
from .produce import produce

init_question, produce_question, fetch_question = about("init_producer_id"), about("produce"), about("fetch")


def _init(
    s: Scene, producer: TransactionalProducer, producer_id: int = -1, epoch: int = -1, **other: Any
) -> Any:
    fields = {"transactional_id": producer.name, "transaction_timeout": TIMEOUT_MS, **other}
    answer = s.ask({**fields, "producer_id": producer_id, "producer_epoch": epoch})
    if isinstance(answer, dict) and answer["producer_id"] >= 0:
        s.normaliser.name_producer(answer["producer_id"])
    return answer


@init_question()
def transactional_instances(s: Scene) -> Steps:
    producer = TransactionalProducer(s, starts=False)
    for timeout in (0, -1, 900_001):
        yield f"timeout of {timeout} ms", _init(s, producer, transaction_timeout=timeout)
    yield "longest timeout", _init(s, producer, transaction_timeout=900_000)
    yield "second instance", _init(s, producer)
    producer.start()
    producer.add(s.topic())
    yield "described", producer.describe()["transaction_timeout"]
    producer.end(committed=False)


@init_question()
def an_open_transaction(s: Scene) -> Steps:
    """The open transaction is aborted first; the client has to try again."""
    topic = s.topic()
    producer = TransactionalProducer(s)
    producer.begin(topic)
    yield "first", _init(s, producer)
    yield "state", producer.settle()
    yield "epoch", producer.describe()["producer_epoch"] - producer.epoch
    yield "second", _init(s, producer)
    yield "log end", s.offset(topic)


@init_question(since=3)
def after_an_open_transaction(s: Scene) -> Steps:
    """The producer itself sends InitProducerId, with its id and epoch."""
    producer = TransactionalProducer(s)
    producer.begin(s.topic())
    asked = producer.id, producer.epoch
    yield "while open", _init(s, producer, *asked)
    producer.settle()
    yield "then", _init(s, producer, *asked)
    yield "again", _init(s, producer, *asked)


@init_question(since=3)
def asking_again(s: Scene) -> Steps:
    """With the id and epoch before the last bump, as after a lost answer (KIP-360)."""
    producer = TransactionalProducer(s)
    first = producer.id, producer.epoch
    yield "bump", _init(s, producer, *first)
    yield "again", _init(s, producer, *first)
    yield "next bump", _init(s, producer, producer.id, producer.epoch + 1)
    yield "two epochs old", _init(s, producer, *first)
    yield "future epoch", _init(s, producer, producer.id, producer.epoch + 9)
    yield "other id", _init(s, producer, 10**15, producer.epoch + 2)
    yield "another instance", _init(s, producer)
    yield "the instance before", _init(s, producer, producer.id, producer.epoch + 2)
    yield "another instance", _init(s, producer)


@init_question(since=3)
def negative_epochs(s: Scene) -> Steps:
    producer = TransactionalProducer(s)
    for epoch in (-1, -2, -(1 << 15)):
        yield f"epoch {epoch}", _init(s, producer, producer.id, epoch)
    yield "epoch without id", _init(s, producer, -1, producer.epoch)
    yield "unknown transactional id", _init(s, producer, 7, 0, transactional_id=s.name("unknown"))


@produce_question(at=(3, 8, 10, 11, 12, 13))
def in_transactions(s: Scene) -> Steps:
    topic = s.topic()
    producer = TransactionalProducer(s)

    def send(data: bytes) -> Any:
        return produce(s, topic, data, transactional_id=producer.name)

    yield "not added", send(producer.batch())
    if s.version >= 12:
        producer.end(committed=False)
    yield "no transaction at all", produce(s, topic, producer.batch(inside=False, sequence=0))
    producer.start()
    producer.add(topic)
    yield "first", send(producer.batch())
    yield "duplicate", send(producer.batch())
    yield "gap", send(producer.batch(9))
    yield "second", send(producer.batch(3))
    yield "outside", produce(s, topic, producer.batch(6, inside=False))
    yield "old epoch", send(producer.batch(6, epoch=producer.epoch - 1))
    producer.end(committed=True)
    yield "late", send(producer.batch(6))
    yield "late duplicate", send(producer.batch(3))
    producer.start()
    producer.add(topic)
    yield "next transaction", send(producer.batch())
    yield "future epoch", send(producer.batch(0, epoch=producer.epoch + 1))
    yield "log end", s.offset(topic)


@fetch_question(at=(4, 5, 7, 11, 12, 15))
def of_transactions(s: Scene) -> Steps:
    topic = s.topic()
    first, second = TransactionalProducer(s, "first"), TransactionalProducer(s, "second")

    def read(offset: int, isolation: int) -> Any:
        part = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1_000_000}
        topics = [{"topic": topic, "topic_id": s.topic_id(topic), "partitions": [part]}]
        answer = s.ask(
            max_wait=0, max_bytes=1_000_000, session_epoch=-1, isolation_level=isolation, topics=topics
        )
        return answer["responses"][0]["partitions"][0]

    first.begin(topic)
    second.begin(topic)
    for isolation in (0, 1):
        yield f"both open, isolation {isolation}", read(0, isolation)
    second.end(committed=False)
    yield "second aborted", read(0, 1)
    first.end(committed=True)
    first.begin(topic, 3)
    first.end(committed=False)
    for offset in (0, 3, 6, 7, 8, 11, 12):
        yield f"all decided, from {offset}", read(offset, 1)
    yield "read uncommitted", read(7, 0)
