"""Topologies of streams groups, and the topics that they need."""

from typing import Any

from mockbroker.rig.stories import Steps

from .stage import StreamsStage


def missing_topics(s: StreamsStage) -> Steps:
    """Topics that are not there yet."""
    one = s.member()
    yield "no source", one.join(*s.words())
    yield "described", s.described()
    s.topic("lines", 3)

    def told() -> bool:
        return bool(one.beat()["status"][0]["status_code"] != 1)

    s.brokers.until(told, "the source to be known")
    s.settle([one])
    yield "described with topics", s.described()
    yield "epochs", s.state()
    many = [s.reading(*"fedcba")]
    yield "many sources", s.member("B", "h").join(*many)["status"]


def partition_counts(s: StreamsStage) -> Steps:
    """How many partitions internal topics get."""
    s.topic("a", 2)
    s.topic("b", 3)
    fixed = [
        s.reading("a", "b", repartition_sink_topics=[s.named("r"), s.named("f")]),
        {
            "subtopology_id": "1",
            "repartition_source_topics": [s.internal("r"), s.internal("f", 5)],
            "state_changelog_topics": [s.internal("c")],
        },
    ]
    one = s.member()
    one.run(*fixed)
    yield "tasks", s.settle([one])
    yield "described", s.described()[0]["topology"]
    for name in ("r", "f", "c"):
        (found,) = s.ask("metadata", {"topics": [{"name": s.named(name)}]}, version=9)["topics"]
        yield f"partitions of {name}", len(found["partitions"])


def refused(s: StreamsStage) -> Steps:
    """Topologies that can't be."""
    s.topic("a", 2)
    s.topic("b", 3)
    loop = [
        {
            "subtopology_id": each,
            "repartition_source_topics": [s.internal(source)],
            "repartition_sink_topics": [s.named(sink)],
        }
        for each, source, sink in (("0", "x", "y"), ("1", "y", "x"))
    ]
    cases: dict[str, list[Any]] = {
        "a loop": loop,
        "never written": [s.reading("a", repartition_source_topics=[s.internal("x")])],
        "no sources": [{"subtopology_id": "0"}],
        "no subtopologies": [],
        "changelog with partitions": [s.reading("a", state_changelog_topics=[s.internal("c", 2)])],
        "regular expression": [s.reading("a", source_topic_regex=["x.*"])],
        "internal topic": [{"subtopology_id": "0", "source_topics": ["__consumer_offsets"]}],
        "bad names": [{"subtopology_id": "0", "source_topics": ["a b", ""]}],
        "not copartitioned": [s.reading("a", "b", copartition_groups=[{"source_topics": [0, 1]}])],
        "fixed by another": [
            s.reading("a", repartition_sink_topics=[s.named("x")], name="1"),
            s.reading(
                "a",
                repartition_source_topics=[s.internal("x", 5)],
                copartition_groups=[{"source_topics": [0], "repartition_source_topics": [0]}],
            ),
        ],
        "place that is not there": [s.reading("a", copartition_groups=[{"source_topics": [4]}])],
        "twice the same": [s.reading("a"), s.reading("b")],
    }
    for number, (label, topology) in enumerate(cases.items()):
        yield label, s.member("A", f"g{number}").join(*topology)
    s.topic("c", 1)
    yield (
        "existing changelog",
        s.member("A", "old").join(s.reading("b", state_changelog_topics=[s.internal("c")])),
    )
    bad = [s.reading("a", state_changelog_topics=[s.internal("d", nonsense="1"), s.internal("e")])]
    one = s.member("A", "bad")
    yield "bad configuration", one.join(*bad)["status"]

    def other() -> bool:
        return s.named("e") not in one.beat()["status"][0]["status_detail"]

    s.brokers.until(other, "the other topic to be there")
    yield "after it failed", one.beat()["status"]


def changes(s: StreamsStage) -> Steps:
    """Members with different topologies."""
    s.topic("lines")
    s.topic("other")
    one, two = s.member(), s.member("B")
    one.run(*s.words(), epoch=1)
    yield "another topology", two.join(s.reading("other"), epoch=1)
    yield "the same in another order", two.join(*reversed(s.words()), epoch=1)["error_code"]
    yield "an earlier epoch", two.join(s.reading("other"), epoch=0)
    yield "it is told again", two.beat()
    yield "a later epoch", two.join(*s.words(), epoch=2)
    yield "described", s.described()
    one.leave()
    two.leave()
    yield "an empty group", one.join(s.reading("other"), epoch=5)


def growing(s: StreamsStage) -> Steps:
    """A source gets more partitions, and goes."""
    s.topic("lines", 1)
    one = s.member()
    topology = [s.reading("lines")]
    one.run(*topology)
    yield "one task", s.settle([one])
    more = {"topics": [{"name": s.named("lines"), "count": 3, "assignments": None}], "timeout": 20_000}
    s.ask("create_partitions", more)

    def grown() -> bool:
        one.beat()
        return len(one.owned["active_tasks"][0]["partitions"]) == 3

    s.brokers.until(grown, "more tasks")
    yield "three tasks", s.settle([one])
    deleting = {"topics": [{"name": s.named("lines"), "topic_id": None}], "timeout": 20_000}
    s.ask("delete_topics", deleting, version=6)

    def gone() -> bool:
        return bool(one.beat()["status"])

    s.brokers.until(gone, "the source to be gone")
    yield "gone", one.beat()
    yield "described", s.described()
