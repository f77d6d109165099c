"""What administrators did is told as what it is, and is neither a finding nor a symptom."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mockbroker.pipeline.acts import acts_of, shortly_before
from mockbroker.pipeline.analysis import analyze
from mockbroker.pipeline.ledgers import Note
from mockbroker.pipeline.readers.administration_messages import ELR
from mockbroker.pipeline.report import show

from .rows import START_MS, History
from .symptoms.test_explaining import analyzed

SECOND = 1_000
MINUTE = 60 * SECOND
TOPIC: dict[str, Any] = {"source": "broker-log", "partition": None}
BROKERS: dict[str, Any] = {**TOPIC, "topic": None}


def told(history: History, *notes: Note) -> list[str]:
    rows = [{name: getattr(row, name) for name in row.__slots__} for row in history.rows]
    return [each.told for each in acts_of(rows, notes)]


def away(broker: int, from_s: int, to_s: int | None) -> Note:
    to_ms = None if to_s is None else to_s * SECOND
    place = ("controller.log", broker, "broker")
    return Note("broker-shut-down", (place,), broker=broker, from_ms=from_s * SECOND, to_ms=to_ms)


@pytest.mark.parametrize(
    ("stops", "said"),
    [
        ([away(2, 10, 25)], ["broker 2 was shut down, and came back after 15 s"]),
        ([away(2, 10, None)], ["broker 2 was shut down, and had not come back at the end of the files"]),
        (
            [away(3, 90, 120), away(1, 10, 40), away(2, 45, 80)],
            ["brokers 1, 2 and 3 were shut down and started again one after the other, in 110 s"],
        ),
        (
            [away(1, 10, 40), away(2, 30, 80)],
            [
                "broker 1 was shut down, and came back after 30 s",
                "broker 2 was shut down, and came back after 50 s",
            ],
        ),
        (
            [away(1, 10, 40), away(2, 10_000, 10_010)],
            [
                "broker 1 was shut down, and came back after 30 s",
                "broker 2 was shut down, and came back after 10 s",
            ],
        ),
    ],
)
def test_restarts(stops: list[Note], said: list[str]) -> None:
    assert told(History(), *stops) == said


def altered() -> History:
    """A topic is created with a setting, all else is altered; a second controller tells it all again."""
    rows = History("broker-log").add("log", detail="created", **TOPIC)
    rows.add("config", 10, detail="retention.ms = 1000", **TOPIC)
    for _ in range(2):
        rows.add("config", MINUTE, detail="retention.ms = 2000", **TOPIC)
        rows.add("config", MINUTE, detail="all brokers: log.retention.ms = null", **BROKERS)
        rows.add("quota", MINUTE, detail="user=alice: consumer_byte_rate = 1024.0", **BROKERS)
    return rows.add("quota", MINUTE, detail="user=alice: consumer_byte_rate = none", **BROKERS)


ALTERED = [
    "retention.ms of topic orders was set to 2000",
    "log.retention.ms of all brokers was removed",
    "the quota consumer_byte_rate of user=alice was set to 1024.0",
    "the quota consumer_byte_rate of user=alice was removed",
]


def test_alterations() -> None:
    assert told(altered()) == ALTERED


def test_what_a_controller_sets_by_itself() -> None:
    """As it turns eligible leader replicas on; later it is an administrator."""
    rows = History("broker-log").add("config", detail=ELR, **BROKERS)
    rows.add("config", 10, detail="all brokers: min.insync.replicas = 1", **BROKERS)
    rows.add("config", MINUTE, detail="all brokers: min.insync.replicas = 2", **BROKERS)
    assert told(rows) == ["min.insync.replicas of all brokers was set to 2"]


def test_alterations_of_a_group() -> None:
    """Each row has all that is set of it; every broker tells it, and tells it again when it starts."""
    rows = History("broker-log")
    for now in (
        "share.auto.offset.reset = earliest",
        "share.auto.offset.reset = earliest, share.delivery.count.limit = 2",
        "share.auto.offset.reset = by_duration:PT1H, share.delivery.count.limit = 2",
        "share.auto.offset.reset = by_duration:PT1H",
        "none",
    ):
        for _ in range(3):
            rows.add("config", group="jobs", detail=now, **BROKERS)
    rows.add("config", group="other", detail="share.auto.offset.reset = by_duration:PT1H", **BROKERS)
    assert told(rows) == [
        "share.auto.offset.reset of group jobs was set to earliest",
        "share.delivery.count.limit of group jobs was set to 2",
        "share.auto.offset.reset of group jobs was set to by_duration:PT1H",
        "share.delivery.count.limit of group jobs was removed",
        "share.auto.offset.reset of group jobs was removed",
        "share.auto.offset.reset of group other was set to by_duration:PT1H",
    ]


def test_moves() -> None:
    rows = History("broker-log")
    for partition in (0, 1):
        rows.add("reassignment", partition=partition, detail="adding 4, removing 1")
    rows.add("reassignment", partition=0, detail="completed")
    assert told(rows) == [
        "2 partitions of orders were reassigned (0, 1; adding 4, removing 1), 1 not completed"
    ]
    rows.add("reassignment", partition=1, detail="completed")
    assert told(rows) == ["2 partitions of orders were reassigned (0, 1; adding 4, removing 1), completed"]


def test_deletions() -> None:
    rows = History("broker-log").add("log-start", offset=300, detail="client delete records request")
    rows.add("log-start", offset=500, detail="client delete records request", topic="app-counts-repartition")
    rows.add("log", detail="deleted", **TOPIC).add("log", detail="deleted", **TOPIC)
    assert told(rows) == [
        "the records of orders-0 below 300 were deleted by request",
        "topic orders was deleted",
    ]


def test_what_is_deleted_twice() -> None:
    """Two controllers tell of each; a third one starts later, and tells of all at once."""
    rows = History("broker-log")
    for after_ms, detail in ((0, "created"), (MINUTE, "deleted"), (500, "created"), (MINUTE, "deleted")):
        rows.add("log", after_ms, detail=detail, **TOPIC).add("log", 5, detail=detail, **TOPIC)
    for detail in ("created", "deleted") * 2:
        rows.add("log", 1, detail=detail, **TOPIC)
    assert told(rows) == ["topic orders was deleted"] * 2


def test_groups_that_were_deleted(tmp_path: Path) -> None:
    """All that one request names."""
    said = (
        "[GroupCoordinator 1]: The following groups were deleted: a, b, c. A total of 3 offsets were removed."
    )
    path = tmp_path / "server.log"
    path.write_text(f"[2026-11-23 02:46:01,972] INFO {said} (org.apache.kafka.coordinator.group.X)\n")
    found = analyze([path], tmp_path / "out")
    assert [each.told for each in found.acts] == [f"group {name} was deleted" for name in "abc"]
    assert (found.incidents, found.symptoms) == ([], [])


def test_what_is_told_of_a_healthy_cluster() -> None:
    """A setting of a client, and a segment that was too old, are no acts."""
    rows = altered().add("config", client="app", detail="max.poll.records = 1", topic=None)
    rows.add("log-start", offset=3, detail="segment deletion")
    found = analyzed(rows)
    assert (found.incidents, found.symptoms) == ([], [])
    assert [each.told for each in found.acts] == ALTERED
    assert [each.topic for each in found.acts] == ["orders", None, None, None]
    said = io.StringIO()
    show(found, Console(file=said, width=100))
    assert said.getvalue().endswith(
        "What administrators did:\n"
        + "".join(f"  {time}  {each}\n" for time, each in zip(TIMES, ALTERED, strict=True))
    )


TIMES = ["22:14:21.010", "22:15:21.010", "22:16:21.010", "22:20:21.010"]


def test_what_may_have_led_to_a_symptom() -> None:
    (first, *rest) = analyzed(altered()).acts
    noticed = first.from_ms + MINUTE, first.from_ms + 2 * MINUTE
    assert shortly_before([first, *rest], *noticed, "orders", None, of_client=True) == ALTERED[:3]
    assert shortly_before([first, *rest], *noticed, "returns", None, of_client=True) == ALTERED[1:3]
    assert shortly_before([first, *rest], *noticed, None, None, of_client=False) == ALTERED[1:2]
    assert shortly_before([first, *rest], START_MS - MINUTE, START_MS, "orders", None, of_client=True) == []
    late = first.from_ms + 11 * MINUTE, first.from_ms + 12 * MINUTE
    assert shortly_before([first], *late, "orders", None, of_client=True) == []


def test_what_may_have_led_to_a_symptom_of_a_group() -> None:
    rows = History("broker-log").add(
        "config", group="jobs", detail="share.session.timeout.ms = 45000", **BROKERS
    )
    done = acts_of([{name: getattr(row, name) for name in row.__slots__} for row in rows.rows], ())
    noticed = START_MS, START_MS + MINUTE
    told = ["share.session.timeout.ms of group jobs was set to 45000"]
    assert shortly_before(done, *noticed, "orders", "jobs", of_client=True) == told
    assert shortly_before(done, *noticed, "orders", "billing", of_client=True) == []
    assert shortly_before(done, *noticed, "orders", None, of_client=False) == []
