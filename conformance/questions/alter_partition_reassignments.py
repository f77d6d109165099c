"""AlterPartitionReassignments (KIP-455)."""

from typing import Any

from ..registry import Scene, Steps, question


def _alter(
    s: Scene, *topics: tuple[str, dict[int, list[int] | None]], timeout: int = 10000, factor: bool = True
) -> Any:
    named = [
        {"name": name, "partitions": [{"partition_index": p, "replicas": r} for p, r in moved.items()]}
        for name, moved in topics
    ]
    return s.ask(topics=named, timeout=timeout, allow_replication_factor_change=factor)


def one_broker(s: Scene) -> Steps:
    topic, node = s.topic("t", 2), s.node(0)
    yield "as it is", _alter(s, (topic, {0: [node]}))
    yield "cancel what is not there", _alter(s, (topic, {0: None, 1: None}))
    yield "cancel in an unknown partition", _alter(s, (topic, {2: None, -1: None}))
    yield "cancel in an unknown topic", _alter(s, (s.name("none"), {0: None}))
    yield "no replicas", _alter(s, (topic, {0: []}))
    yield "unknown broker", _alter(s, (topic, {0: [9999]}))
    yield "negative broker", _alter(s, (topic, {0: [-1]}))
    yield "broker twice", _alter(s, (topic, {0: [node, node]}))
    yield "broker twice, another unknown", _alter(s, (topic, {0: [node, node, 9999]}))
    yield "another unknown, broker twice", _alter(s, (topic, {0: [9999, node, node]}))
    yield "unknown topic", _alter(s, (s.name("none"), {0: [node]}))
    yield "unknown partition", _alter(s, (topic, {2: [node], -1: [node]}))
    yield "a topic twice", _alter(s, (topic, {0: [node]}), (topic, {1: [node]}))
    yield "no partitions", _alter(s, (topic, {}))
    yield "no topics", _alter(s)


def timeouts(s: Scene) -> Steps:
    topic, node = s.topic("t", 2), s.node(0)
    for timeout in (0, -1, -(2**31)):
        yield f"{timeout} ms", _alter(s, (topic, {0: [node], 1: None}), timeout=timeout)
        yield f"{timeout} ms, unknown topic", _alter(s, (s.name("none"), {0: [node]}), timeout=timeout)
        yield f"{timeout} ms, no topics", _alter(s, timeout=timeout)


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    nodes = [s.node(rank) for rank in range(3)]
    topic = s.topic("t", replicas=[[0, 1], [1, 2]])

    def replicas() -> list[list[int]]:
        found = sorted(s.described(topic)["partitions"], key=lambda each: int(each["partition_index"]))
        whole = all(len(each["replica_nodes"]) == len(each["isr_nodes"]) for each in found)
        return [list(each["replica_nodes"]) for each in found] if whole else []

    yield "another broker", _alter(s, (topic, {0: [nodes[0], nodes[2]], 1: [nodes[0]], 5: [nodes[0]]}))
    s.until(lambda: replicas() == [[nodes[0], nodes[2]], [nodes[0]]])
    yield "one more", _alter(s, (topic, {1: nodes}))
    s.until(lambda: replicas()[1:] == [nodes])
    yield "one more, not allowed", _alter(s, (topic, {0: nodes}), factor=False)
    yield "one less, not allowed", _alter(s, (topic, {0: nodes[:1]}), factor=False)
    yield "as many, not allowed", _alter(s, (topic, {0: [nodes[2], nodes[0]]}), factor=False)
    yield "unknown broker, not allowed", _alter(s, (topic, {0: [*nodes, 9999]}), factor=False)


def reassignments_named_twice(s: Scene) -> Steps:
    topic, node, none = s.topic("t", 2), s.node(0), s.name("none")

    def ask(*parts: tuple[int, list[int] | None]) -> Any:
        moved = [{"partition_index": index, "replicas": replicas} for index, replicas in parts]
        topics = [{"name": topic, "partitions": moved}]
        return s.ask(topics=topics, timeout=10000, allow_replication_factor_change=True)

    yield "a partition", ask((0, [node]), (0, [node]))
    yield "good and bad", ask((0, [node]), (0, [9999]))
    yield "a cancellation", ask((0, None), (0, None))
    yield "an unknown partition", ask((7, [node]), (7, [node]))
    yield "an unknown topic", _alter(s, (none, {0: [node]}), (none, {0: [node]}))
