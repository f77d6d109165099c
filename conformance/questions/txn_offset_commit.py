"""TxnOffsetCommit: offsets that count with the transaction (KIP-98, KIP-447, KIP-890)."""

from typing import Any

from ...rig.scene import UNKNOWN_TOPIC_ID, Scene
from ...rig.transaction_scene import Producer
from ..registry import Steps, about

question = about("txn_offset_commit")


def _commit(s: Scene, producer: Producer, topic: str, offset: int, index: int = 0, **other: Any) -> Any:
    partition = {"partition_index": index, "committed_offset": offset, "committed_leader_epoch": 0}
    partition |= {"committed_metadata": other.pop("metadata", "")}
    fields = {**producer.ids, "group_id": s.name("g"), "generation_id": -1, "member_id": ""}
    return s.ask({**fields, "topics": [{**s.topic_ref(topic), "partitions": [partition]}], **other})


def _fetched(s: Scene, topic: str, stable: bool = False) -> Any:
    group = {"group_id": s.name("g"), "topics": [{"name": topic, "partition_indexes": [0]}]}
    answer = s.call("offset_fetch", {"groups": [group], "require_stable": stable}, version=8)
    return answer["groups"][0]["topics"][0]["partitions"][0]


def _begin(s: Scene, producer: Producer) -> None:
    s.call("add_offsets_to_txn", {**producer.ids, "group_id": s.name("g")})


@question()
def commit_and_abort(s: Scene) -> Steps:
    topic = s.topic()
    producer = Producer(s)
    yield "not added", _commit(s, producer, topic, 3)
    if s.version >= 5:
        producer.end(committed=False)
    for committed in (True, False):
        _begin(s, producer)
        yield "added", _commit(s, producer, topic, 5 if committed else 8)
        yield "while open", _fetched(s, topic)
        yield "while open, stable", _fetched(s, topic, stable=True)
        producer.end(committed=committed)
        yield "after", s.until(lambda: _settled(s, topic))


@question(since=6)
def topics_by_id(s: Scene) -> Steps:
    known, gone = s.topic("known"), s.topic("gone")
    producer = Producer(s)
    _begin(s, producer)
    partition = {"partition_index": 0, "committed_offset": 1, "committed_leader_epoch": 0}
    ids = {"known": s.topic_id(known), "unknown": UNKNOWN_TOPIC_ID, "zero": None, "gone": s.topic_id(gone)}
    topics = {
        name: {"topic_id": topic_id, "partitions": [{**partition, "committed_metadata": ""}]}
        for name, topic_id in ids.items()
    }
    s.call("delete_topics", {"topics": [{"name": gone}], "topic_names": [gone], "timeout": 10000})
    fields = {**producer.ids, "group_id": s.name("g"), "generation_id": -1, "member_id": ""}
    s.until(lambda: s.call("metadata", {"topics": [{"name": gone}]})["topics"][0]["error_code"] != "NONE")
    for name, topic in topics.items():
        yield name, s.ask({**fields, "topics": [topic]})
    yield "all", s.ask({**fields, "topics": list(topics.values())})
    yield "known twice", s.ask({**fields, "topics": [topics["known"], topics["known"]]})
    both = [{**partition, "partition_index": index, "committed_metadata": ""} for index in (0, 7)]
    yield "unknown partition", s.ask({**fields, "topics": [{**topics["known"], "partitions": both}]})
    yield "none", s.ask({**fields, "topics": []})
    producer.end(committed=False)


def _settled(s: Scene, topic: str) -> Any:
    found = _fetched(s, topic, stable=True)
    return found if found["error_code"] == "NONE" else None


@question()
def refused(s: Scene) -> Steps:
    topic = s.topic()
    producer = Producer(s)
    producer.start()
    _begin(s, producer)
    yield "unknown topic", _commit(s, producer, s.name("unknown"), 1)
    yield "unknown partition", _commit(s, producer, topic, 1, 7)
    yield "long metadata", _commit(s, producer, topic, 1, metadata="m" * 5000)
    yield "first", _commit(s, producer, topic, 1)
    yield "old epoch", _commit(s, producer, topic, 1, producer_epoch=producer.epoch - 1)
    yield "other id", _commit(s, producer, topic, 1, producer_id=10**15)
    yield "empty group", _commit(s, producer, topic, 1, group_id="")
    if s.version >= 3:
        yield "member of no generation", _commit(s, producer, topic, 1, member_id="m", generation_id=3)
    producer.end(committed=False)
