"""DescribeLogDirs: KIP-113, sizes of volumes by KIP-827, cordoned folders by KIP-1066."""

from collections.abc import Collection
from functools import partial
from typing import Any

from ...rig import batches
from ..registry import Scene, Steps, question
from .describe_configs import BROKER

_OF_A_MACHINE = ("log_dir", "total_bytes", "usable_bytes")


def _described(s: Scene, names: Collection[str], *, broker: int = 0, **asked: Any) -> Any:
    """What is said of topics of that name, and of the folder whatever is the same on every machine."""
    answer = s.ask(client=s.new_client(broker=broker), **asked)
    for folder in answer["results"]:
        for field in _OF_A_MACHINE:
            if field in folder:
                folder[field] = folder[field].startswith("/") if field == "log_dir" else folder[field] > 0
        folder["topics"] = [each for each in folder["topics"] if each["name"] in names]
    return answer


def _of(topic: str, *partitions: int) -> dict[str, Any]:
    return {"topic": topic, "partitions": list(partitions)}


def partitions(s: Scene) -> Steps:
    one, two = s.topic("one", 2), s.topic("two")
    both = (one, two)
    yield "all", _described(s, both, topics=None)
    s.produce(one, batches.batch(3))
    s.produce(one, batches.batch(200), 1)
    yield "written", _described(s, both, topics=None)
    yield "some", _described(s, both, topics=[_of(one, 1)])
    yield "again", _described(s, both, topics=[_of(one, 1, 1), _of(two, 0), _of(one, 1)])
    yield "unknown", _described(s, both, topics=[_of(one, 2, -1), _of(s.name("unknown"), 0)])
    yield "odd names", _described(s, both, topics=[_of("", 0), _of("a/b", 0)])
    yield "no partitions", _described(s, both, topics=[_of(one)])
    yield "no topics", _described(s, both, topics=[])


def records_deleted(s: Scene) -> Steps:
    """The size is that of segments, whatever is below the log start offset."""
    topic = s.topic()
    s.produce(topic, batches.batch(3))
    s.delete_records(topic, 2)
    yield "the log starts at 2", _described(s, [topic], topics=None)


@question(brokers=3)
def replicas(s: Scene) -> Steps:
    topic = s.topic(replicas=[[0, 1], [1, 2]])
    s.produce(topic, batches.batch(3))
    for rank in range(3):
        yield f"broker {rank}", _described(s, [topic], broker=rank, topics=None)


@question(since=5)
def cordoned(s: Scene) -> Steps:
    """A broker hears of its configuration a little later."""
    for value in ("*", None):
        _configure(s, value)
        yield f"{value}", s.until(partial(_cordoned, s, value is not None), "the folder to be so")


def _cordoned(s: Scene, wanted: bool) -> Any:
    answer = _described(s, [], topics=[])
    return answer if answer["results"][0]["is_cordoned"] is wanted else None


def _configure(s: Scene, value: str | None) -> None:
    answer = s.configure(BROKER, str(s.node(0)), cordoned_log_dirs=value)
    assert answer["responses"][0]["error_code"] == "NONE", answer
