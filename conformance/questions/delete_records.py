"""DeleteRecords (KIP-107)."""

from typing import Any

from ..registry import Scene, Steps, question


def _delete(s: Scene, *topics: tuple[str, list[tuple[int, int]]], client: Any = None) -> Any:
    asked = [
        {
            "name": name,
            "partitions": [{"partition_index": index, "offset": offset} for index, offset in parts],
        }
        for name, parts in topics
    ]
    return s.ask({"topics": asked, "timeout": 5000}, client=client)


def offsets(s: Scene) -> Steps:
    """-1 stands for the high watermark."""
    topic = s.topic()
    s.fill(topic, 5, 5)
    for offset in (0, 3, 3, 1, 11, -2, -(2**63), 10, 10):
        yield f"offset {offset}", _delete(s, (topic, [(0, offset)]))
    s.fill(topic, 2)
    yield "offset -1", _delete(s, (topic, [(0, -1)]))
    yield "log end", s.offset(topic)


def empty_log(s: Scene) -> Steps:
    topic = s.topic()
    for offset in (-1, 0, 1):
        yield f"offset {offset}", _delete(s, (topic, [(0, offset)]))


def unknown_partitions(s: Scene) -> Steps:
    topic = s.topic()
    yield "partition 1 of 1", _delete(s, (topic, [(1, 0)]))
    yield "unknown topic", _delete(s, (s.name("unknown"), [(0, 0)]))
    yield "known and unknown", _delete(s, (topic, [(0, 0)]), (s.name("unknown"), [(0, 0)]))
    yield "no topics", _delete(s)
    yield "no partitions", _delete(s, (topic, []))
    yield "same partition twice", _delete(s, (topic, [(0, 0), (0, -1)]))


def cleanup_policies(s: Scene) -> Steps:
    """DeleteRecords is refused for a topic whose cleanup.policy is only compact."""
    compacted = s.topic("compact", configs={"cleanup.policy": "compact"})
    yield "compact", _delete(s, (compacted, [(0, 0)]))
    both = s.topic("both", configs={"cleanup.policy": "compact,delete"})
    yield "compact,delete", _delete(s, (both, [(0, 0)]))
    yield "internal topic", _delete(s, ("__consumer_offsets", [(0, 0)]))


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    topic = s.topic(replicas=[[0, 1]])
    s.fill(topic, 3)
    yield "follower", _delete(s, (topic, [(0, 1)]), client=s.new_client(broker=1))
    yield "no replica", _delete(s, (topic, [(0, 1)]), client=s.new_client(broker=2))
    yield "leader", _delete(s, (topic, [(0, 2)]))


def records_of_a_topic_twice(s: Scene) -> Steps:
    topic, unknown = s.topic(partitions=2), s.name("unknown")
    s.fill(topic, 3)
    yield "another partition", _delete(s, (topic, [(0, 1)]), (topic, [(1, 0)]))
    yield "the same partition", _delete(s, (topic, [(0, 2)]), (topic, [(0, 3)]))
    yield "where it starts", s.offset(topic, timestamp=-2)
    yield "unknown", _delete(s, (unknown, [(0, 1)]), (unknown, [(0, 1)]))
