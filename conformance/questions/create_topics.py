"""CreateTopics: KIP-4, KIP-464 (defaults), KIP-525 (returned configs), KIP-516 (topic ids)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..registry import Scene, Steps, question
from .metadata import INVALID_NAMES

VALUES = {
    "unknown name": ("no.such.config", "1"),
    "empty name": ("", "1"),
    "null value": ("retention.ms", None),
    "empty number": ("retention.ms", ""),
    "not a number": ("retention.ms", "soon"),
    "number too small": ("retention.ms", "-2"),
    "number too large": ("retention.ms", "9223372036854775808"),
    "int too large": ("max.message.bytes", "2147483648"),
    "negative int": ("max.message.bytes", "-1"),
    "zero min.insync.replicas": ("min.insync.replicas", "0"),
    "large min.insync.replicas": ("min.insync.replicas", "5"),
    "not a boolean": ("preallocate", "yes"),
    "boolean in capitals": ("preallocate", "TRUE"),
    "spaces around": ("retention.ms", " 60000 "),
    "wrong cleanup.policy": ("cleanup.policy", "shrink"),
    "empty cleanup.policy": ("cleanup.policy", ""),
    "both cleanup policies": ("cleanup.policy", "compact,delete"),
    "spaces in cleanup.policy": ("cleanup.policy", "compact, delete"),
    "repeated cleanup.policy": ("cleanup.policy", "delete,delete"),
    "wrong compression.type": ("compression.type", "brotli"),
    "uncompressed": ("compression.type", "uncompressed"),
    "wrong message.timestamp.type": ("message.timestamp.type", "AppendTime"),
    "small segment.bytes": ("segment.bytes", "13"),
    "segment.bytes below the 4.x limit": ("segment.bytes", "16384"),
    "zero segment.ms": ("segment.ms", "0"),
    "ratio above one": ("min.cleanable.dirty.ratio", "1.5"),
    "not a ratio": ("min.cleanable.dirty.ratio", "half"),
    "wrong gzip level": ("compression.gzip.level", "10"),
    "lz4 level zero": ("compression.lz4.level", "0"),
    "zstd level": ("compression.zstd.level", "23"),
    "wrong throttled replicas": ("leader.replication.throttled.replicas", "a"),
    "all throttled replicas": ("leader.replication.throttled.replicas", "*"),
    "broker config": ("log.retention.ms", "1000"),
    "remote storage": ("remote.storage.enable", "true"),
    "message.format.version": ("message.format.version", "2.8"),
    "message.downconversion.enable": ("message.downconversion.enable", "false"),
    "message.timestamp.difference.max.ms": ("message.timestamp.difference.max.ms", "1000"),
}


def _topic(name: str, partitions: int = 1, factor: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": name, "num_partitions": partitions, "replication_factor": factor, **more}


def _create(s: Scene, *topics: dict[str, Any], configs: bool = False, validate_only: bool = False) -> Any:
    """The answer; unless `configs`, the returned configs are left out."""
    answer = s.ask(topics=list(topics), timeout=10000, validate_only=validate_only)
    for each in topics:
        if s.suffix in each["name"] and not validate_only:
            s.forget_later(each["name"])
    if configs or isinstance(answer, str):
        return answer
    for each in answer["topics"]:
        if s.version >= 5 and each["configs"]:
            each["configs"] = ["<left out: see returned_configs>"]
    return answer


def _assigned(s: Scene, *partitions: tuple[int, Sequence[int]]) -> list[dict[str, Any]]:
    return [{"partition_index": index, "broker_ids": list(brokers)} for index, brokers in partitions]


def one_topic(s: Scene) -> Steps:
    yield "created", _create(s, _topic(s.name(), 2))
    s.until(lambda: s.described(s.name())["error_code"] == "NONE")
    yield "again", _create(s, _topic(s.name(), 2))


def no_topics(s: Scene) -> Steps:
    yield "empty list", _create(s)
    yield "validate only", _create(s, validate_only=True)


def several_topics(s: Scene) -> Steps:
    """Each topic succeeds or fails on its own."""
    good, bad = _topic(s.name("good")), _topic(s.name("bad"), 0)
    yield "one good, one bad", _create(s, good, bad, _topic(s.name("other"), 3))


def duplicate_in_the_request(s: Scene) -> Steps:
    yield "same name twice", _create(s, _topic(s.name()), _topic(s.name(), 2), _topic(s.name("other")))


def partition_counts(s: Scene) -> Steps:
    for count in (0, -2, -(2**31)):
        yield str(count), _create(s, _topic(s.name(f"p{count}"), count))


@question(at=(2, 3, 4, 5, 7))
def default_counts(s: Scene) -> Steps:
    """-1 stands for the broker's default (KIP-464)."""
    yield "partitions -1", _create(s, _topic(s.name("p"), -1))
    yield "replication factor -1", _create(s, _topic(s.name("r"), 1, -1))
    yield "both", _create(s, _topic(s.name("both"), -1, -1))


