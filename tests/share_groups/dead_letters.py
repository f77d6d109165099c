"""Where records go that are archived: to the dead letter topic of their group (KIP-1191)."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from mockbroker.protocol import record_batch
from mockbroker.rig import batches, requests
from mockbroker.rig.scene import LacksApiError
from mockbroker.rig.stories import Steps

from .stage import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    SHARE_VERSION,
    Ack,
    ShareMember,
    ShareStage,
    acquired,
    outcome,
)
from .state import ask, batch

D: Final = "dlq.d"
_BROKERS: Final = 4
_TOPIC: Final = 2
"""Types of resources that are configured."""
_NOW_MS: Final = 120_000


def _begun(s: ShareStage, *, partitions: int = 1, dead: int = 1, **configs: str) -> ShareMember:
    """A reader of a topic, in a group with a dead letter topic."""
    s.topic("t", partitions)
    if dead:
        s.topic(D, dead, errors_deadletterqueue_group_enable="true", **configs)
    _points(s, D)
    for partition in range(partitions):
        s.produce(batches.batch(_RECORDS), partition=partition)
    return s.reader()


_RECORDS: Final = [
    batches.Record(
        b"value %d" % each, None if each == 3 else b"key %d" % each, headers=(("h", b"of %d" % each),)
    )
    for each in range(6)
]


def _points(s: ShareStage, dead: str, group: str = "g") -> Any:
    """LacksApiError where groups have no dead letter topics."""
    answer = s.configure(group, errors_deadletterqueue_topic_name=s.named(dead))
    if "errors.deadletterqueue.topic.name" not in s.configs(group):
        raise LacksApiError("errors.deadletterqueue.topic.name")
    return answer


def _letters(s: ShareStage, name: str = D, partition: int = 0) -> list[Any]:
    """Key, value and headers of all, by the offsets of which they tell: how many come in one batch depends on
    how fast they are written."""
    return sorted((each for batch in _batches(s, name, partition) for each in batch[1]), key=_offset)


def _offset(letter: Any) -> int:
    return int(dict(letter[2])["__dlq.errors.offset"])


def _batches(s: ShareStage, name: str, partition: int) -> list[Any]:
    """What their headers say, and letters."""
    part = {"partition": partition, "fetch_offset": 0, "partition_max_bytes": 1_000_000}
    topics = [{"topic": s.named(name), "partitions": [part]}]
    asked = {"max_wait": 0, "max_bytes": 1_000_000, "session_epoch": -1, "topics": topics}
    (answer,) = s.ask("fetch", asked, version=11)["responses"][0]["partitions"]
    found, data = [], bytes(answer["records"] or b"")
    while data:
        header = record_batch.parse_header(data)
        size = header.length + 12
        now = abs(header.max_timestamp - s.brokers.now_ms()) < _NOW_MS
        said = {"attributes": header.attributes, "producer_id": header.producer_id, "now": now}
        found.append([said, [_letter(each) for each in record_batch.spans(header, data[:size])]])
        data = data[size:]
    return found


def _letter(span: record_batch.RecordSpan) -> list[Any]:
    key, at = record_batch.field(span.body, span.key)
    value, at = record_batch.field(span.body, at)
    count, at = record_batch.varint(span.body, at)
    headers = []
    for _ in range(count):
        name, at = record_batch.field(span.body, at)
        said, at = record_batch.field(span.body, at)
        headers.append([_text(name), _text(said)])
    return [_text(key), _text(value), headers]


def _text(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).decode()


def _count(s: ShareStage, name: str = D, partition: int = 0) -> int:
    return len(_letters(s, name, partition))


def _arrive(s: ShareStage, count: int, name: str = D, partition: int = 0) -> Any:
    s.brokers.until(lambda: _count(s, name, partition) >= count, f"{count} letters")
    s.brokers.until(lambda: _settled(s), "archived records")
    return _letters(s, name, partition)


def _settled(s: ShareStage, group: str = "g") -> bool:
    """Whether no record is about to be archived."""
    found = s.state(group)
    return not any(state == 3 for _, _, state, _ in found[1])


def rejected(s: ShareStage) -> Steps:
    """Records are rejected one by one, together and beside others; what is no record is no letter."""
    one = _begun(s)
    yield "one", acquired(one.fetch())
    yield "rejects 1", outcome(one.acknowledge(Ack(1, 1, [REJECT])))
    yield "letter", _arrive(s, 1)
    yield "its batch", _batches(s, D, 0)[0][0]
    yield "state", s.state()
    kinds = Ack(2, 5, [REJECT, REJECT, GAP, ACCEPT])
    yield "accepts 0, rejects 2 and 3, gap at 4", outcome(one.acknowledge(Ack(0, 0, [ACCEPT]), kinds))
    yield "letters", _arrive(s, 3)
    yield "state then", s.state()
    yield "offsets", s.offsets("g", "t")
    s.fill(2, 2)
    yield "more", acquired(one.fetch())
    yield "rejects two batches", outcome(one.acknowledge(Ack(6, 9, [REJECT])))
    yield "letters at last", _arrive(s, 7)[3:]
    s.configure("g", errors_deadletterqueue_topic_name="")
    s.fill(1)
    yield "no topic any more", acquired(one.fetch())
    yield "rejects", outcome(one.acknowledge(Ack(10, 10, [REJECT])))
    yield "state at last", s.state()
    yield "none more", _count(s)


def worn(s: ShareStage) -> Steps:
    """Records were delivered as often as they may be, and are released, or their lock or session ends."""
    s.configure("g", share_delivery_count_limit="2", share_record_lock_duration_ms="1000")
    one = _begun(s)
    yield "one", acquired(one.fetch())
    yield "releases", outcome(one.acknowledge(Ack(0, 5, [RELEASE])))
    yield "one again", acquired(one.fetch())
    yield "releases 0 and 1", outcome(one.acknowledge(Ack(0, 1, [RELEASE])))
    yield "letters", _arrive(s, 2)
    yield "after the lock", _arrive(s, 6)[2:]
    s.fill(2)
    yield "more", acquired(one.fetch())
    yield "releases more", outcome(one.acknowledge(Ack(6, 7, [RELEASE])))
    yield "more again", acquired(one.fetch())
    yield "ends", one.acknowledge(epoch=-1)["error_code"]
    yield "letters then", _arrive(s, 8)[6:]
    yield "state then", s.state()


def copied(s: ShareStage) -> Steps:
    """Letters have the records' keys and values, from batches that are compressed, too."""
    s.configure("g", errors_deadletterqueue_copy_record_enable="true")
    one = _begun(s)
    s.produce(batches.batch(_RECORDS[:2], codec=batches.GZIP))
    yield "one", acquired(one.fetch())
    yield "rejects", outcome(one.acknowledge(Ack(0, 7, [REJECT])))
    yield "letters", _arrive(s, 8)
    yield "state", s.state()
    s.fill(3)
    yield "more", acquired(one.fetch())
    s.ask("delete_records", requests.delete_records(s.named("t"), 10))
    yield "rejects what is deleted in part", outcome(one.acknowledge(Ack(8, 10, [REJECT])))
    yield "letters of these", _arrive(s, 11)[8:]


