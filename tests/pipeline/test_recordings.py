"""Recordings of real clusters (`python -m mockbroker.rig record incidents`): an incident is named, with all
that it happened to, and what operators do every day is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import Analysis, Finding, analyze, search
from mockbroker.pipeline.collecting import collect
from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.errors import PipelineError
from mockbroker.pipeline.reproduce.kinds import kind_of
from mockbroker.pipeline.reproduce.reading import read
from mockbroker.pipeline.symptoms import Symptom

from ..properties import thorough
from ..turns import in_turn
from .not_told import NOT_TOLD
from .real_clusters import HOME, NEWEST, RECORDED, Analyzed, of_recording, recordings, truth_of, unpacked

OLDER = ("2.8.2-exactly-once", "3.9.2-producer-died-in-transaction")
"""Of other releases: files in the formats of each."""
TOLD = {
    "a group was set back": "up to {back} records of {topic}-{partition}, from its committed offset {offset} "
    "on",
    "a group was set on": "offset {from_offset} of group {group} for {topic}-{partition} expired",
    "a producer died in its transaction": "transactional id {transactional_id} at offset {offset} of "
    "{topic}-",
    "a producer was fenced": "producer {client} was fenced: ",
    "another producer took a transactional id": "with its transactional id {transactional_id}, as producer",
    "a group was deleted": "of group {group} for orders-0 was deleted with the group",
    "a topic was deleted": "somebody deleted topic {topic}, and for",
    "an out-of-sync replica was elected": "{lost} acknowledged records from offset {offset} on are lost",
    "a replica in sync was elected": "with {lost} records that no other replica had, from offset {offset} to",
    "a broker got another address": "broker {broker} advertises {address}, a name that clients could not",
    "a group got its first ACL": "; an ACL was created: {user} allow READ from *; it stands at 50 of",
    "a producer began to compress": "it stands at {offset} of {topic}-{partition}, and 321 records",
    "a reassignment was begun": "{topic}-{partition} (adding 3, removing 2) had not ended after",
    "a script committed offsets": "committed {offset} for group {group} in {topic}-{partition}, whose log "
    "ended at 120",
    "a lowered limit was reached": "record at offset {offset} of {topic}-{partition} after 2 deliveries; ",
    "a record was released for the last time": "share group {group} gave up, or rejected in the end, the "
    "record at offset {offset} of {topic}-{partition} after 5 deliveries",
    "a transactional id expired": "transactional id {transactional_id} was refused: its id had expired",
    "an operator reset offsets": "group {group} for {topic}-{partition} was set back from 1000 to {offset}",
    "an operator set a share group's offset": "share group {group} in {topic}-{partition} was set",
    "an operator set offsets on": "group {group} for {topic}-{partition} was set on from 300 to {offset}",
    "a group began after the first records": "{topic}-{partition} after {offset} records had been written",
    "the disk of a broker was lost": "{topic}-{partition}, which it leads, and no other replica in sync had "
    "the records: {lost} records",
    "records were deleted by request": "{topic}-{partition} below {offset} deleted (DeleteRecords)",
    "retention deleted segments": "{topic}-{partition} below {offset} were deleted",
}
"""How a finding tells of an event."""
SKIPPED = "skipped the {on} records up to {offset}"
OF = {
    "a topic was deleted": ("topic-deleted",),
    "a group was set back": ("poll-overrun",),
    "a group was set on": ("offsets-expired",),
    "the disk of a broker was lost": ("only-replica-lost",),
    "retention deleted segments": ("retention-lowered",),
}
"""Events that have another cause in other recordings."""
REFUSED = (
    *("applications-share-a-group", "clock-stepped", "follower-log-lost"),
    *("hanging-transaction", "record-unreadable"),
    *("codec-unknown", "connections-rejected", "group-renamed", "client-throttled"),
    *("log-dir-failed", "login-refused", "members-replaced", "retention-by-size"),
    *("session-timeout-refused", "transaction-timeout-refused"),
    *("offset-rewind", "offsets-topic-expanded"),
    *("broker-away", "follower-slow", "response-too-large"),
)
"""What `reproduce` does not show again; a transaction only hangs for sure if the files go on for long, and
that a record can't be read only its client could say."""
CALLED = {
    "transactions-away": "leader-away",
    "coordinator-away": "leader-away",
    "producer-throttled": "client-throttled",
    "consumer-throttled": "client-throttled",
    "broker-suspended": "cut-off-leader",
    "crash-loop": "members-replaced",
    "commits-out-of-order": "offset-rewind",
    "disk-failed": "log-dir-failed",
    "disk-full": "log-dir-failed",
}
"""Causes that truths name otherwise, since they were written before there was a name for them."""
BY_COMMITS = {"commit-back": "offset", "commit-missing": "end_offset"}
"""How it is told that a group went back where only its commits are known, and which of the truth's offsets is
named then."""
QUIET = ("shipping",)
"""The group of librdkafka, whose log does not tell where a consumer begins."""
OFTEN = frozenset(
    {
        "3.9.2-foreign-offsets",
        "3.9.2-reassignment-stuck",
        "3.9.2-unclean-allowed",
        "4.4.0-acl-locks-out",
        "4.4.0-broker-away",
        "4.4.0-coordinator-away",
        "4.4.0-producer-throttled",
        "4.4.0-commits-out-of-order",
        "4.4.0-offsets-topic-expanded",
        "4.4.0-max-bytes-lowered",
        "4.4.0-never-committed",
        "4.4.0-topic-deleted",
        "4.4.0-crash-loop",
        "4.4.0-disk-failed",
        "4.4.0-disk-full",
        "4.4.0-leader-died-with-acks-one-healthy",
        "4.4.0-password-changed",
        "4.4.0-retention-by-size",
        "4.4.0-advertised-wrong",
        "4.4.0-record-unreadable",
        "4.4.0-share-delivery-limit-lowered",
        "4.4.0-share-offsets-reset",
        "4.4.0-share-records-deleted",
        "4.4.0-share-records-given-up",
        "4.4.0-transactional-id-expiry-healthy",
    }
)
"""Of the healthy twins of incidents, and of the recordings whose truth says which clients they have, those
that are not only tried with the profile `thorough`."""


