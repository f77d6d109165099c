"""Rows of small incidents: what happened, and what made it happen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .rows import DAY, SECOND, History

MINUTE = 60 * SECOND
TOPIC: dict[str, Any] = {"partition": None}
NO_TOPIC: dict[str, Any] = {"topic": None, "partition": None}
GROUP: dict[str, Any] = {"group": "billing", **NO_TOPIC}
OFFSETS: dict[str, Any] = {"topic": "__consumer_offsets", "partition": 7}
ID: dict[str, Any] = {"transactional_id": "payments", **NO_TOPIC}
SEEKING = "… Seeking to AutoOffsetResetStrategy{type=earliest} offset of partition orders-0"


def deleted(why: str) -> History:
    """Records that a group had not read."""
    rows = History("broker-log").commit(100)
    rows.add("config", detail="retention.ms = 1000", **TOPIC)
    return rows.add("log-start", offset=300, detail=why, broker=1)


def expired_at_once(said: str) -> History:
    """The same, and what the broker says of the segment."""
    return deleted("segment deletion").add("expiry", offset=0, detail=said, broker=1)


OLD = "after 604800000 ms: written until 1795671434154, timestamps until 1764135409105"


def moved_home() -> History:
    """A group commits to another partition of the offsets topic, which was made since."""
    rows = History("segment").commit(200)
    rows.add("log", detail="created", **{**OFFSETS, "source": "broker-log", "partition": 1}).commit(300)
    homes = iter((0, 1))
    rows.rows = [
        replace(row, file=f"__consumer_offsets-{next(homes)}/0.log") if row.kind == "commit" else row
        for row in rows.rows
    ]
    return rows


def unsubscribed() -> History:
    """A group has members, none of which reads the topic any more."""
    rows = expired()
    rows.rows[0] = replace(rows.rows[0], detail="Stable")
    return rows


def stepped() -> History:
    rows = History("broker-log").add("leader", broker=2, leader_epoch=1)
    rows.add("log-start", 120 * MINUTE, broker=2, offset=9)
    return rows.add("leader", -119 * MINUTE, broker=2, leader_epoch=1)


def went_on_alone() -> History:
    rows = History("broker-log")
    rows.add("leader", broker=2, leader=2, leader_epoch=0, offset=0)
    rows.add("leader", broker=3, leader=3, leader_epoch=1, offset=100)
    rows.add("in-sync-replicas", broker=2, replicas=[2], detail="shrank from 1,2,3")
    rows.add("high-watermark", 0, broker=2, offset=100, end_offset=250)
    rows.rows[-1] = replace(rows.rows[-1], position=rows.rows[-2].position)
    return rows.add("truncation", broker=2, offset=100)


def expired() -> History:
    rows = History("dump-log").add("group", detail="Empty", group="billing", **NO_TOPIC)
    rows.commit(300).add("tombstone", DAY, group="billing", detail="committed offset")
    rows.add("tombstone", 10, source="broker-log", detail="Removed 1 expired offsets", broker=1, **NO_TOPIC)
    return rows.commit(1_000, MINUTE)


def fenced() -> History:
    begun: dict[str, Any] = {"detail": "initialized", **ID}
    rows = History("client-log").add("transaction", client="a", producer_id=1, producer_epoch=0, **begun)
    rows.add("transaction", client="b", producer_id=1, producer_epoch=1, **begun)
    return rows.refused("PRODUCER_FENCED", client="a", **ID)


def recreated() -> History:
    rows = History("broker-log").add("log", detail="created", **TOPIC).commit(5)
    return rows.add("log", detail="deleted", **TOPIC).add("log", detail="created", **TOPIC)


def sought(
    committed: int = 60, text: str = SEEKING, to: int = 0, after_ms: int = SECOND, times: int = 1
) -> History:
    """Members that begin where their group had committed, and seek to the first record."""
    rows = History("client-log")
    for _ in range(times):
        rows.restore(committed, 600 * SECOND, client=None)
        rows.reset(None, text=text).reset(to, after_ms, detail=None)
    return rows


def loading(*details: str) -> History:
    rows = History("broker-log")
    for detail in details:
        rows.add("load", MINUTE, broker=6, leader_epoch=2, detail=detail, **OFFSETS)
    return rows


def moved() -> History:
    rows = loading("began").add("load", broker=7, leader_epoch=3, detail="began", **OFFSETS)
    failed = "failed: is no longer the leader"
    return rows.add("load", MINUTE, broker=6, leader_epoch=2, detail=failed, **OFFSETS)


def timed_out() -> History:
    one: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0}
    state: dict[str, Any] = {**one, **ID, "source": "segment"}
    rows = History("segment").add("transaction", detail="Ongoing orders-0", **state)
    rows.add("append", offset=0, end_offset=5, detail="transactional", sequence=0, **one)
    rows.add("transaction", MINUTE, **{**ID, "source": "broker-log"}, detail="timed out", broker=1)
    rows.add("append", 10, offset=5, end_offset=6, detail="transactional, control abort", **one)
    return rows.add("transaction", 10, detail="CompleteAbort", **state)


def forgotten() -> History:
    rows = History("segment").add("tombstone", detail="transactional id", **ID)
    return rows.refused("INVALID_PRODUCER_ID_MAPPING", client="a", **{**ID, "source": "client-log"})


def fell() -> History:
    rows = History().add("leader", leader=3, leader_epoch=1).add("high-watermark", offset=150, end_offset=150)
    rows.commit(150).add("leader", leader=2, leader_epoch=2)
    return rows.add("high-watermark", offset=100, end_offset=100)


def reset_to_latest() -> History:
    return History().add("log-start", offset=600).out_of_range(500).reset(900, detail="latest")


def joined_as_another(instance: str = "billing-0") -> History:
    rows = History("broker-log")
    rows.add("member", detail=f"m-1 replaced by another with instance id {instance}", broker=1, **GROUP)
    fenced = (
        f"Request memberId=m-1 for static member with groupInstanceId={instance} is fenced by existing m-2"
    )
    return rows.refused("FENCED_INSTANCE_ID", detail=fenced, broker=1, **NO_TOPIC)


def not_let_in(error: str) -> History:
    return History("client-log").refused(error, api="JoinGroup", **GROUP)


def stood_still() -> History:
    rows = History("segment")
    for nth in range(20):
        rows.commit(30, 2 * SECOND, partition=1).commit(40 + nth, 2 * SECOND)
        rows.add("append", offset=30 + nth, end_offset=31 + nth, partition=1)
    deserializing: dict[str, Any] = {"error": "RecordDeserializationException", "source": "client-log"}
    return rows.add("complaint", partition=1, offset=30, **deserializing)


TOO_FEW = "The size of the current ISR : 1 is insufficient to satisfy the min.isr requirement of 2"


def too_few() -> History:
    """Told by a client, and by the leader."""
    rows = History("client-log")
    for _ in range(40):
        rows.refused("NOT_ENOUGH_REPLICAS", api="Produce")
        rows.refused("NOT_ENOUGH_REPLICAS", 0, api="Produce", source="broker-log", broker=1, detail=TOO_FEW)
    return rows


def too_large() -> History:
    rows = History("broker-log").add("config", detail="max.message.bytes = 2000", **TOPIC)
    return rows.refused("MESSAGE_TOO_LARGE", api="Produce", source="client-log", client="a")


def denied() -> History:
    """By the authorizer's log, and the ACL after which it began."""
    rows = History("broker-log").add("acl", detail="created: User:b allow READ from *", **GROUP)
    for _ in range(40):
        rows.refused("GROUP_AUTHORIZATION_FAILED", detail="User:a was denied READ from 127.0.0.1", **GROUP)
    return rows


