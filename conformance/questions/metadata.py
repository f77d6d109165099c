"""Metadata: KIP-4, KIP-204 (auto creation), KIP-430 (authorized operations), KIP-516 (topic ids)."""

from collections import Counter
from typing import Any

from ...rig.scene import UNKNOWN_TOPIC_ID
from ..registry import Scene, Steps, question

INVALID_NAMES = {
    "empty": "",
    "dot": ".",
    "two dots": "..",
    "250 characters": "x" * 250,
    "space": "a b",
    "slash": "a/b",
    "colon": "a:b",
    "umlaut": "ä",
    "newline": "a\nb",
}


def _topics(s: Scene, *names: str | None, create: bool = False, **more: Any) -> Any:
    return s.ask(topics=[{"name": name} for name in names], allow_auto_topic_creation=create, **more)


def _mine(s: Scene, answer: Any) -> Any:
    """Only the topics of this question: the cluster has others."""
    return {**answer, "topics": [each for each in answer["topics"] if s.suffix in (each["name"] or "")]}


def no_topics(s: Scene) -> Steps:
    """An empty list asks for no topics, and in v0 for all."""
    s.topic()
    yield "empty list", _mine(s, s.ask(topics=[], allow_auto_topic_creation=False))


@question(since=1)
def null_topics(s: Scene) -> Steps:
    """null asks for all topics."""
    s.topic("a")
    s.topic("b", partitions=2)
    yield "null", _mine(s, s.ask(topics=None, allow_auto_topic_creation=False))


def one_topic(s: Scene) -> Steps:
    yield "one partition", _topics(s, s.topic())
    yield "three partitions", _topics(s, s.topic("three", partitions=3))


def several_topics(s: Scene) -> Steps:
    a, b = s.topic("a"), s.topic("b")
    yield "two", _topics(s, b, a)
    yield "one of them twice", _topics(s, a, b, a)


@question(since=4)
def unknown_topic(s: Scene) -> Steps:
    """Without auto creation."""
    name = s.name("unknown")
    yield "unknown", _topics(s, name)
    yield "known and unknown", _topics(s, s.topic(), name)
    yield "still unknown", _topics(s, name)


def auto_creation(s: Scene) -> Steps:
    """Up to v3 every request creates, from v4 on those that allow it (KIP-361)."""
    name = s.name("auto")
    yield "first", _topics(s, name, create=True)
    s.forget_later(name)
    s.until(lambda: _created(s, name))
    yield "later", _topics(s, name, create=True)


def _created(s: Scene, name: str) -> bool:
    found = s.described(name)
    return bool(found["error_code"] == "NONE" and found["partitions"][0]["leader_id"] >= 0)


@question(newest_only=True)
def auto_creation_of_many(s: Scene) -> Steps:
    """The controller is asked to create all of them in one request; it accepts 10000 records, and each takes
    two."""
    names = [s.name(f"many{number}") for number in range(5001)]
    yield "5001", _errors(_topics(s, *names, create=True))
    last = s.name("last")
    _topics(s, last, create=True)
    s.forget_later(last)
    s.until(lambda: _created(s, last))
    yield "later", _errors(_topics(s, *names))


def _errors(answer: Any) -> Any:
    """How many topics have which error."""
    return (
        answer if isinstance(answer, str) else dict(Counter(each["error_code"] for each in answer["topics"]))
    )


def auto_creation_of_invalid_names(s: Scene) -> Steps:
    for label, name in INVALID_NAMES.items():
        yield label, _topics(s, name, create=True)["topics"]


@question(since=4)
def invalid_names(s: Scene) -> Steps:
    for label, name in INVALID_NAMES.items():
        yield label, _topics(s, name)["topics"]


def auto_creation_of_a_colliding_name(s: Scene) -> Steps:
    """`a.b` and `a_b` would share metric names."""
    s.topic("col.lide")
    yield "collides", _topics(s, s.name("col_lide"), create=True)["topics"]
    yield "again", _topics(s, s.name("col_lide"), create=True)["topics"]


def internal_topic(s: Scene) -> Steps:
    yield "__consumer_offsets", _topics(s, "__consumer_offsets")["topics"]


