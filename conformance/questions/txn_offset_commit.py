"""TxnOffsetCommit: offsets that count with the transaction (KIP-98, KIP-447, KIP-890)."""

from typing import Any

from ...rig.group_scene import committed_offsets
from ...rig.scene import UNKNOWN_TOPIC_ID
from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps, question


def _partition(index: int, offset: int, metadata: str = "") -> dict[str, Any]:
    return {
        "partition_index": index,
        "committed_offset": offset,
        "committed_leader_epoch": 0,
        "committed_metadata": metadata,
    }


def _ask(s: Scene, producer: TransactionalProducer, *topics: dict[str, Any], **other: Any) -> Any:
    fields = {**producer.ids, "group_id": s.name("g"), "generation_id": -1, "member_id": ""}
    return s.ask({**fields, "topics": list(topics), **other})


def _commit(
    s: Scene, producer: TransactionalProducer, topic: str, offset: int, index: int = 0, **other: Any
) -> Any:
    part = _partition(index, offset, other.pop("metadata", ""))
    return _ask(s, producer, {**s.topic_ref(topic), "partitions": [part]}, **other)


def _fetched(s: Scene, topic: str, stable: bool = False) -> Any:
    group = {"group_id": s.name("g"), "topics": [{"name": topic, "partition_indexes": [0]}]}
    answer = s.call("offset_fetch", {"groups": [group], "require_stable": stable}, version=8)
    return answer["groups"][0]["topics"][0]["partitions"][0]


def _begin(s: Scene, producer: TransactionalProducer) -> None:
    s.call("add_offsets_to_txn", {**producer.ids, "group_id": s.name("g")})


def commit_and_abort(s: Scene) -> Steps:
    topic = s.topic()
    producer = TransactionalProducer(s)
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
    producer = TransactionalProducer(s)
    _begin(s, producer)
    ids = {"known": s.topic_id(known), "unknown": UNKNOWN_TOPIC_ID, "zero": None, "gone": s.topic_id(gone)}
    topics = {
        name: {"topic_id": topic_id, "partitions": [_partition(0, 1)]} for name, topic_id in ids.items()
    }
    s.delete_topic(gone)
    s.until(lambda: s.described(gone)["error_code"] != "NONE")
    for name, topic in topics.items():
        yield name, _ask(s, producer, topic)
    yield "all", _ask(s, producer, *topics.values())
    yield "known twice", _ask(s, producer, topics["known"], topics["known"])
    both = [_partition(index, 1) for index in (0, 7)]
    yield "unknown partition", _ask(s, producer, {**topics["known"], "partitions": both})
    yield "none", _ask(s, producer)
    producer.end(committed=False)


def _settled(s: Scene, topic: str) -> Any:
    found = _fetched(s, topic, stable=True)
    return found if found["error_code"] == "NONE" else None


def refused(s: Scene) -> Steps:
    topic = s.topic()
    producer = TransactionalProducer(s)
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


def partitions_committed_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = TransactionalProducer(s)
    _begin(s, producer)

    def ask(*topics: list[tuple[int, int]]) -> Any:
        parts = [[_partition(index, offset) for index, offset in each] for each in topics]
        return _ask(s, producer, *({**s.topic_ref(topic), "partitions": each} for each in parts))

    yield "a partition", ask([(0, 3), (0, 2)])
    yield "a topic", ask([(0, 5)], [(1, 6)])
    yield "a topic and a partition", ask([(0, 9)], [(0, 8)])
    yield "an unknown partition", ask([(7, 1), (7, 1)])
    yield "known and unknown", ask([(0, 9), (7, 1)], [(1, 6), (0, 8)])
    yield "no partitions", ask([], [(0, 8)], [])
    producer.end(committed=True)
    yield "stored", s.until(lambda: committed_offsets(s, s.name("g")))