def routed(s: ShareStage) -> Steps:
    """Partitions of the dead letter topic are fewer than those of the topic."""
    one = _begun(s, partitions=3, dead=2)
    seen: set[int] = set()

    def has_all() -> bool:
        answer = one.look(0, 1, 2)
        parts = [part for topic in answer["responses"] for part in topic["partitions"]]
        seen.update(part["partition_index"] for part in parts if part["acquired_records"])
        return len(seen) == 3

    s.brokers.until(has_all, "records of all partitions")
    for partition in range(3):
        yield f"rejects of {partition}", outcome(one.acknowledge(Ack(1, 1, [REJECT]), partition=partition))
        yield f"letters of {partition}", _arrive(s, partition // 2 + 1, partition=partition % 2)


def nowhere(s: ShareStage) -> Steps:
    """There is no topic that takes letters: records are archived all the same."""
    s.topic("t")
    s.topic("dlq.off")
    s.topic("other", errors_deadletterqueue_group_enable="true")
    for number, (label, name) in enumerate(
        (("unknown", "dlq.nothing"), ("not for letters", "dlq.off"), ("another prefix", "other"))
    ):
        group = f"g{number}"
        yield f"{label}: configured", _points(s, name, group)
        s.fill(2)
        one = s.reader("A", group)
        yield f"{label}: one", acquired(one.fetch())
        yield f"{label}: rejects", outcome(one.acknowledge(Ack(0, 0, [REJECT])))
        s.brokers.until(partial(_settled, s, group), "archived records")
        yield f"{label}: state", s.state(group)
    yield "letters", [_count(s, "dlq.off"), _count(s, "other")]
    yield "made", _exists(s, "dlq.nothing")
    for name in ("__d", "dlq.a b", "dlq.", "dlq." + "x" * 250, ".", "x"):
        yield f"configures {name[:20]}", s.configure("h", errors_deadletterqueue_topic_name=name)
    yield "configures a copy", s.configure("h", errors_deadletterqueue_copy_record_enable="maybe")


def made(s: ShareStage) -> Steps:
    """The dead letter topic does not exist, and brokers may make it."""
    _enable(s, "true")
    one = _begun(s, dead=0)
    yield "one", acquired(one.fetch())
    yield "rejects", outcome(one.acknowledge(Ack(0, 1, [REJECT])))
    s.brokers.until(lambda: _exists(s), "the topic")
    yield "letters", _arrive(s, 2)
    (found,) = s.ask("metadata", requests.metadata(s.named(D)))["topics"]
    yield "partitions", len(found["partitions"])
    asked = [{"resource_type": _TOPIC, "resource_name": s.named(D), "configuration_keys": None}]
    (described,) = s.ask("describe_configs", {"resources": asked}, version=4)["results"]
    yield (
        "configured",
        {each["name"]: each["value"] for each in described["configs"] if each["config_source"] == 1},
    )
    _enable(s, "false")


def _enable(s: ShareStage, value: str) -> None:
    asked = requests.configure(_BROKERS, "", {"errors.deadletterqueue.auto.create.topics.enable": value})
    (answer,) = s.ask("incremental_alter_configs", asked)["responses"]
    if answer["error_code"] != "NONE":
        raise LacksApiError("errors.deadletterqueue.auto.create.topics.enable")
    node = s.ask("metadata", {"topics": []}, version=4)["brokers"][0]["node_id"]

    def known() -> bool:
        asked = [{"resource_type": _BROKERS, "resource_name": str(node), "configuration_keys": None}]
        (found,) = s.ask("describe_configs", {"resources": asked}, version=4)["results"]
        values: Mapping[str, str] = {each["name"]: each["value"] for each in found["configs"]}
        return values["errors.deadletterqueue.auto.create.topics.enable"] == value

    s.brokers.until(known, "the configuration")


def _exists(s: ShareStage, name: str = D) -> bool:
    topics = s.ask("metadata", {"topics": None}, version=4)["topics"]
    return any(each["name"] == s.named(name) and each["error_code"] == "NONE" for each in topics)


def too_large(s: ShareStage) -> Steps:
    """The dead letter topic takes small batches only: letters come in several, and some not at all."""
    s.configure("g", errors_deadletterqueue_copy_record_enable="true")
    one = _begun(s, max_message_bytes="700")
    s.fill(1, size=900)
    yield "one", acquired(one.fetch())
    yield "rejects", outcome(one.acknowledge(Ack(0, 5, [REJECT])))
    yield "letters", _arrive(s, 6)
    yield "rejects a large one", outcome(one.acknowledge(Ack(6, 6, [REJECT])))
    s.brokers.until(lambda: _settled(s), "archived records")
    yield "state", s.state()
    yield "what it is", _letters(s)[6:]


def lost(s: ShareStage) -> Steps:
    """The dead letter topic is deleted."""
    one = _begun(s)
    yield "one", acquired(one.fetch())
    yield "rejects 0", outcome(one.acknowledge(Ack(0, 0, [REJECT])))
    yield "letter", _arrive(s, 1)
    s.ask("delete_topics", {"topic_names": [s.named(D)], "timeout": 20_000}, version=5)
    s.brokers.until(lambda: not _exists(s), "the end of the topic")
    yield "rejects 1", outcome(one.acknowledge(Ack(1, 1, [REJECT])))
    s.brokers.until(lambda: _settled(s), "archived records")
    yield "state", s.state()
    s.topic(D, errors_deadletterqueue_group_enable="true")
    yield "rejects 2", outcome(one.acknowledge(Ack(2, 2, [REJECT])))
    yield "letters", _arrive(s, 1)


def resumed(s: ShareStage) -> Steps:
    """A leader reads that records are about to be archived: it writes their letters."""
    s.configure("g", share_delivery_count_limit="3")
    one = _begun(s)
    yield "one", acquired(one.fetch())
    s.client(by=one.by).close()
    s.brokers.until(lambda: s.available() == 6, "the end of the session")
    (found,) = ask(s, "read", {"leader_epoch": 0})["results"][0]["partitions"]
    said = [batch(0, 1, 3, 1), batch(3, 3, 3, 3)]
    here = {"state_epoch": found["state_epoch"], "leader_epoch": 0, "start_offset": 0}
    written = {**here, "state_batches": said}
    yield "written", ask(s, "write", written)
    yield "state", s.state()
    two = s.member("B")
    two.join("t")
    yield "two", acquired(two.fetch_some())
    yield "letters", _arrive(s, 3)
    yield "accepts", outcome(two.acknowledge(Ack(2, 2, [ACCEPT])))
    yield "state then", s.state()


def without_the_feature(s: ShareStage) -> Steps:
    """`share.version` is 1: nothing is a letter."""
    one = _begun(s)
    yield "downgraded", _level(s, 1, 2)
    yield "one", acquired(one.fetch())
    yield "rejects", outcome(one.acknowledge(Ack(0, 0, [REJECT])))
    yield "state", s.state()
    yield "upgraded", _level(s, 2, 1)
    yield "rejects another", outcome(one.acknowledge(Ack(1, 1, [REJECT])))
    yield "letters", _arrive(s, 1)


def _level(s: ShareStage, level: int, kind: int) -> Any:
    update = {"feature": SHARE_VERSION, "max_version_level": level, "upgrade_type": kind}
    asked = {"timeout": 20_000, "feature_updates": [update], "validate_only": False}
    answer = s.ask("update_features", asked)
    s.brokers.until(lambda: s._finalized() == level, SHARE_VERSION)
    return answer["error_code"]
