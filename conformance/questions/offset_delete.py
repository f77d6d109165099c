"""OffsetDelete (KIP-496)."""

from typing import Any

from ...rig.group_scene import commit, committed, committed_offsets, stable, subscription
from ..registry import Scene, Steps


def _delete(s: Scene, group: str, *topics: tuple[str, list[int]]) -> Any:
    asked = [
        {"name": name, "partitions": [{"partition_index": index} for index in parts]}
        for name, parts in topics
    ]
    return s.ask(group_id=group, topics=asked)


def no_members(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=3)
    for partition in range(2):
        commit(s, group, topic, 5, partition)
    yield "committed", _delete(s, group, (topic, [0]))
    yield "left", committed(s, group)
    yield "not committed", _delete(s, group, (topic, [2]))
    yield "partition 7", _delete(s, group, (topic, [7]))
    yield "unknown topic", _delete(s, group, (s.name("unknown"), [0]))
    yield "the last one", _delete(s, group, (topic, [1]))
    yield "then", _delete(s, group, (topic, [1]))


def unknown_groups(s: Scene) -> Steps:
    topic = s.topic()
    yield "unknown", _delete(s, s.name("none"), (topic, [0]))
    yield "empty id", _delete(s, "", (topic, [0]))
    group = s.name("g")
    commit(s, group, topic)
    yield "no topics", _delete(s, group)
    yield "no partitions", _delete(s, group, (topic, []))


def subscribed_topic(s: Scene) -> Steps:
    """The offsets of a topic that the group subscribes to are protected, others are not."""
    group, topic, other = s.name("g"), s.topic(), s.topic("other")
    commit(s, group, topic)
    commit(s, group, other)
    stable(s, group, protocols=[{"name": "range", "metadata": subscription(topic)}])
    yield "both", _delete(s, group, (topic, [0]), (other, [0]))
    yield "left", committed(s, group)


def group_that_is_no_consumer(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    commit(s, group, topic)
    member = stable(s, group, protocol_type="connect")
    yield "stable", _delete(s, group, (topic, [0]))
    member.leave()
    yield "empty", _delete(s, group, (topic, [0]))


def offsets_named_twice(s: Scene) -> Steps:
    group, topic, unknown = s.name("g"), s.topic(partitions=3), s.name("unknown")
    for partition in range(3):
        commit(s, group, topic, 5, partition)
    yield "a partition", _delete(s, group, (topic, [0, 0]))
    yield "left", committed_offsets(s, group)
    yield "an unknown partition", _delete(s, group, (topic, [7, 7]))
    yield "an unknown topic", _delete(s, group, (unknown, [0]), (unknown, [0]))
    yield "a topic", _delete(s, group, (topic, [1]), (topic, [2]))
    yield "left then", committed_offsets(s, group)


def subscribed_topic_named_twice(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    commit(s, group, topic)
    stable(s, group, protocols=[{"name": "range", "metadata": subscription(topic)}])
    yield "a topic and a partition", _delete(s, group, (topic, [0, 0]), (topic, [0, 0]))
