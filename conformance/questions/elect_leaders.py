"""ElectLeaders (KIP-183, KIP-460)."""

from typing import Any

from ..registry import Scene, Steps, question

PREFERRED, UNCLEAN = 0, 1


def _elect(s: Scene, *topics: tuple[str, list[int]], kind: int = PREFERRED, timeout: int = 10000) -> Any:
    named = [{"topic": name, "partitions": partitions} for name, partitions in topics]
    return s.ask(election_type=kind, topic_partitions=named, timeout=timeout)


def _elect_all(s: Scene, kind: int = PREFERRED, timeout: int = 10000) -> Any:
    """The answer's entries for the topics of this question; there may be others."""
    answer = s.ask(election_type=kind, topic_partitions=None, timeout=timeout)
    results = answer["replica_election_results"]
    answer["replica_election_results"] = [each for each in results if s.suffix in each["topic"]]
    return answer


def named_partitions(s: Scene) -> Steps:
    a, b = s.topic("a", 2), s.topic("b")
    for kind, label in ((PREFERRED, "preferred"), (UNCLEAN, "unclean")):
        yield f"{label}: not needed", _elect(s, (a, [0, 1]), (b, [0]), kind=kind)
        yield f"{label}: unknown topic", _elect(s, (s.name("none"), [0, 1]), kind=kind)
        yield f"{label}: unknown partition", _elect(s, (a, [1, 2, -1]), kind=kind)
        yield f"{label}: some unknown", _elect(s, (a, [0]), (s.name("none"), [0]), kind=kind)
        yield f"{label}: an invalid name", _elect(s, ("", [0]), ("a b", [0]), kind=kind)
        yield f"{label}: no partitions", _elect(s, (a, []), kind=kind)
        yield f"{label}: a partition twice", _elect(s, (a, [0, 0]), kind=kind)
        yield f"{label}: a topic twice", _elect(s, (a, [0]), (a, [1]), kind=kind)
        yield f"{label}: no topics", _elect(s, kind=kind)


def all_partitions(s: Scene) -> Steps:
    s.topic("a", 2)
    yield "preferred", _elect_all(s)
    yield "unclean", _elect_all(s, UNCLEAN)


@question(since=1)
def election_types(s: Scene) -> Steps:
    topic = s.topic()
    for kind in (2, -1, 127):
        yield f"type {kind}", _elect(s, (topic, [0]), kind=kind)
        yield f"type {kind}, all partitions", _elect_all(s, kind)


def timeouts(s: Scene) -> Steps:
    topic = s.topic("a", 2)
    for timeout in (0, -1, -(2**31)):
        yield f"{timeout} ms", _elect(s, (topic, [0, 1]), timeout=timeout)
        yield f"{timeout} ms, unknown topic", _elect(s, (s.name("none"), [0]), timeout=timeout)
        yield f"{timeout} ms, all partitions", _elect_all(s, timeout=timeout)
        yield f"{timeout} ms, no topics", _elect(s, timeout=timeout)


def _led_by(s: Scene, topic: str, rank: int) -> bool:
    return all(each["leader_id"] == s.node(rank) for each in s.described(topic)["partitions"])


@question(brokers=3)
def a_preferred_leader_that_does_not_lead(s: Scene) -> Steps:
    """A reassignment changed which replica comes first, but not the leader."""
    for label in ("named", "all"):
        moved, stays = s.topic(label, replicas=[[0, 1]]), s.topic(f"{label}-stays", replicas=[[0, 1]])
        replicas = [s.node(1), s.node(0)]
        turned = {"name": moved, "partitions": [{"partition_index": 0, "replicas": replicas}]}
        s.call("alter_partition_reassignments", {"timeout": 10000, "topics": [turned]})

        def turned_round(moved: str = moved, replicas: list[int] = replicas) -> bool:
            (partition,) = s.described(moved)["partitions"]
            return list(partition["replica_nodes"]) == replicas and len(partition["isr_nodes"]) == 2

        s.until(turned_round)
        yield f"{label}: unclean", _elect(s, (moved, [0]), kind=UNCLEAN) if s.version else None
        yield (
            f"{label}: preferred",
            _elect_all(s) if label == "all" else _elect(s, (moved, [0]), (stays, [0])),
        )
        s.until(lambda moved=moved: _led_by(s, moved, 1))  # type: ignore[misc]
        yield f"{label}: again", _elect_all(s) if label == "all" else _elect(s, (moved, [0]), (stays, [0]))