def told_of(truth: dict[str, Any]) -> Iterator[str]:
    """What findings have to say of the events."""
    for event in () if truth["healthy"] else truth["event"]:
        did = event["did"]
        if did not in TOLD or truth["finding"] not in OF.get(did, (truth["finding"],)):
            continue
        was, now = event.get("from_offset", 0), event.get("offset", 0)
        numbers = {**event, "back": was - now, "on": now - was}
        yield TOLD[did].format_map(numbers)
        if did == "a group was set on" and event["group"] not in QUIET:
            yield SKIPPED.format_map(numbers)


def usually(folder: Path) -> bool:
    return folder.name in OFTEN or not (folder.name.endswith("-healthy") or "clients" in truth_of(folder))


USUAL = [*NEWEST.values(), *(HOME / each for each in OLDER)]
TRIED = RECORDED if thorough() else in_turn([each for each in USUAL if usually(each)], 2)
"""All, with the tests of `test_left_out.py`, take 40 minutes of CPU: `make acceptance ARGS=incidents`."""
SHORT = [each for each in NEWEST.values() if not each.name.endswith("-healthy")]
TOLD_OF = [each for each in TRIED if each.name not in NOT_TOLD]
ASKED_ALONE = (
    "3.9.2-transactions-away",
    "4.4.0-partition-paused",
    "4.4.0-record-corrupt",
    "4.4.0-seeks-to-beginning",
)
"""Of those that are not told yet: tests of their own say what is told of them."""
UNTOLD = [each for each in TRIED if each.name in NOT_TOLD.difference(ASKED_ALONE)] or [HOME / min(NOT_TOLD)]
"""At least one is tried."""


@pytest.mark.parametrize("folder", recordings(TOLD_OF, SHORT))
def test_a_recording(folder: Path, analyzed: Analyzed) -> None:
    check(analyzed(folder), folder)


@of_recording("4.4.0-partition-paused")
def test_a_client_had_paused_a_partition(analyzed: Analyzed) -> None:
    """Only Java's client says so."""
    found = not_told("4.4.0-partition-paused", analyzed)
    told = {each["group"]: (each["signature"], each["confidence"]) for each in found.findings}
    assert told == {
        "shipping": ("partition-paused", "likely"),
        "billing": ("record-unreadable", "possible"),
    }
    assert {each.group: found.incidents[each.explained_by[0]].name for each in found.symptoms} == {
        group: name for group, (name, _) in told.items()
    }


