"""DescribeTopicPartitions (KIP-966)."""

from typing import Any

from ..registry import Scene, Steps, question


def _describe(s: Scene, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Any:
    at = None if cursor is None else {"topic_name": cursor[0], "partition_index": cursor[1]}
    return s.ask(topics=[{"name": name} for name in names], response_partition_limit=limit, cursor=at)


def topics(s: Scene) -> Steps:
    a, b = s.topic("a", partitions=2), s.topic("b")
    yield "one", _describe(s, a)
    yield "two", _describe(s, b, a)
    yield "one twice", _describe(s, a, a)
    yield "unknown", _describe(s, a, s.name("unknown"))
    yield "invalid name", _describe(s, "a b")
    yield "empty name", _describe(s, "")
    yield "internal", _describe(s, "__consumer_offsets")


def all_topics(s: Scene) -> Steps:
    """An empty list asks for all topics; only those of this question are kept, since the cluster has
    others."""
    s.topic("a")
    s.topic("b")
    answer = _describe(s)
    yield "all", [each for each in answer["topics"] if s.suffix in each["name"]]


def limits(s: Scene) -> Steps:
    """The cursor says where to continue."""
    a, b = s.topic("a", partitions=3), s.topic("b", partitions=2)
    for limit in (1, 2, 3, 4, 5, 6, 0, -1):
        yield f"limit {limit}", _describe(s, a, b, limit=limit)


def cursors(s: Scene) -> Steps:
    a, b = s.topic("a", partitions=3), s.topic("b", partitions=2)
    for name, partition in ((a, 0), (a, 1), (a, 3), (b, 0), (b, 1)):
        label = f"{'a' if name == a else 'b'}, partition {partition}"
        yield label, _describe(s, a, b, cursor=(name, partition))
    yield "another topic", _describe(s, a, b, cursor=(s.name("aa"), 0))
    yield "past all", _describe(s, a, b, cursor=(s.name("z"), 0))
    yield "negative partition", _describe(s, a, b, cursor=(a, -1))
    yield "with a limit", _describe(s, a, b, cursor=(a, 1), limit=3)


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    topic = s.topic(replicas=[[0, 1, 2], [2, 0, 1]])
    yield "two partitions", _describe(s, topic)


def unknown_twice(s: Scene) -> Steps:
    unknown = s.name("unknown")
    yield "unknown", _describe(s, unknown, unknown, limit=10)