@question(newest_only=True)
def huge_partition_count(s: Scene) -> Steps:
    """More than the controller accepts in one batch of records."""
    yield "10001", _create(s, _topic(s.name("many"), 10001), validate_only=True)
    yield "2^31-1", _create(s, _topic(s.name("most"), 2**31 - 1), validate_only=True)


@question(at=(4,))
def many_topics(s: Scene) -> Steps:
    """A topic, each of its partitions and each of its configurations is a record; 10000 fit in a batch.

    In a version whose answers have no configurations.
    """

    def asked(count: int, partitions: int = 1, **more: Any) -> Any:
        topics = [_topic(s.name(f"t{number}"), partitions, **more) for number in range(count)]
        return _counted(_create(s, *topics, validate_only=True))

    yield "5000", asked(5000)
    yield "5001", asked(5001)
    yield "3334 of two partitions", asked(3334, 2)
    yield "3334 of one configuration", asked(3334, configs=[{"name": "retention.ms", "value": "1000"}])
    yield "two of 5000 partitions", asked(2, 5000)
    yield "two of 5001 partitions", asked(2, 5001)
    yield (
        "10001 partitions, half in an invalid name",
        _counted(_create(s, _topic(s.name("a b"), 5001), _topic(s.name(), 5000), validate_only=True)),
    )
    names = [*(f"t{number}" for number in range(4999)), "a b", "c d"]
    topics = [_topic(s.name(each)) for each in names]
    yield "5001 of which two are invalid", _counted(_create(s, *topics, validate_only=True))


def _counted(answer: Any) -> Any:
    """How many topics have which error."""
    if isinstance(answer, str):
        return answer
    errors = Counter((each["error_code"], each["error_message"]) for each in answer["topics"])
    return [
        {"error_code": code, "error_message": message, "topics": count}
        for (code, message), count in sorted(errors.items(), key=str)
    ]


def replication_factors(s: Scene) -> Steps:
    for factor in (0, -2, 2, 32767):
        yield str(factor), _create(s, _topic(s.name(f"r{factor}"), 1, factor))


def invalid_names(s: Scene) -> Steps:
    for label, name in INVALID_NAMES.items():
        yield label, _create(s, _topic(name))
    yield "249 characters", _create(s, _topic(s.name("x" * (249 - len(s.name(""))))))


def colliding_names(s: Scene) -> Steps:
    """`a.b` and `a_b` would share metric names."""
    s.topic("col.lide")
    yield "with an existing topic", _create(s, _topic(s.name("col_lide")))
    yield "with each other", _create(s, _topic(s.name("a.b")), _topic(s.name("a_b")))


@question(newest_only=True)
def internal_names(s: Scene) -> Steps:
    yield "__consumer_offsets", _create(s, _topic("__consumer_offsets"), validate_only=True)
    yield "__cluster_metadata", _create(s, _topic("__cluster_metadata"), validate_only=True)
    yield "two underscores", _create(s, _topic(f"__{s.name()}"), validate_only=True)


@question(at=(2, 4, 7))
def assignments(s: Scene) -> Steps:
    """Manual assignment: counts must be -1, partitions consecutive from 0, replicas known and distinct."""
    node = s.node(0)

    def create(base: str, *partitions: tuple[int, Sequence[int]], counts: tuple[int, int] = (-1, -1)) -> Any:
        return _create(s, _topic(s.name(base), *counts, assignments=_assigned(s, *partitions)))

    yield "two partitions", create("two", (0, [node]), (1, [node]))
    yield "any order", create("order", (1, [node]), (0, [node]))
    yield "with a partition count", create("count", (0, [node]), counts=(1, -1))
    yield "with a replication factor", create("factor", (0, [node]), counts=(-1, 1))
    yield "with both", create("both", (0, [node]), counts=(1, 1))
    yield "with wrong counts", create("wrong", (0, [node]), counts=(5, 3))
    yield "gap", create("gap", (0, [node]), (2, [node]))
    yield "not from 0", create("from1", (1, [node]))
    yield "negative partition", create("negative", (-1, [node]))
    yield "same partition twice", create("twice", (0, [node]), (0, [node]))
    yield "unknown broker", create("unknown", (0, [9999]))
    yield "negative broker", create("negative-broker", (0, [-1]))
    yield "same broker twice", create("broker-twice", (0, [node, node]))
    yield "no brokers", create("none", (0, []))
    yield "different numbers", create("numbers", (0, [node]), (1, []))


