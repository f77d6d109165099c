"""DescribeProducers: what a partition knows of its producers (KIP-664)."""

from typing import Any

from ...rig.scene import Scene
from ...rig.transaction_scene import Producer
from ..registry import Steps, about

question = about("describe_producers")


def _describe(s: Scene, topic: str, *partitions: int) -> Any:
    return s.ask(topics=[{"name": topic, "partition_indexes": list(partitions) or [0]}])


@question()
def producers(s: Scene) -> Steps:
    topic = s.topic()
    yield "nobody", _describe(s, topic)
    producer = Producer(s)
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
