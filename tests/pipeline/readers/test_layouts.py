"""Dates in other layouts, and what is said of a file about Kafka that has none."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mockbroker.dumps.files import head
from mockbroker.pipeline.readers import Reading, recognise
from mockbroker.pipeline.readers.missed import missed

from .reading import rows

LOGGER = "org.apache.kafka.clients.consumer.internals.Fetcher"
AT = "Fetch offset 7 is out of range for partition orders-0, resetting offset"
UTIL = f"Nov 6, 2026 1:02:03 PM {LOGGER} run\nSEVERE: [Consumer clientId=app, groupId=g] {AT}\n"
FRANZ = (
    "received OFFSET_OUT_OF_RANGE while consuming; broker: 2, topic: orders, partition: 0, prior_offset: 7\n"
)


def log(tmp_path: Path, text: str, changed: datetime | None = None) -> Path:
    path = tmp_path / "app.log"
    path.write_text(text)
    if changed is not None:
        os.utime(path, (changed.timestamp(),) * 2)
    return path


def moment(row: dict[str, object]) -> str:
    assert isinstance(row["time_ms"], int)
    return f"{datetime.fromtimestamp(row['time_ms'] / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def times(path: Path) -> list[str]:
    return [moment(row) for row in rows(path) if row["kind"] == "refused"]


def test_two_lines_of_java_util_logging_are_one(tmp_path: Path) -> None:
    path = log(tmp_path, UTIL + UTIL.replace("1:02:03 PM", "12:02:03 AM") + "\tat org.x.Y(Y.java)\n")
    first, second = [row for row in rows(path) if row["kind"] == "refused"]
    assert (first["client"], first["group"], first["topic"], first["offset"]) == ("app", "g", "orders", 7)
    assert [moment(first), moment(second)] == ["2026-11-06 13:02:03", "2026-11-06 00:02:03"]


def test_a_first_line_of_java_util_logging_without_its_second(tmp_path: Path) -> None:
    path = log(tmp_path, UTIL + UTIL.splitlines()[0] + "\nsomething else\nSEVERE: " + AT + "\n")
    assert len(times(path)) == 1


@pytest.mark.parametrize(
    ("date", "year"),
    [("Feb 27", 2026), ("Nov 26", 2026), ("Nov 27", 2026), ("Dec 31", 2025), ("Feb  7", 2026)],
)
def test_a_date_without_a_year_is_the_last_one(date: str, year: int, tmp_path: Path) -> None:
    changed = datetime(2026, 11, 26, 12, tzinfo=UTC)
    path = log(tmp_path, f"{date} 09:17:14.937[WARN] {FRANZ}", changed)
    (told,) = times(path)
    assert told == f"{datetime.strptime(f'{year} {date}', '%Y %b %d'):%Y-%m-%d} 09:17:14"


def test_a_date_of_its_own_goes_before_one_behind_a_bar(tmp_path: Path) -> None:
    inner = f"INFO kafka.coordinator | 2025-11-26 05:24:19,216 {AT}"
    (told,) = times(log(tmp_path, f"2026-11-26 01:02:03 {inner}\n"))
    assert told == "2026-11-26 01:02:03"


def test_a_line_of_librdkafka_without_its_thread(tmp_path: Path) -> None:
    text = (
        "%4|1764133200.000|OFFSET|app#consumer-2|: orders [0]: offset reset (at offset 7) to END: fetch "
        "failed due to requested offset not available on the broker: Broker: Offset out of range\n"
    )
    (reset,) = rows(log(tmp_path, text))
    assert (reset["kind"], reset["client"], reset["from_offset"]) == ("reset", "app", 7)


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        (f"WARNING:kafka.consumer.fetcher:{AT}\n", "neither date nor time"),
        (f"10:03:56.994 [main] INFO {LOGGER} - {AT}\n", "a time of the day but no date"),
        ('{"level": "ERROR", "timestamp": "XXX", "message": "[Runner] re-joining"}\n', "no time"),
        (f"kafka_1 | ERROR {AT} (kafka.server.ReplicaManager)\n", "neither date nor time"),
        ("Dear all,\nthe meeting is at noon.\n", None),
    ],
)
def test_what_a_file_lacks(text: str, lacks: str | None, tmp_path: Path) -> None:
    """Without a time no row is made: order and nearness in time are what causes are told by."""
    path = log(tmp_path, text)
    told = missed(head(path))
    assert recognise(path) is None
    assert told is None if lacks is None else told is not None and lacks in told


def test_a_time_with_a_zone_is_not_without_one(tmp_path: Path) -> None:
    text = f'{{"@timestamp": "2025-11-26T05:24:19.216+0200", "message": "{AT}", "logger_name": "{LOGGER}"}}\n'
    reading = Reading()
    (refused,) = rows(log(tmp_path, text), reading)
    assert moment(refused) == "2025-11-26 03:24:19"
    assert reading.without_zone == 0
