"""*Certain* means that the files hold the act itself: the same rows without it are never certain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline import signatures
from mockbroker.pipeline.findings import CERTAIN
from mockbroker.pipeline.observations import Observation

from .rows import DAY, SECOND, History, found_in
from .test_consumer_groups import STORIES as GROUPS
from .test_hanging_transactions import hung
from .test_leaderless_markers import left_open
from .test_resets import RESETS, cut_off
from .test_rewinds import FOUND as REWINDS
from .test_sequences import UNKNOWN, appended, overtaken, refused

MINUTE = 60 * SECOND
TOPIC: dict[str, Any] = {"partition": None}
NO_TOPIC: dict[str, Any] = {"topic": None, "partition": None}
GROUP: dict[str, Any] = {"group": "billing", **NO_TOPIC}
OFFSETS: dict[str, Any] = {"topic": "__consumer_offsets", "partition": 7}
ID: dict[str, Any] = {"transactional_id": "payments", **NO_TOPIC}
Is = Callable[[Observation], bool]


@dataclass(frozen=True)
class Case:
    """`acts` are rows without each of which nothing is certain."""

    file: str
    history: History
    acts: tuple[Is, ...]


def told(kind: str, *words: str) -> Is:
    return lambda row: row.kind == kind and all(word in (row.detail or "") for word in words)


def case(file: str, history: History, *acts: Is | str) -> Case:
    return Case(file, history, tuple(told(each) if isinstance(each, str) else each for each in acts))


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


def without_disk() -> History:
    rows = History("broker-log").add("leader", broker=2, detail="its disk has failed")
    return rows.add("leader", MINUTE, broker=2, leader=-1, leader_epoch=1)


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


LOADS, RESET = "loads", "resets"
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


CASES = {
    "group-deleted": case("expired_offsets", deleted_by_hand(), told("group", "Dead")),
    "topic-deleted": case("topics_deleted", missing(), "log", "complaint"),
    "leader-away": case(
        "leaders_away",
        away(),
        "broker",
        lambda row: row.leader == -1,
        lambda row: row.leader_epoch == 6,
    ),
    "not-authorized": case("not_authorized", denied(), "acl", "refused"),
    "records-invalid": case("invalid_records", keyless(), "config", "refused"),
    "broker-unresolved": case("failures", unresolved(), "broker", "complaint"),
    "connections-rejected": case(
        "failures",
        vain(History("broker-log"), "TooManyConnections", broker=1, detail="10.0.0.7 has 30 connections"),
        "complaint",
    ),
    "broker-away": case("out_of_sync", away_for_long(), told("broker", "unfenced")),
    "log-dir-failed": case("out_of_sync", disk_full(), lambda row: "Stopping" in (row.text or "")),
    "client-throttled": case("throttled_clients", throttled(), "quota", "complaint"),
    "codec-unknown": case(
        "failures",
        vain(History("client-log"), "UnsupportedCodec", group="billing", detail="ZSTD"),
        "complaint",
    ),
    "reassignment-stuck": case(
        "reassignments", stuck(), "reassignment", told("broker", "fenced"), told("broker", "unfenced")
    ),
    "commit-past-log-end": case(
        "commits_past_end", foreign(), "commit", "refused", lambda row: row.offset == 100
    ),
    "records-deleted": case("administrators", deleted("client delete records request"), "log-start"),
    "retention-lowered": case("administrators", deleted("segment deletion"), "config", "log-start"),
    "retention-by-size": case("beyond_size", expired_at_once("beyond 3000 bytes"), "expiry", "log-start"),
    "offsets-topic-expanded": case("offsets_mislaid", moved_home(), "log", "commit"),
    "offsets-topic-retention": case(
        "offsets_mislaid",
        History("broker-log").add("log-start", offset=9, detail="segment deletion", **OFFSETS),
        "log-start",
    ),
    "response-too-large": case(
        "failures",
        vain(History("client-log"), "ResponseTooLarge", client="billing-1", detail="12000"),
        "complaint",
    ),
    "disk-failed": case(
        "disks_failed",
        without_disk(),
        told("leader", "its disk has failed"),
        lambda row: row.leader == -1,
    ),
    "transaction-timeout-refused": case(
        "timeouts_refused",
        History("client-log").add("refused", error="INVALID_TRANSACTION_TIMEOUT", **ID),
        "refused",
    ),
    "session-timeout-refused": case(
        "timeouts_refused",
        History("client-log").add("refused", error="INVALID_SESSION_TIMEOUT", **GROUP),
        "refused",
    ),
    "timestamps-too-old": case("old_timestamps", expired_at_once(OLD), "expiry", "log-start"),
    "clock-stepped": case("clocks", stepped(), "log-start"),
    "rebalance-timeout": case("consumer_groups", GROUPS["late"], told("member", "fenced")),
    "session-timeout": case("consumer_groups", GROUPS["expired"], told("member", "fenced")),
    "group-never-settles": case("consumer_groups", GROUPS["never settles"], "group"),
    "migration-refused": case("consumer_groups", GROUPS["refused"], "refused"),
    "cut-off-leader": case("cut_off", went_on_alone(), "in-sync-replicas", "truncation"),
    "unclean-election": case(
        "elections",
        History("broker-log").add("leader", leader=3, leader_epoch=2, detail="unclean"),
        told("leader", "unclean"),
    ),
    "undefined-epoch": case(
        "epochs",
        History()
        .add("leader", leader=1, leader_epoch=2)
        .add("epoch-answer", leader_epoch=1, end_offset=-1, client="a", broker=1),
        "epoch-answer",
    ),
    "offsets-expired": case("expired_offsets", expired(), told("tombstone", "Removed")),
    "producer-fenced": case("fenced_producers", fenced(), lambda row: row.producer_epoch == 1, "refused"),
    "too-few-in-sync": case("too_few_in_sync", too_few(), told("refused", "min.isr")),
    "record-too-large": case("too_large", too_large(), "config", "refused"),
    "log-start-past-log-end": case(
        "followers",
        History().add(
            "follower-failure",
            broker=2,
            detail="cannot increment the log start offset to 9: it is larger than the high watermark 5",
        ),
        "follower-failure",
    ),
    "group-full": case("refused_members", not_let_in("GROUP_MAX_SIZE_REACHED"), "refused"),
    "instance-id-shared": case("refused_members", joined_as_another(), "member", "refused"),
    "record-unreadable": case("unreadable_records", stood_still(), "complaint"),
    "topic-recreated": case("lifetimes", recreated(), told("log", "deleted")),
    "coordinator-moved-while-loading": case(
        LOADS, moved(), told("load", "failed"), lambda row: row.broker == 7
    ),
    "load-ended-early": case(LOADS, loading("failed: CorruptRecordException"), told("load", "failed")),
    "slow-load": case(LOADS, loading("finished in 90000 ms"), told("load", "finished")),
    "cleaner-stopped": case(
        LOADS, History("broker-log").add("cleaner", broker=3, detail="Error due to: X"), "cleaner"
    ),
    "open-transaction": case("open_transactions", timed_out(), told("transaction", "timed out")),
    "set-back": case(RESET, RESETS["logs that parted"], told("reset", "truncation")),
    "out-of-range": case(RESET, RESETS["no reset follows"], "log-start"),
    "reset-to-earliest": case(RESET, RESETS["retention"], "log-start"),
    "reset-to-latest": case(RESET, reset_to_latest(), "log-start"),
    "offset-rewind": case("rewinds", REWINDS["as at LinkedIn"], "restore"),
    "offset-lost": case("rewinds", REWINDS["gone"], "restore"),
    "spurious-sequence-error": case(
        "sequences", refused(appended(History(), 3).add("log-start", offset=3), UNKNOWN, 3), "log-start"
    ),
    "overtaken-batch": case(
        "sequences",
        refused(overtaken(History()), "OUT_OF_ORDER_SEQUENCE_NUMBER", 0),
        "append",
        "refused",
    ),
    "poll-overrun": case(
        "slow_members",
        History("client-log").add(
            "member", group="billing", detail="a left: consumer poll timeout has expired", **NO_TOPIC
        ),
        "member",
    ),
    "transactional-id-expired": case("transactions", forgotten(), "tombstone", "refused"),
    "hanging-transaction": case("transactions", hung(900 * SECOND), "transaction"),
    "marker-skipped": case(
        "leaderless_markers",
        left_open(),
        lambda row: row.kind == "leader" and row.leader == -1,
        "transaction",
        "high-watermark",
        "append",
    ),
    "truncation-gap": case("truncations", cut_off(), lambda row: row.leader == 3),
    "log-end-fell": case("truncations", fell(), lambda row: row.offset == 100),
}
NEVER = {
    *("joined-too-early", "epoch-regression", "follower-failure", "follower-log-lost"),
    *("only-replica-lost", "login-refused", "follower-slow"),
    *("lost-records", "sequence-error", "producer-expired", "assignors-differ", "partition-paused"),
}
"""What is never certain, though others of the same search are."""


def certain(case: Case, without: Is = lambda _: False) -> set[str]:
    search = import_module(f"{signatures.__name__}.{case.file}")
    rows = [row for row in case.history.rows if not without(row)]
    return {each.signature for each in found_in(rows, search.find) if each.confidence == CERTAIN}


def test_offsets_of_a_group_with_members_expire_only_where_its_coordinator_says_so() -> None:
    one = case("expired_offsets", unsubscribed(), told("tombstone", "Removed"))
    assert certain(one) == {"offsets-expired"}
    search = import_module(f"{signatures.__name__}.{one.file}")
    (found,) = found_in(one.history.rows, search.find)
    assert ", while members read only other topics" in found.summary
    assert found_in([each for each in one.history.rows if each.source != "broker-log"], search.find) == []


@pytest.mark.parametrize("name", CASES)
def test_without_the_act_nothing_is_certain(name: str) -> None:
    one = CASES[name]
    assert name in certain(one) <= {*CASES}
    for act in one.acts:
        assert any(map(act, one.history.rows))
        assert name not in certain(one, act)


def test_every_signature_that_may_be_certain_is_tried() -> None:
    """They are listed by their files: a new one has to be added here."""
    may_be: set[str] = set()
    for search in signatures.searches():
        source = Path(str(import_module(search.find.__module__).__file__)).read_text()
        if "CERTAIN" in source:
            may_be |= {name for each in search.signatures for name in each.names}
    assert may_be == {*CASES, *NEVER}
    assert not NEVER.intersection(CASES)
