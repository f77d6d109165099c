"""ListPartitionReassignments (KIP-455)."""

from typing import Any

from ..registry import Scene, Steps


def nothing_moves(s: Scene) -> Steps:
    topic = s.topic("t", 2)
    for timeout in (10000, 0, -1):
        yield f"all, {timeout} ms", s.ask(topics=None, timeout=timeout)
        for label, name, indexes in (
            ("a topic", topic, [0, 1]),
            ("unknown partition", topic, [7]),
            ("unknown topic", s.name("none"), [0]),
        ):
            asked = [{"name": name, "partition_indexes": indexes}]
            yield f"{label}, {timeout} ms", s.ask(topics=asked, timeout=timeout)
        yield f"no topics, {timeout} ms", s.ask(topics=[], timeout=timeout)


def listed_twice(s: Scene) -> Steps:
    topic = s.topic("t", 2)

    def ask(name: str, *indexes: list[int]) -> Any:
        topics = [{"name": name, "partition_indexes": each} for each in indexes]
        return s.ask(topics=topics, timeout=10000)

    yield "a partition", ask(topic, [0, 0])
    yield "a topic", ask(topic, [0], [0])
    yield "an unknown topic", ask(s.name("none"), [0], [0])
