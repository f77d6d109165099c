"""CreatePartitions (KIP-195)."""

from collections.abc import Sequence
from typing import Any

from ..registry import Scene, Steps, question


def _grow(
    s: Scene,
    name: str,
    count: int,
    assigned: Sequence[Sequence[int]] | None = None,
    validate_only: bool = False,
) -> Any:
    given = None if assigned is None else [{"broker_ids": list(brokers)} for brokers in assigned]
    topic = {"name": name, "count": count, "assignments": given}
    return s.ask(topics=[topic], timeout=10000, validate_only=validate_only)


def _partitions(s: Scene, name: str) -> int:
    return len(s.described(name)["partitions"])


def counts(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    for count in (2, 1, 0, -1):
        yield str(count), _grow(s, topic, count)
    yield "3", _grow(s, topic, 3)
    s.until(lambda: _partitions(s, topic) == 3)
    yield "3 again", _grow(s, topic, 3)


def names(s: Scene) -> Steps:
    yield "unknown", _grow(s, s.name("unknown"), 2)
    yield "empty", _grow(s, "", 2)
    yield "invalid", _grow(s, "a b", 2)


def several(s: Scene) -> Steps:
    a, b = s.topic("a"), s.topic("b")
    items = [{"name": name, "count": count, "assignments": None} for name, count in ((a, 2), (b, 1), (a, 3))]
    yield "one twice", s.ask(topics=items, timeout=10000, validate_only=False)
    yield (
        "good and bad",
        s.ask(topics=[{**items[2], "count": 2}, items[1]], timeout=10000, validate_only=False),
    )
    yield "none", s.ask(topics=[], timeout=10000, validate_only=False)


def assignments(s: Scene) -> Steps:
    node = s.node(0)
    topic = s.topic()
    yield "too few", _grow(s, topic, 3, [[node]])
    yield "too many", _grow(s, topic, 2, [[node], [node]])
    yield "empty", _grow(s, topic, 2, [])
    yield "unknown broker", _grow(s, topic, 2, [[9999]])
    yield "broker twice", _grow(s, topic, 2, [[node, node]])
    yield "no replicas", _grow(s, topic, 2, [[]])
    yield "other replication factor", _grow(s, topic, 2, [[node, 9999]])
    yield "right", _grow(s, topic, 3, [[node], [node]])
    s.until(lambda: _partitions(s, topic) == 3)
    yield "partitions", _partitions(s, topic)


def validate_only(s: Scene) -> Steps:
    topic = s.topic()
    yield "valid", _grow(s, topic, 2, validate_only=True)
    yield "invalid", _grow(s, topic, 1, validate_only=True)
    yield "10002 partitions", _grow(s, topic, 10_002, validate_only=True)
    yield "partitions", _partitions(s, topic)


@question(newest_only=True)
def many_partitions(s: Scene) -> Steps:
    """A batch holds 10000 records, one for each partition. Up to 4.3 topics are handled in no particular
    order."""
    a, b = s.topic("a"), s.topic("b")

    def asked(*counts: tuple[str, int]) -> Any:
        topics = [{"name": name, "count": count, "assignments": None} for name, count in counts]
        return s.ask(topics=topics, timeout=10000, validate_only=True)

    yield "10001", asked((a, 10_001))
    yield "two of 5001", asked((a, 5001), (b, 5001))
    both = asked((a, 5002), (b, 5002))
    yield "two of 5002", sorted((each["error_code"], each["error_message"]) for each in both["results"])
    yield "10001 and 3, of no topic", asked((a, 10_001), (s.name("unknown"), 3))
    yield "10002 of no topic, and 2", asked((s.name("unknown"), 10_002), (b, 2))
    yield "10002 and fewer than there are", asked((a, 10_002), (b, 0))
    yield "fewer than there are and 10002", asked((b, 0), (a, 10_002))
    yield "10002 twice", asked((a, 10_002), (a, 10_002), (b, 2))


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    a, b, c = (s.node(rank) for rank in range(3))
    topic = s.topic(replicas=[[0, 1]])
    yield "other replication factor", _grow(s, topic, 2, [[a]])
    yield "different ones", _grow(s, topic, 3, [[a, b], [c]])
    yield "right", _grow(s, topic, 3, [[c, a], [b, c]])
    s.until(lambda: _partitions(s, topic) == 3)
    found = s.described(topic)["partitions"]
    yield (
        "replicas",
        [{"replica_nodes": each["replica_nodes"], "partition": each["partition_index"]} for each in found],
    )