def test_nobody_could_lead_the_topic_of_transactions(analyzed: Analyzed) -> None:
    found = not_told("3.9.2-transactions-away", analyzed)
    assert [(each.name, each.confidence) for each in found.incidents] == [("leader-away", "certain")]
    told = {each.name: (each.at, each.explained_by) for each in found.symptoms}
    assert told.pop("no-leader") == ("__transaction_state-0", [0])
    assert {name: by for name, (_, by) in told.items()} == {"broker-died": [0]}


@of_recording("4.4.0-seeks-to-beginning")
def test_applications_had_sought_to_the_beginning(analyzed: Analyzed) -> None:
    """Only Java's client says so."""
    found = not_told("4.4.0-seeks-to-beginning", analyzed)
    told = [(each.name, each.confidence) for each in found.incidents]
    assert told == [("seeks-to-beginning", "certain"), ("offset-rewind", "possible")]
    assert {(each.name, each.group, *each.explained_by) for each in found.symptoms} == {
        ("commit-back", "billing", 0),
        ("commit-back", "shipping", 1),
    }


@pytest.mark.parametrize(
    ("name", "cause", "confidence", "symptoms"),
    [
        ("offsets-topic-retention", "offsets-topic-retention", "certain", set()),
        ("rebalance-held-up", "rebalance-held-up", "likely", {"rebalance-long"}),
        ("response-too-large", "response-too-large", "certain", {"response-too-large"}),
    ],
)
def test_a_cause_is_told_though_its_symptoms_are_not(
    name: str, cause: str, confidence: str, symptoms: set[str], tmp_path: Path
) -> None:
    found = analyze([unpacked(NEWEST[name], tmp_path)], tmp_path / "out")
    assert [(each.name, each.confidence) for each in found.incidents] == [(cause, confidence)]
    assert {each.name for each in found.symptoms} == symptoms
    assert all(each.explained_by == [0] for each in found.symptoms)


@pytest.mark.parametrize("folder", recordings(UNTOLD, []))
def test_what_is_not_told_yet(folder: Path, analyzed: Analyzed) -> None:
    not_told(folder.name, analyzed)


def test_the_cause_of_what_stands_still_is_told(analyzed: Analyzed) -> None:
    """Its symptoms are not: groups commit once where they stand, and one of them not even that."""
    found = not_told("4.4.0-record-corrupt", analyzed)
    (one,) = found.incidents
    assert (one.name, one.confidence) == ("record-corrupt", "likely")
    assert "from offset 124 up to 160 has a wrong checksum" in one.story
    assert "in the way of billing, shipping: " in one.story
    assert _is_reproduced(found.collected.folder.parent)


def test_what_is_not_told_yet_was_recorded() -> None:
    assert {each.name for each in RECORDED} >= NOT_TOLD


def not_told(name: str, analyzed: Analyzed) -> Analysis:
    """What is found, which is not the whole truth yet."""
    found = analyzed(HOME / name)
    with pytest.raises(AssertionError):
        check(found, HOME / name)
    return found


def check(found: Analysis, folder: Path) -> None:
    """What was found, and written beside what was read, has to be the truth. AssertionError."""
    truth = truth_of(folder)
    damaged = any(event["did"] == "a segment was damaged" for event in truth.get("event", ()))
    assert bool(found.unreadable) == damaged
    told = [(each.name, each.story) for each in found.incidents]
    cause = CALLED.get(truth.get("finding", ""), truth.get("finding"))
    symptoms = [(each.told, each.explained_by) for each in found.symptoms if each.name != "broker-died"]
    died = [each.broker for each in found.symptoms if each.name == "broker-died"]
    assert died == [each["broker"] for each in truth.get("event", ()) if each["did"] == "a broker was killed"]
    if truth["healthy"]:
        assert (told, symptoms) == ([], [])
        return
    assert [name for name, _ in told[:1]] == [cause], told
    assert len(told) <= 2, told
    missing = [each for each in told_of(truth) if not any(map(_says(each), found.findings))]
    assert missing == [], [each["summary"] for each in found.findings]
    assert all(any(told[each][0] == cause for each in by) for _, by in symptoms), symptoms
    offsets = {(each.at, each.offset, each.end_offset) for each in found.symptoms}
    assert set(_noticed(truth)) <= offsets
    for wanted in truth.get("symptom", ()):
        assert any(_is(each, wanted) for each in found.symptoms), (wanted, symptoms)
    assert _is_reproduced(found.collected.folder.parent) is (cause not in REFUSED)


