"""DescribeQuorum: KIP-595, times of followers by KIP-836, directories and endpoints by KIP-853."""

from functools import partial
from typing import Any, Final

from ...rig.scene import CLOSED
from .. import quorums
from ..registry import Scene, Steps, question

METADATA: Final = "__cluster_metadata"


def _of(*topics: tuple[str, tuple[int, ...]]) -> dict[str, Any]:
    return {
        "topics": [
            {"topic_name": name, "partitions": [{"partition_index": index} for index in partitions]}
            for name, partitions in topics
        ]
    }


def _described(s: Scene, asked: dict[str, Any], *, broker: int = 0) -> Any:
    """The answer, and of offsets, epochs and times only what is the same in every cluster."""
    answer = s.ask(asked, client=s.new_client(broker=broker))
    if answer == CLOSED:
        return CLOSED
    return quorums.shown(answer, partial(_rank, s), s.now_s() * 1000)


def _rank(s: Scene, node: int) -> int:
    return [each for each, _, _ in s.target.nodes].index(node)


def quorum(s: Scene) -> Steps:
    yield "the quorum", _described(s, _of((METADATA, (0,))))


def other_partitions(s: Scene) -> Steps:
    """Only one partition may be asked for."""
    topic = s.topic()
    for label, asked in {
        "another partition": _of((METADATA, (1,))),
        "a negative partition": _of((METADATA, (-1,))),
        "two partitions": _of((METADATA, (0, 1))),
        "twice the same": _of((METADATA, (0, 0))),
        "no partition": _of((METADATA, ())),
        "no topic": _of(),
        "another topic": _of((topic, (0,))),
        "an unknown topic": _of((s.name("unknown"), (0, 1))),
        "an empty name": _of(("", (0,))),
        "two topics": _of((METADATA, (0,)), (topic, (0,))),
        "two topics, the other first": _of((topic, (0,)), (METADATA, (0,))),
        "twice the topic": _of((METADATA, (0,)), (METADATA, (0,))),
    }.items():
        yield label, _described(s, asked)


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    """Each broker asks the leader of the quorum. Brokers are observers."""
    for rank in range(3):
        yield f"broker {rank}", s.until(partial(_complete, s, rank), "all observers")


def _complete(s: Scene, rank: int) -> Any:
    answer = _described(s, _of((METADATA, (0,))), broker=rank)
    (partition,) = answer["topics"][0]["partitions"]
    told = len(partition["observers"]) == 2
    fresh = all(each.get("last_fetch_timestamp", "<now>") == "<now>" for each in partition["observers"])
    return answer if told and fresh else None
