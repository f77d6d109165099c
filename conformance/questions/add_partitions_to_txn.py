"""AddPartitionsToTxn: of clients up to v3, of brokers since v4 (KIP-98, KIP-890)."""

from typing import Any

from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps, question


def _add(
    s: Scene,
    producer: TransactionalProducer,
    topics: list[dict[str, Any]],
    verify: bool = False,
    **other: Any,
) -> Any:
    ids = {**producer.ids, **other}
    if s.version < 4:
        ids = {f"v3_and_below_{key}": value for key, value in ids.items()}
        return s.ask({**ids, "v3_and_below_topics": topics})
    return s.ask({"transactions": [{**ids, "verify_only": verify, "topics": topics}]})


def partitions(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = TransactionalProducer(s)
    both = [{"name": topic, "partitions": [0, 1]}]
    yield "two", _add(s, producer, both)
    yield "again", _add(s, producer, both)
    yield "state", producer.state()
    yield "none", _add(s, producer, [])
    yield "one that does not exist", _add(s, producer, [{"name": topic, "partitions": [0, 7]}])
    yield "a topic that does not exist", _add(s, producer, [{"name": s.name("unknown"), "partitions": [0]}])


def wrong_producers(s: Scene) -> Steps:
    topics = [{"name": s.topic(), "partitions": [0]}]
    producer = TransactionalProducer(s)
    producer.start()
    yield "old epoch", _add(s, producer, topics, producer_epoch=producer.epoch - 1)
    yield "future epoch", _add(s, producer, topics, producer_epoch=producer.epoch + 1)
    yield "other id", _add(s, producer, topics, producer_id=10**15)
    yield "unknown transactional id", _add(s, producer, topics, transactional_id=s.name("unknown"))
    yield "empty transactional id", _add(s, producer, topics, transactional_id="")
    yield "state", producer.state()


def negative_epochs(s: Scene) -> Steps:
    topics = [{"name": s.topic(), "partitions": [0]}]
    producer = TransactionalProducer(s)
    for epoch in (-1, -2, -(1 << 15)):
        yield f"epoch {epoch}", _add(s, producer, topics, producer_epoch=epoch)
    yield "state", producer.state()


@question(since=4)
def verification(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = TransactionalProducer(s)
    both = [{"name": topic, "partitions": [0, 1]}]
    yield "before", _add(s, producer, both, verify=True)
    producer.add(topic, 0)
    yield "one was added", _add(s, producer, both, verify=True)
    yield "old epoch", _add(s, producer, both, verify=True, producer_epoch=producer.epoch - 1)
    yield "other id", _add(s, producer, both, verify=True, producer_id=10**15)
    yield "unknown transactional id", _add(s, producer, both, verify=True, transactional_id=s.name("unknown"))
    producer.end(committed=True)
    yield "after", _add(s, producer, both, verify=True)


def partitions_named_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = TransactionalProducer(s)

    def ask(name: str, *parts: list[int]) -> Any:
        return _add(s, producer, [{"name": name, "partitions": each} for each in parts])

    yield "an unknown partition", ask(topic, [7, 7])
    yield "an unknown topic", ask(s.name("unknown"), [0], [0])
    yield "a partition", ask(topic, [0, 0])
    yield "a topic", ask(topic, [0], [1])
    yield "a topic and a partition", ask(topic, [0], [0])
    yield "known and unknown", ask(topic, [0, 7], [0])


@question(since=4)
def id_named_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer, none = TransactionalProducer(s), s.name("none")

    def ask(*asked: tuple[dict[str, Any], int, bool]) -> Any:
        return s.ask(
            transactions=[
                {**ids, "verify_only": verify, "topics": [{"name": topic, "partitions": [index]}]}
                for ids, index, verify in asked
            ]
        )

    unknown = {**producer.ids, "transactional_id": none}
    yield "unknown", ask((unknown, 0, True), (unknown, 1, True))
    yield "adds", ask((producer.ids, 0, False), (producer.ids, 1, False))
    yield "verifies", ask((producer.ids, 0, True), (producer.ids, 1, True))
    yield "the same", ask((producer.ids, 0, True), (producer.ids, 0, True))
    yield "adds and verifies", ask((producer.ids, 0, False), (producer.ids, 1, True))