@question(since=12)
def by_topic_id(s: Scene) -> Steps:
    topic = s.topic()
    ident = s.topic_id(topic)

    def ask(**fields: Any) -> Any:
        return s.ask(topics=[fields], allow_auto_topic_creation=False)["topics"]

    yield "known id", ask(topic_id=ident, name=None)
    yield "unknown id", ask(topic_id=UNKNOWN_TOPIC_ID, name=None)
    yield "known id and its name", ask(topic_id=ident, name=topic)
    yield "unknown id and a known name", ask(topic_id=UNKNOWN_TOPIC_ID, name=topic)
    yield "known id and another name", ask(topic_id=ident, name=s.name("other"))
    yield "zero id, null name", ask(topic_id=None, name=None)


@question(since=12)
def by_topic_id_and_by_name(s: Scene) -> Steps:
    a, b = s.topic("a"), s.topic("b")
    mixed = [{"topic_id": s.topic_id(a), "name": None}, {"topic_id": None, "name": b}]
    yield "one of each", s.ask(topics=mixed, allow_auto_topic_creation=False)["topics"]
    twice = [{"topic_id": s.topic_id(a), "name": None}] * 2
    yield "the same id twice", s.ask(topics=twice, allow_auto_topic_creation=False)["topics"]
    two = [{"topic_id": s.topic_id(a), "name": None}, {"topic_id": UNKNOWN_TOPIC_ID, "name": None}]
    yield "known and unknown id", s.ask(topics=two, allow_auto_topic_creation=False)["topics"]
    creating = [{"topic_id": UNKNOWN_TOPIC_ID, "name": None}]
    yield "unknown id, auto creation", s.ask(topics=creating, allow_auto_topic_creation=True)["topics"]


@question(at=(10, 11))
def topic_id_before_v12(s: Scene) -> Steps:
    """v10 and v11 have the field but must not use it (KAFKA-12701)."""
    topic = s.topic()
    by_id = [{"topic_id": s.topic_id(topic), "name": None}]
    yield "id, null name", s.ask(topics=by_id, allow_auto_topic_creation=False)
    both = [{"topic_id": s.topic_id(topic), "name": topic}]
    yield "id and name", s.ask(topics=both, allow_auto_topic_creation=False)


@question(since=8)
def authorized_operations(s: Scene) -> Steps:
    """KIP-430; those of the cluster moved to DescribeCluster with v11."""
    topic = s.topic()
    names = [topic, s.name("unknown"), "__consumer_offsets"]
    for flag in ("include_topic_authorized_operations", "include_cluster_authorized_operations"):
        yield flag, _topics(s, *names, **{flag: True})


@question(since=4)
def deleted_topic(s: Scene) -> Steps:
    topic = s.topic()
    s.delete_topic(topic)
    s.until(lambda: s.described(topic)["error_code"] != "NONE")
    yield "by name", _topics(s, topic)["topics"]
    if s.version >= 12:
        by_id = [{"topic_id": s.topic_id(topic), "name": None}]
        yield "by id", s.ask(topics=by_id, allow_auto_topic_creation=False)["topics"]


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    topic = s.topic(replicas=[[0, 1], [1, 2], [2, 0]])
    for rank in range(3):
        client = s.new_client(broker=rank)
        asked = {"topics": [{"name": topic}], "allow_auto_topic_creation": False}
        yield f"asked of broker {rank}", s.ask(asked, client=client)


@question(since=12)
def by_id_and_by_name(s: Scene) -> Steps:
    topic = s.topic()
    by_id, by_name = {"topic_id": s.topic_id(topic), "name": None}, {"topic_id": None, "name": topic}
    unknown = {"topic_id": UNKNOWN_TOPIC_ID, "name": None}
    for label, topics in {
        "id, name": [by_id, by_name],
        "name, id": [by_name, by_id],
        "an unknown id twice": [unknown, unknown],
    }.items():
        yield label, s.ask(topics=topics, allow_auto_topic_creation=False)["topics"]


@question(since=4)
def unknown_topic_twice(s: Scene) -> Steps:
    unknown = s.name("unknown")
    yield "unknown", _topics(s, unknown, unknown)["topics"]
    yield "invalid", _topics(s, "a b", "a b")["topics"]