def keyless() -> History:
    rows = History("broker-log").add("config", detail="cleanup.policy = compact", **TOPIC)
    said = "Compacted topic cannot accept message without key in topic partition orders-0"
    return rows.refused("INVALID_RECORD", api="Produce", broker=1, detail=said)


def unresolved() -> History:
    said = "advertises INTERNAL://10.0.0.2:9093,EXTERNAL://broker2.internal:9092"
    rows = History("broker-log").add("broker", broker=2, detail=said, **NO_TOPIC)
    return vain(rows, "UnknownHost", detail="broker2.internal", source="client-log", client="a")


def vain(rows: History, error: str, **values: Any) -> History:
    for _ in range(40):
        rows.add("complaint", error=error, **{**NO_TOPIC, **values})
    return rows


def away_for_long() -> History:
    gone: dict[str, Any] = {"broker": 3, **NO_TOPIC}
    rows = History("broker-log").add("broker", detail="in controlled shutdown", **gone)
    rows.add("broker", detail="fenced: its session timed out", **gone)
    return rows.add("broker", 11 * MINUTE, detail="unfenced", **gone)


def put_out(*brokers: int) -> History:
    """A leader of two partitions puts followers out of the ISR."""
    rows = History("broker-log")
    said = " ".join(f"(brokerId: {each}, endOffset: 7, lastCaughtUpTimeMs: 9)" for each in brokers or (3,))
    now = [each for each in (1, 2, 3) if each not in (brokers or (3,))]
    for partition in (0, 1):
        own: dict[str, Any] = {"partition": partition, "broker": 1, "replicas": now}
        text = f"Shrinking ISR. Out of sync replicas: {said}."
        rows.add("in-sync-replicas", detail="shrank from 1, 2, 3", text=text, **own)
    return rows.add("load", 2 * MINUTE, broker=1, detail="began")


