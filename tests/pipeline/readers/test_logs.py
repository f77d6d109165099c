"""Logs of brokers and clients: the lines of known stories, and the forms that releases gave them."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from mockbroker.pipeline.readers import Reading

from .reading import STORIES, of_kind, rows, source

ENTRIES = [json.loads(line) for line in (Path(__file__).parent / "entries.jsonl").read_text().splitlines()]
"""Messages of releases, as their sources format them, and the rows they make."""

LEADER_7104 = "[2018-06-23 00:45:37,339] INFO Incrementing log start offset of partition X-N to 116753\n"
MS = 1763567249777


def log(folder: Path, text: str, name: str = "server.log") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_kafka_7104() -> None:
    path = STORIES / "kafka-7104.log"
    assert source(path) == "broker-log"
    failed, moved = rows(path, place=True)
    assert failed["kind"] == "follower-failure"
    assert (failed["topic"], failed.get("partition")) == ("X-N", None)
    assert (failed["from_offset"], failed["offset"], failed["end_offset"]) == (116617, 116753, 116619)
    assert failed["detail"].startswith("OffsetOutOfRangeException: Cannot increment the log start offset")
    assert (moved["kind"], moved["topic"], moved["offset"], moved["position"]) == (
        "log-start",
        "X-N",
        116753,
        4,
    )
    assert failed["time_ms"] - moved["time_ms"] == 70


def test_kafka_19902_on_the_consumer() -> None:
    path = STORIES / "kafka-19902-consumer.log"
    assert source(path) == "client-log"
    client = {"client": "app-1", "group": "readers", "topic": "orders", "partition": 3}
    at = {"offset": 30795753, "current_epoch": 6, "leader": 11}
    assert rows(path) == [
        {"kind": "position", "time_ms": MS, **client, **at},
        {
            "kind": "refused",
            "time_ms": MS,
            **client,
            **at,
            "api": "Fetch",
            "error": "OFFSET_OUT_OF_RANGE",
            "detail": "resetting offset",
        },
        {
            "kind": "reset",
            "time_ms": MS + 24,
            **client,
            "from_offset": 30795753,
            "offset": 17,
            "leader": 11,
            "current_epoch": 7,
        },
    ]


def test_kafka_19902_on_the_broker() -> None:
    path = STORIES / "kafka-19902-broker.log"
    assert source(path) == "broker-log"
    found = rows(path)
    place = {"broker": 10, "topic": "orders", "partition": 3}
    (shrunk,) = of_kind(found, "in-sync-replicas")
    assert shrunk == {
        **place,
        "time_ms": MS + 2426,
        "leader": 10,
        "replicas": [10],
        "detail": "shrank from 10,11,30",
    }
    (marks,) = of_kind(found, "high-watermark")
    assert (marks["offset"], marks["end_offset"]) == (30795645, 30795647)
    (leader,) = of_kind(found, "leader")
    assert (leader["leader"], leader["leader_epoch"], leader["broker"]) == (11, 7, 10)
    (truncated,) = of_kind(found, "truncation")
    assert (truncated["offset"], truncated["leader_epoch"], truncated["leader"]) == (30795645, 7, 11)
    assert truncated["broker"] == 10


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["message"][:60])
def test_what_releases_wrote(tmp_path: Path, entry: dict[str, Any]) -> None:
    found = rows(log(tmp_path, f"[2025-11-19 15:47:29,777] INFO {entry['message']}\n"))
    assert found == [{"time_ms": MS, **row} for row in entry["rows"]]


def test_times_without_a_zone_are_those_of_the_zone_that_is_given(tmp_path: Path) -> None:
    path = log(tmp_path, LEADER_7104)
    default, berlin = Reading(), Reading(timezone=ZoneInfo("Europe/Berlin"))
    (utc,), (local,) = rows(path, default), rows(path, berlin)
    assert utc["time_ms"] == int(datetime(2018, 6, 23, 0, 45, 37, tzinfo=UTC).timestamp()) * 1000 + 339
    assert utc["time_ms"] - local["time_ms"] == 7200_000
    assert default.without_zone == berlin.without_zone == 1


def test_unknown_lines_and_a_torn_last_one_are_counted(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        f"this file was cut\n{LEADER_7104}[2018-06-23 00:46:00,000] INFO Something else (kafka.server.Else)\n"
        "[2018-06-23 00:46:00,001] INFO Shrin",
    )
    reading = Reading()
    assert [row["kind"] for row in rows(path, reading)] == ["log-start"]
    assert (reading.lines[str(path)], reading.unknown_lines[str(path)]) == (4, 3)
    assert reading.unfinished == [str(path)]


def test_a_compressed_log_and_one_that_is_cut_short(tmp_path: Path) -> None:
    whole = gzip.compress((LEADER_7104 * 500).encode(), mtime=0)
    path = tmp_path / "server.log.gz"
    path.write_bytes(whole)
    assert source(path) == "broker-log"
    assert len(rows(path)) == 500
    path.write_bytes(whole[:-9])
    *_, last = rows(path)
    assert (last["kind"], last["detail"].partition(":")[0]) == ("unreadable", "compressed data is broken")


def test_the_broker_of_a_file_is_known_while_all_its_entries_agree(tmp_path: Path) -> None:
    own = "[2018-06-23 00:45:00,000] INFO [ReplicaManager broker={}] Starting (kafka.server.ReplicaManager)\n"
    (row,) = rows(log(tmp_path, own.format(3) + LEADER_7104))
    assert row["broker"] == 3
    (row,) = rows(log(tmp_path, own.format(3) + own.format(4) + LEADER_7104))
    assert "broker" not in row


def test_a_follower_that_waits_for_the_next_leader_epoch(tmp_path: Path) -> None:
    """It has not failed: AbstractFetcherThread.onPartitionFenced."""
    line = "[2026-11-23 02:12:13,10{}] {} [ReplicaFetcher replicaId=3, leaderId=2] Partition {}\n"
    older = "orders-1 has an older epoch (0) than the current leader. Will await the new LeaderAndIsr state"
    waits = line.format(0, "INFO", older) + line.format(1, "WARN", "orders-1 marked as failed")
    failed = line.format(2, "WARN", "orders-2 marked as failed (kafka.server.ReplicaFetcherThread)")
    (row,) = rows(log(tmp_path, waits + failed), place=True)
    assert (row["kind"], row["partition"]) == ("follower-failure", 2)


def test_a_truncation_that_removes_nothing(tmp_path: Path) -> None:
    decided = (
        "[2026-11-23 02:12:13,100] INFO [ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Truncating "
        "partition {} with TruncationState(offset=7, completed=true) due to local high watermark 7 (kafka)\n"
    )
    nothing = (
        "[2026-11-23 02:12:13,101] INFO [UnifiedLog partition=orders-1, dir=/d] Truncating to 7 has no "
        "effect as the largest offset in the log is 6 (kafka.log.UnifiedLog)\n"
    )
    both = decided.format("orders-1") + decided.format("orders-2") + nothing
    (row,) = rows(log(tmp_path, both), place=True)
    assert (row["kind"], row["partition"], row["offset"]) == ("truncation", 2, 7)


SEVERAL = {
    "[GroupCoordinator id=1] The following groups were deleted: a.b, c-d. A total of 9 offsets were "
    "removed.": (
        "group",
        ["a.b", "c-d"],
    ),
    "[GroupCoordinator 1]: Group g removed dynamic members who haven't joined: Set(m-1, m-2)": (
        "detail",
        ["m-1 left: did not join again in time", "m-2 left: did not join again in time"],
    ),
    "[GroupCoordinator id=1] Group g removed dynamic members who haven't joined: [m-1, m-2]": (
        "detail",
        ["m-1 left: did not join again in time", "m-2 left: did not join again in time"],
    ),
    "[Consumer clientId=a, groupId=g] Error while fetching metadata with correlation id 7 : "
    "{new=LEADER_NOT_AVAILABLE, a.b=UNKNOWN_TOPIC_OR_PARTITION, c-d=UNKNOWN_TOPIC_OR_PARTITION}": (
        "topic",
        ["a.b", "c-d"],
    ),
    "[Consumer clientId=a, groupId=g] Not authorized to access topics: [a.b, c-d]": ("topic", ["a.b", "c-d"]),
    "[INFO] metadata update triggered; why: re-updating due to inner errors: LEADER_NOT_AVAILABLE{new[0]} "
    "UNKNOWN_TOPIC_OR_PARTITION{a.b[0 1] c-d}": ("topic", ["a.b", "c-d"]),
}


@pytest.mark.parametrize("said", SEVERAL, ids=range(len(SEVERAL)))
def test_a_line_that_names_several(said: str, tmp_path: Path) -> None:
    """However many."""
    column, told = SEVERAL[said]
    found = rows(log(tmp_path, f"[2026-11-23 02:46:01,972] WARN {said}\n"))
    assert [row[column] for row in found] == told


def test_a_line_that_names_thousands(tmp_path: Path) -> None:
    names = [f"group-{number}" for number in range(5_000)]
    said = f"The following groups were deleted: {', '.join(names)}. A total of 9 offsets were removed."
    found = rows(log(tmp_path, f"[2026-11-23 02:46:01,972] INFO [GroupCoordinator id=1] {said}\n"))
    assert [row["group"] for row in found] == names
