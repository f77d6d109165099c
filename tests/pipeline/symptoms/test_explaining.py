"""Which incidents explain a symptom, and what is said of one that none explains."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from rich.console import Console

from mockbroker.pipeline.analysis import Analysis, search
from mockbroker.pipeline.collecting import Collected
from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.incidents import Event, Incident
from mockbroker.pipeline.page import write_page
from mockbroker.pipeline.report import show
from mockbroker.pipeline.symptoms import Symptom, explain, place

from ..rows import History, written

MINUTE = 60_000
GONE: dict[str, Any] = {"topic": "orders", "partition": 0, "from_ms": 10_000, "to_ms": 20_000}
SKIPPED: dict[str, Any] = {**GONE, "group": "billing"}


def symptom(name: str, about: dict[str, Any]) -> Symptom:
    return Symptom(name, "", (("a.log", 7, "reset"),), **about)


def incident(**values: Any) -> Incident:
    own = dict.fromkeys(("group", "client", "topic", "partition", "producer_id", "broker"))
    own |= {"signature": "s", "from_ms": 5_000, "to_ms": 6_000, "evidence": []}
    return Incident([Event({**own, **values})], "")


@pytest.mark.parametrize(
    ("about", "explains"),
    [
        ({"topic": "orders", "partition": 0}, True),
        ({"topic": "orders"}, True),
        ({"topic": "orders", "partition": 0, "group": "billing"}, True),
        ({"topic": "orders", "partition": 1}, False),
        ({"topic": "orders", "partition": 0, "group": "reports"}, False),
        ({"group": "billing"}, False),
        ({"broker": 1}, False),
        ({"topic": "orders", "partition": 0, "from_ms": 90_000, "to_ms": 91_000}, False),
        ({"topic": "orders", "partition": 0, "from_ms": 70_000, "to_ms": 71_000}, True),
        ({"topic": "orders", "partition": 0, "from_ms": -4_000_000, "to_ms": -4_000_000}, False),
        ({"broker": 1, "evidence": [{"file": "a.log", "position": 7}]}, True),
    ],
)
def test_the_same_thing_at_the_same_time(about: dict[str, Any], *, explains: bool) -> None:
    found = symptom("records-skipped", SKIPPED)
    explain([found], [incident(**about)])
    assert found.explained_by == [0] * explains


@pytest.mark.parametrize(
    ("about", "belongs"),
    [
        ({"signature": "clock-stepped", "broker": 2}, True),
        ({"signature": "clock-stepped", "broker": 1}, False),
        ({"signature": "unclean-election", "topic": "orders", "partition": 0, "broker": 3}, True),
        ({"signature": "unclean-election", "broker": 3, "from_ms": 90_000, "to_ms": 91_000}, False),
        ({"signature": "poll-overrun", "group": "billing"}, False),
    ],
)
def test_what_began_while_a_broker_was_away(about: dict[str, Any], *, belongs: bool) -> None:
    found = symptom("broker-died", {"broker": 2, "from_ms": 10_000, "to_ms": 20_000})
    explain([found], [incident(**about)])
    assert found.explained_by == [0] * belongs


@pytest.mark.parametrize(
    ("about", "explains"),
    [
        ({"signature": "response-too-large", "group": "billing"}, True),
        ({"signature": "response-too-large", "group": "reports"}, False),
        ({"signature": "response-too-large", "client": "billing-1"}, False),
        ({"signature": "session-timeout", "group": "billing"}, False),
    ],
)
def test_what_keeps_a_group_from_going_on(about: dict[str, Any], *, explains: bool) -> None:
    found = symptom("lag-stands", SKIPPED)
    explain([found], [incident(**about)])
    assert found.explained_by == [0] * explains


def test_what_happened_to_a_group_does_not_explain_what_happened_to_the_partition() -> None:
    found = symptom("acknowledged-missing", GONE)
    effect, cause = incident(signature="set-back", **SKIPPED), incident(signature="truncation-gap", **SKIPPED)
    explain([found], [effect, cause])
    assert found.explained_by == [1]


def test_a_coordinator_explains_commits_and_not_records() -> None:
    commits, records = symptom("commit-back", SKIPPED), symptom("records-skipped", SKIPPED)
    explain([commits, records], [incident(topic="__consumer_offsets", partition=3)])
    assert (commits.explained_by, records.explained_by) == ([0], [])


def analyzed(history: History, without: str = "") -> Analysis:
    with TemporaryDirectory() as folder:
        written([row for row in history.rows if row.kind != without], Path(folder))
        engine = DuckEngine(Path(folder))
        try:
            return search(Collected(Path(folder), {"0.log": "Kafka log segment"}), engine)
        finally:
            engine.close()


def hanging(minutes: int) -> History:
    """A batch that comes after its transaction has ended, in a log that goes on for so long."""
    one: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "topic": "orders", "source": "segment"}
    rows = History().add("append", offset=0, end_offset=1, detail="transactional", **one)
    rows.add("append", offset=1, end_offset=2, detail="transactional, control commit", **one)
    rows.add("transaction", transactional_id="payments", detail="CompleteCommit", **{**one, "topic": None})
    rows.add("append", offset=2, end_offset=3, detail="transactional", **one)
    return rows.add("append", minutes * MINUTE, offset=3, end_offset=9, source="segment")


@pytest.mark.parametrize(("minutes", "confidence"), [(20, "certain"), (2, "likely")])
def test_without_the_rows_of_its_cause_less_is_known_of_a_symptom(minutes: int, confidence: str) -> None:
    whole = analyzed(hanging(minutes))
    assert [each.confidence for each in whole.incidents] == [confidence]
    assert [(each.name, each.explained_by) for each in whole.symptoms] == [("last-stable-offset-stands", [0])]
    rest = analyzed(hanging(minutes), without="transaction")
    assert [(each.name, each.confidence) for each in rest.incidents] == [("open-transaction", "possible")]
    assert [each.told for each in rest.symptoms] == [each.told for each in whole.symptoms]


def cut_off() -> History:
    """A group committed what the next leader does not have."""
    one: dict[str, Any] = {"topic": "orders", "source": "segment"}
    rows = History().add("append", offset=0, end_offset=25, **one)
    rows.add("commit", group="billing", offset=25, leader_epoch=0, **one)
    return rows.add("leader", topic="orders", source="log", broker=3, leader=3, leader_epoch=2, offset=10)


def test_the_report_tells_what_nothing_explains(tmp_path: Path) -> None:
    found = analyzed(cut_off())
    (left,) = found.symptoms
    assert left.missing == [
        "the log of a controller is not among the files",
        "the log of broker 3 is not among the files",
    ]
    said = io.StringIO()
    show(found, Console(file=said, width=100))
    lines = said.getvalue().splitlines()
    missing = "the log of a controller, the logs of brokers, the logs of clients, the offsets topic"
    assert lines[1:3] == ["No known pattern.", "read: Kafka log segment"]
    assert lines[3] == f"not among the files: {missing}"
    assert "Not explained: 1 symptom" in lines
    assert "  15 acknowledged records of orders-0 are gone: offsets 10 to 24" in lines
    assert "        segment.txt:2" in lines
    write_page(found, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<h1>No known pattern</h1>" in page
    assert "<h2>acknowledged-missing</h2>" in page


def test_what_replicas_tell_alike_is_shown_once() -> None:
    one: dict[str, Any] = {"topic": "orders", "source": "segment", "group": "billing"}
    rows = History().add("commit", offset=25, **one).add("commit", MINUTE, offset=10, **one)
    rows.rows = [
        replace(row, file=f"broker{broker}/__consumer_offsets-0/0.log")
        for broker in range(5)
        for row in rows.rows
    ]
    (back,) = analyzed(rows).symptoms
    said = "broker0/__consumer_offsets-0/0.log:{} (also in 4 other files)"
    assert [place(each) for each in back.evidence] == [said.format(1), said.format(2)]


def test_a_healthy_log_has_neither() -> None:
    found = analyzed(History().add("append", source="segment", offset=0, end_offset=5))
    said = io.StringIO()
    show(found, Console(file=said, width=100))
    assert "No known pattern, and no symptom." in said.getvalue()
    assert "Not explained" not in said.getvalue()


def test_where_the_cause_of_what_happened_to_a_broker_would_be() -> None:
    rows = History(source="broker-log", topic="", partition=-1)
    for detail in ("unfenced", "fenced: its session timed out", "registered, epoch 9", "unfenced"):
        rows.add("broker", topic=None, partition=None, broker=2, detail=detail)
    (died,) = analyzed(rows).symptoms
    assert died.name == "broker-died"
    whose = "the log of a controller", "the log of broker 2"
    assert died.missing == [f"{each} is not among the files" for each in whose]


def test_a_clock_that_was_ahead_does_not_lengthen_what_lasts() -> None:
    rows = History(source="broker-log").add("leader", broker=1, leader=-1, leader_epoch=1)
    rows.add("load", 60 * MINUTE, broker=1, topic="__consumer_offsets", detail="left")
    rows.add("load", 40_000 - 60 * MINUTE, broker=1, topic="__consumer_offsets", detail="left")
    told = [each.told for each in analyzed(rows).symptoms]
    assert told == ["orders-0 had no leader for 40 s"]