def disk_full() -> History:
    rows = History("broker-log")
    for text in ("Error while appending: No space left on device", "Stopping serving replicas in dir /d1"):
        rows.add("complaint", broker=3, text=text, **NO_TOPIC)
    return rows


def throttled() -> History:
    rows = History("broker-log").add("quota", detail="client-id=a: consumer_byte_rate = 500.0", **NO_TOPIC)
    own: dict[str, Any] = {"client": "a", "group": "billing", "source": "client-log", **NO_TOPIC}
    for _ in range(4):
        rows.add("complaint", 10 * SECOND, error="Throttled", detail="9500", **own)
    return rows


def timed_out_records(quota: str = "client-id=w: producer_byte_rate = 200.0") -> History:
    rows = History("broker-log").add("quota", detail=quota, **NO_TOPIC)
    own: dict[str, Any] = {"client": "w", "source": "client-log", **NO_TOPIC}
    for _ in range(6):
        rows.add("complaint", 7 * SECOND, error="RecordsTimedOut", **own)
    return rows


def stuck() -> History:
    rows = History("broker-log").add("broker", broker=3, detail="fenced", **NO_TOPIC)
    rows.add("reassignment", detail="adding 4, 3, removing 2", replicas=[1, 2, 3, 4])
    return rows.add("broker", MINUTE, broker=1, detail="unfenced", **NO_TOPIC)


def foreign() -> History:
    """A commit above the log end, between two batches of one leader."""
    rows = History("segment").add("append", offset=0, end_offset=100, leader_epoch=3)
    rows.commit(5000).out_of_range(5000, source="client-log")
    return rows.add("append", offset=100, end_offset=120, leader_epoch=3)


def deleted_by_hand() -> History:
    rows = History("dump-log").add("group", detail="Empty", group="billing", **NO_TOPIC)
    rows.commit(300).add("tombstone", group="billing", detail="committed offset")
    said = "The following groups were deleted: billing. A total of 1 offsets were removed."
    rows.add("group", 10, source="broker-log", detail="Dead", text=said, broker=1, **GROUP)
    return rows.commit(1_000)


def missing() -> History:
    rows = History("broker-log").add("log", detail="deleted", **TOPIC)
    return vain(rows, "UNKNOWN_TOPIC_OR_PARTITION", **{**TOPIC, "topic": "orders", "detail": "orders"})


def away() -> History:
    """The only replica in sync leads, nobody does, and it leads again."""
    rows = History("broker-log").add("leader", broker=2, leader=2, leader_epoch=4, offset=9)
    rows.add("broker", broker=2, detail="fenced: its session timed out", **NO_TOPIC)
    rows.add("leader", MINUTE, broker=2, leader=-1, leader_epoch=5, offset=9)
    return rows.add("leader", broker=2, leader=2, leader_epoch=6, offset=9)
