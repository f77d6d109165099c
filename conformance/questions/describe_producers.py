"""DescribeProducers: what a partition knows of its producers (KIP-664)."""

from typing import Any

from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps, question


def _describe(s: Scene, topic: str, *partitions: int) -> Any:
    return s.ask(topics=[{"name": topic, "partition_indexes": list(partitions) or [0]}])


def producers(s: Scene) -> Steps:
    topic = s.topic()
    yield "nobody", _describe(s, topic)
    producer = TransactionalProducer(s)
    producer.begin(topic)
    yield "open transaction", _describe(s, topic)
    producer.end(committed=True)
    yield "committed", _describe(s, topic)
    yield "unknown partition", _describe(s, topic, 7)
    yield "unknown topic", _describe(s, s.name("unknown"))
    yield "invalid topic", _describe(s, "a/b")


@question(brokers=3)
def another_leader(s: Scene) -> Steps:
    topic = s.topic(replicas=[[1, 0], [2, 1]])
    yield "follower, and no replica", _describe(s, topic, 0, 1)


def producers_of_a_partition_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    TransactionalProducer(s).begin(topic)

    def ask(name: str, *indexes: list[int]) -> Any:
        return s.ask(topics=[{"name": name, "partition_indexes": each} for each in indexes])

    yield "a partition", ask(topic, [0, 0])
    yield "a topic", ask(topic, [0], [1])
    yield "a topic and a partition", ask(topic, [0], [0])
    yield "an unknown partition", ask(topic, [7, 7])
    yield "an unknown topic", ask(s.name("unknown"), [0], [0])
