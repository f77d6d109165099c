"""Why replicas are not in sync for long: a broker is away, a follower is slow, a disk is full."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import Analysis, analyze
from mockbroker.pipeline.signatures import out_of_sync

from .rows import SECOND, History, Row, found_in, healthy
from .short_histories import NO_TOPIC, away_for_long, disk_full, put_out

MINUTE = 60 * SECOND


def found(rows: History) -> list[Row]:
    return found_in(rows.rows, out_of_sync.find)


def test_a_broker_that_is_away() -> None:
    (one,) = found(away_for_long())
    assert (one.broker, one.topic, one.confidence) == (3, None, "certain")
    assert one.summary == "broker 3 was away for 11 min: its replicas fell behind"


def test_one_that_does_not_come_back() -> None:
    rows = away_for_long()
    rows.rows.pop()
    (one,) = found(rows.add("load", 20 * MINUTE, broker=1, detail="began"))
    assert one.confidence == "possible"
    assert "was away for 31 min, and had not come back at the end" in one.summary


def test_a_follower_that_is_slow() -> None:
    (one,) = found(put_out())
    assert (one.signature, one.broker, one.confidence) == ("follower-slow", 3, "possible")
    assert "did not keep up as a follower of 2 partitions" in one.summary


def test_one_whose_own_log_goes_on() -> None:
    (one,) = found(put_out().add("load", broker=3, detail="began"))
    assert one.confidence == "likely"


def test_two_that_are_put_out_at_once() -> None:
    assert {each.broker for each in found(put_out(2, 3))} == {2, 3}


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "in-sync-replicas", "broker": 1, "replicas": [1, 2, 3], "detail": "grew from 1, 2"},
        {"kind": "broker", "broker": 3, "detail": "fenced: its session timed out", **NO_TOPIC},
        {"kind": "leader", "broker": 2, "leader": 2, "leader_epoch": 4},
    ],
    ids=["back soon", "away", "another leader"],
)
def test_a_follower_that_is_not_slow(more: dict[str, Any]) -> None:
    rows = put_out()
    for partition in (0, 1):
        rows.add(**{"after_ms": SECOND - 2 * MINUTE * (partition == 0), "partition": partition, **more})
    assert found(rows) == []


def test_a_disk_that_is_full() -> None:
    (one,) = found(disk_full())
    assert (one.signature, one.broker) == ("log-dir-failed", 3)
    assert one.summary.startswith("broker 3 gave up the log directory /d1, whose disk was full: no replica")


@pytest.mark.parametrize(("leader", "told"), [(-1, ", and nobody else could lead orders-0"), (1, "")])
def test_a_disk_with_the_only_replica(leader: int, told: str) -> None:
    rows = disk_full().add("leader", broker=3, detail="its disk has failed")
    (one,) = found(rows.add("leader", MINUTE, broker=2, leader=leader, leader_epoch=1))
    assert one.summary.endswith(f": no replica in it is in sync any more{told}")


def test_every_day() -> None:
    assert found_in(healthy().rows, out_of_sync.find) == []


LOG = """\
[2026-11-21 12:38:{at},412] INFO [Partition orders-0 broker=2] Shrinking ISR from 2,3 to 2. Leader: \
(highWatermark: 14, endOffset: 15). Out of sync replicas: (brokerId: 3, endOffset: 14, lastCaughtUpTimeMs: \
1795264728091). (kafka.cluster.Partition)
[2026-11-21 12:{back},412] INFO [Partition orders-0 broker=2] ISR updated to 2,3 and version updated to 9 \
(kafka.cluster.Partition)
"""
HEARD = """\
[2026-11-21 12:38:51,412] INFO [Broker id=2] Skipped the become-leader state change for orders-0 with topic \
id Some(mU7kbD3LToqzDG_1Fuxsuw), partition registration PartitionRegistration(replicas=[2, 3], isr=[2, 3], \
leader=2, leaderEpoch=4, partitionEpoch=9) and isNew=false since it is already the leader with leader epoch \
4. Current high watermark 15, ISR [2,3], adding replicas [] and removing replicas []. (state.change.logger)
"""
FULL = """\
[2026-11-21 12:38:40,412] INFO [KafkaServer id=3] started (kafka.server.KafkaServer)
[2026-11-21 12:38:49,412] ERROR Error while appending records to orders-0 in dir /d1 \
(org.apache.kafka.storage.internals.log.LogDirFailureChannel)
java.io.IOException: No space left on device
\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)
[2026-11-21 12:38:49,512] WARN [ReplicaManager broker=3] Stopping serving replicas in dir /d1 with uuid x \
because the log directory has failed. (kafka.server.ReplicaManager)
"""


def analyzed(folder: Path, **files: str) -> Analysis:
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
    return analyze([folder / f"{name}.log" for name in files], folder / "out")


def test_what_explains_that_replicas_are_not_in_sync(tmp_path: Path) -> None:
    log = LOG.format(at=50, back="45:00")
    found = analyzed(tmp_path, leader=log)
    (symptom,) = found.symptoms
    assert (symptom.name, symptom.broker, symptom.at) == ("under-replicated", 3, "orders-0")
    assert [each.name for each in found.incidents] == ["follower-slow"]
    assert symptom.explained_by == [0]


def test_a_leader_that_hears_from_the_controller_that_its_follower_is_back(tmp_path: Path) -> None:
    found = analyzed(tmp_path, leader=LOG.format(at=50, back="45:00"), state_change=HEARD)
    assert (found.symptoms, found.findings) == ([], [])


def test_that_a_disk_was_full_explains_it(tmp_path: Path) -> None:
    found = analyzed(tmp_path, leader=LOG.format(at=50, back="45:00"), follower=FULL)
    (symptom,) = found.symptoms
    assert {found.incidents[each].name for each in symptom.explained_by} >= {"log-dir-failed"}
    assert found.incidents[0].name == "log-dir-failed"
