"""*Certain* means that the files hold the act itself: the same rows without it are never certain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from mockbroker.pipeline import signatures
from mockbroker.pipeline.findings import CERTAIN
from mockbroker.pipeline.observations import Observation

from .rows import SECOND, History, found_in
from .short_histories import (
    GROUP,
    ID,
    NO_TOPIC,
    OFFSETS,
    OLD,
    away,
    away_for_long,
    deleted,
    deleted_by_hand,
    denied,
    disk_full,
    expired,
    expired_at_once,
    fell,
    fenced,
    foreign,
    forgotten,
    joined_as_another,
    keyless,
    loading,
    missing,
    moved,
    moved_home,
    not_let_in,
    recreated,
    reset_to_latest,
    sought,
    stepped,
    stood_still,
    stuck,
    throttled,
    timed_out,
    too_few,
    too_large,
    unresolved,
    unsubscribed,
    vain,
    went_on_alone,
)
from .test_consumer_groups import STORIES as GROUPS
from .test_hanging_transactions import hung
from .test_leaderless_markers import left_open
from .test_resets import RESETS, cut_off
from .test_rewinds import FOUND as REWINDS
from .test_sequences import UNKNOWN, appended, overtaken, refused

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


LOADS, RESET = "loads", "resets"
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
    "seeks-to-beginning": case("seeks", sought(), told("reset", "earliest")),
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