@question(at=(2, 7))
def configs(s: Scene) -> Steps:
    """Validation of config names and values; nothing is created."""
    for label, (name, value) in VALUES.items():
        topic = _topic(s.name("c"), configs=[{"name": name, "value": value}])
        yield label, _create(s, topic, validate_only=True)["topics"]


@question(at=(2, 7))
def configs_together(s: Scene) -> Steps:
    def create(base: str, *pairs: tuple[str, str | None]) -> Any:
        items = [{"name": name, "value": value} for name, value in pairs]
        return _create(s, _topic(s.name(base), configs=items), validate_only=True)["topics"]

    yield "same name twice", create("twice", ("retention.ms", "1000"), ("retention.ms", "2000"))
    yield "two wrong ones", create("two", ("retention.ms", "x"), ("no.such.config", "1"))
    yield (
        "lags in the wrong order",
        create("lag", ("min.compaction.lag.ms", "10"), ("max.compaction.lag.ms", "5")),
    )
    yield "local above total", create("local", ("retention.ms", "10"), ("local.retention.ms", "50"))
    remote = (("remote.storage.enable", "true"), ("cleanup.policy", "compact"))
    yield "remote storage and compaction", create("remote", *remote)


@question(since=5)
def returned_configs(s: Scene) -> Steps:
    """From v5 on the answer has the new topic's counts and all its configs (KIP-525)."""
    yield "defaults", _create(s, _topic(s.name("defaults")), configs=True)


@question(since=5)
def returned_configs_set(s: Scene) -> Steps:
    """Only those that were set, with their source."""
    items = [{"name": "retention.ms", "value": "60000"}, {"name": "cleanup.policy", "value": "compact"}]
    answer = _create(s, _topic(s.name("set"), 3, configs=items), configs=True)
    chosen = {"retention.ms", "cleanup.policy", "max.message.bytes", "min.insync.replicas"}
    for topic in answer["topics"]:
        topic["configs"] = [each for each in topic["configs"] if each["name"] in chosen]
    yield "two set", answer


def validate_only(s: Scene) -> Steps:
    yield "valid", _create(s, _topic(s.name(), 2), validate_only=True)
    yield "valid again: nothing was created", _create(s, _topic(s.name(), 2), validate_only=True)
    yield "invalid", _create(s, _topic(s.name("bad"), 0), validate_only=True)
    s.topic("existing")
    yield "existing", _create(s, _topic(s.name("existing")), validate_only=True)


@question(newest_only=True)
def timeouts(s: Scene) -> Steps:
    """KRaft answers when the records are committed, whatever the timeout."""
    for timeout in (0, -1):
        answer = s.ask(topics=[_topic(s.name(f"t{timeout}"))], timeout=timeout, validate_only=True)
        yield str(timeout), answer["topics"][0]["error_code"]


@question(at=(2, 7), brokers=3)
def three_brokers(s: Scene) -> Steps:
    a, b, c = (s.node(rank) for rank in range(3))

    def create(base: str, *partitions: tuple[int, Sequence[int]]) -> Any:
        return _create(s, _topic(s.name(base), -1, -1, assignments=_assigned(s, *partitions)))

    yield "replication factor 3", _create(s, _topic(s.name("three"), 6, 3))
    yield "replication factor 4", _create(s, _topic(s.name("four"), 1, 4))
    yield "defaults", _create(s, _topic(s.name("defaults"), -1, -1))
    yield "assigned", create("assigned", (0, [c, a]), (1, [b, c]))
    yield "different numbers of replicas", create("numbers", (0, [a, b]), (1, [c]))
    yield "one broker unknown", create("unknown", (0, [a, 9999]))
    yield "one broker twice", create("twice", (0, [a, b, a]))
    asked_elsewhere = s.new_client(broker=2)
    fields = {"topics": [_topic(s.name("elsewhere"), 1, 3)], "timeout": 10000, "validate_only": True}
    yield "asked of another broker", s.ask(fields, client=asked_elsewhere)["topics"][0]["error_code"]