def _is(symptom: Symptom, wanted: dict[str, Any]) -> bool:
    """Not every client's log says which client was refused, or what it wrote to."""
    untold = {"client"} | ({"topic", "partition"} if symptom.client is not None else set())
    given = {
        name: value
        for name, value in wanted.items()
        if name not in untold or getattr(symptom, name) is not None
    }
    if wanted["name"] == "position-back" and symptom.name in BY_COMMITS:
        return (symptom.group, symptom.offset) == (wanted["group"], wanted[BY_COMMITS[symptom.name]])
    return all(getattr(symptom, name) == value for name, value in given.items())


def _is_reproduced(report: Path) -> bool:
    try:
        return bool(kind_of(read(report)[0]))
    except PipelineError:
        return False


def _says(text: str) -> Any:
    def says(finding: Finding) -> bool:
        return text in finding["summary"]

    return says


def test_all_are_tried_with_the_profile_thorough() -> None:
    """Which has to be known by the time that this file is imported."""
    assert (TRIED == RECORDED) is thorough()


def test_every_incident_was_recorded_without_its_cause_too() -> None:
    """By the same release."""
    twins = {each.name for each in RECORDED if truth_of(each)["healthy"]}
    assert [each.name for each in RECORDED if not {each.name, f"{each.name}-healthy"} & twins] == []


def test_events_are_told_of() -> None:
    """Else nothing would be compared."""
    counts = {folder.name: len(list(told_of(truth_of(folder)))) for folder in RECORDED}
    assert counts["4.4.0-poll-overrun"] == 3
    assert counts["4.4.0-offsets-expired"] == 4
    assert sum(map(bool, counts.values())) > 12


def _noticed(truth: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """The records that groups did not get, and those that were lost, where the files tell it."""
    for event in truth["event"]:
        if event["did"] == "a group was set on" and event["group"] not in QUIET:
            yield f"{event['topic']}-{event['partition']}", event["from_offset"], event["offset"]
        elif event["did"] == "an out-of-sync replica was elected":
            yield (
                f"{event['topic']}-{event['partition']}",
                event["offset"],
                event["offset"] + event["lost"],
            )


def test_without_other_files_records_are_gone_all_the_same(tmp_path: Path) -> None:
    """That the election was unclean is in the controller's log, and in what brokers say of recovering."""
    files = unpacked(NEWEST["unclean-election"], tmp_path)
    told = list(files.rglob("state-change.log"))
    for each in told:
        lines = each.read_text().splitlines(keepends=True)
        each.write_text("".join(line for line in lines if "RECOVERING" not in line))
    kept = [*told, *(each for each in files.rglob("*") if _of_groups(each))]
    found = analyze(kept, tmp_path / "out")
    (gone,) = [each for each in found.symptoms if each.name == "acknowledged-missing"]
    assert (gone.at, gone.offset, gone.end_offset, gone.explained_by) == ("orders-0", 1000, 2500, [])
    assert "the log of a controller is not among the files" in gone.missing


def test_without_the_states_of_groups_offsets_go_back_all_the_same(tmp_path: Path) -> None:
    """That a group had no members tells that an operator set its offset back."""
    with closing(DuckEngine(tmp_path)) as engine:
        kept = [each for each in unpacked(NEWEST["admin-reset"], tmp_path).rglob("*") if _of_groups(each)]
        collected = collect(kept, tmp_path / "rows", engine)
        whole = search(collected, engine).symptoms
        shutil.rmtree(tmp_path / "rows" / "kind=group")
        rest = search(collected, engine).symptoms
    assert {each.told for each in whole} == {each.told for each in rest}
    assert {each.group for each in whole} == {"billing", "shipping", "reports"}
    assert [each.explained_by for each in whole] == [[0]] * 3
    assert [each.explained_by for each in rest] == [[]] * 3


def _of_groups(path: Path) -> bool:
    return path.parent.name.startswith("__consumer_offsets") and path.suffix == ".log"
