"""What Fetch shows under behaviours of replication, retention and fetch sessions."""

import pytest

from mockbroker.controller import reassignments
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.fetch import EpochEndOffset
from mockbroker.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from mockbroker.replication.states import FollowerState

from ..driving.partition import LAG_MS, PartitionDriver, offsets

EARLIEST, LATEST = -2, -1
OUT_OF_RANGE = ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("policy", "error", "diverging"),
    [("offset-out-of-range", OUT_OF_RANGE, (-1, -1)), ("diverging-epoch", 0, (1, 10))],
)
def test_below_the_log_start_with_another_epoch(policy: str, error: int, diverging: tuple[int, int]) -> None:
    """Epochs 0, 1 and 3 wrote five records each, 2 none; the log starts at 7."""
    driver = PartitionDriver(policies={"fetch-below-log-start": policy})
    driver.produce(5)
    for leader, records in ((2, 5), (3, 0), (1, 5)):
        driver.partition.lead(leader)
        if records:
            driver.produce(records)
    driver.delete(7)
    found = driver.read(6, last_epoch=2)
    assert (found.error_code, found.diverging_epoch) == (error, EpochEndOffset(*diverging))
    assert found.log_start_offset == (-1 if error else 7)
    assert driver.read(6, last_epoch=1).error_code == OUT_OF_RANGE, "it does not diverge"
    assert driver.read(6, last_epoch=9).error_code == OUT_OF_RANGE, "it is not known"
    assert driver.read(8, last_epoch=2).diverging_epoch == EpochEndOffset(1, 10)


@pytest.mark.parametrize(
    ("release", "policies", "fresh", "written"),
    [
        ("0.11", {}, (-1, -1), (-1, -1)),
        ("0.11", {"epoch-not-given": "latest-epoch"}, (-1, 0), (-1, -1)),
        ("2.0", {"epoch-not-given": "latest-epoch"}, (-1, -1), (-1, -1)),
        ("4.4", {"epoch-not-given": "log-end-offset"}, (-1, 0), (-1, 3)),
    ],
)
def test_epoch_minus_one(
    release: str, policies: dict[str, str], fresh: tuple[int, int], written: tuple[int, int]
) -> None:
    driver = PartitionDriver(release, policies)
    assert driver.epoch_end(-1) == fresh
    assert driver.epoch_end(0) == ((-1, -1) if release == "0.11" else (0, 0)), "as measured on 0.11.0.3"
    driver.produce(3)
    assert driver.epoch_end(-1) == written
    assert driver.epoch_end(0) == (0, 3)


@pytest.mark.parametrize(
    ("policy", "read"), [("high-watermark", [0, 1, 2]), ("log-end-offset", [0, 1, 2, 3, 4])]
)
def test_how_far_a_consumer_reads(policy: str, read: list[int]) -> None:
    driver = PartitionDriver(policies={"consumer-read-limit": policy})
    driver.produce(3)
    driver.partition.set_follower(3, FollowerState.PAUSED)
    driver.produce(2, acks=1)
    found = driver.read(0)
    assert (offsets(found), found.high_watermark) == (read, 3)
    at_the_high_watermark = driver.read(3)
    assert (at_the_high_watermark.error_code, offsets(at_the_high_watermark)) == (0, [])


@pytest.mark.parametrize(("policy", "start"), [("high-watermark", 2), ("log-end-offset", 4)])
def test_how_far_retention_goes(policy: str, start: int) -> None:
    config = {"replica.lag.time.max.ms": str(2 * LAG_MS)}
    driver = PartitionDriver("0.11", {"retention-limit": policy}, config=config, segment_bytes="100")
    driver.produce()
    driver.produce()
    driver.partition.set_follower(3, FollowerState.PAUSED)
    driver.produce(acks=1)
    driver.produce(acks=1)
    driver.advance(LAG_MS)
    assert driver.partition.isr == [1, 2, 3], "nothing is deleted that a follower in sync has yet to copy"
    assert (driver.list_offset(EARLIEST).offset, driver.list_offset(LATEST).offset) == (start, 2)
    assert driver.read(2).error_code == (OUT_OF_RANGE if start > 2 else 0)
    assert driver.read(start).log_start_offset == start
    driver.partition.set_follower(3, FollowerState.BEHIND)
    assert {log.end_offset for log in driver.partition.logs.values()} == {4}
    assert driver.list_offset(LATEST).offset == 4


@pytest.mark.parametrize(("release", "isr"), [("0.11", [1]), ("1.0", [1, 2]), ("4.4", [1, 2])])
def test_a_new_replica_begins_inside_a_batch(release: str, isr: list[int]) -> None:
    driver = PartitionDriver(release, replicas=[1])
    driver.produce(10)
    driver.produce(2)
    driver.delete(5)
    reassignments.begin(driver.partition, [1, 2])
    assert (driver.partition.replicas, driver.partition.isr) == ([1, 2], isr)
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert driver.partition.isr == isr, "it stays so, however often it tries"
    log = driver.partition.logs[2]
    assert (log.start_offset, log.end_offset) == (5, 12 if 2 in isr else 5)


def test_a_replica_that_was_away_begins_inside_a_batch(driver: PartitionDriver) -> None:
    driver.produce(2)
    driver.leave_behind(3, records=10)
    driver.delete(7)
    driver.partition.set_follower(3, FollowerState.BEHIND)
    assert driver.partition.isr == [1, 2, 3]
    assert offsets(driver.read(7, broker=3)) == list(range(2, 12))


@pytest.mark.parametrize(
    ("release", "error"), [("2.4", ErrorCode.NONE), ("2.5", ErrorCode.FENCED_LEADER_EPOCH)]
)
def test_leader_epochs_in_a_fetch_session(release: str, error: ErrorCode) -> None:
    driver = PartitionDriver(release)
    opened = driver.fetch(0, version=11, epoch=0, session=(0, 0))
    driver.partition.lead(2)
    driver.partition.lead(1)
    driver.produce()
    again = driver.fetch(0, version=11, epoch=1, session=(opened.session_id, 1))
    assert [p.error_code for topic in again.responses for p in topic.partitions] == [error]
    anew = driver.read(0, version=11, epoch=1, session=(0, 0))
    assert anew.error_code == ErrorCode.FENCED_LEADER_EPOCH, "the first request is checked in any case"


@pytest.mark.parametrize(("release", "error"), [("2.4", ErrorCode.FETCH_SESSION_ID_NOT_FOUND), ("2.5", 0)])
def test_a_busy_fetch_session_stays(release: str, error: int) -> None:
    driver = PartitionDriver(release, config={"max.incremental.fetch.session.cache.slots": "1"})
    session = driver.fetch(0, version=11, session=(0, 0)).session_id
    for epoch in range(1, 4):
        driver.advance(60_000)
        assert driver.fetch(0, version=11, session=(session, epoch)).error_code == 0
    driver.fetch(0, version=11, session=(0, 0))
    assert driver.fetch(0, version=11, session=(session, 4)).error_code == error


@pytest.mark.parametrize(
    ("kafka", "policies", "once"),
    [
        ("0.11", {}, False),
        ("3.9", {}, False),
        ("4.0", {}, True),
        ("2.3", {"listed-partitions": "each-once"}, True),
        ("4.4", {"listed-partitions": "as-asked"}, False),
    ],
)
def test_what_list_offsets_lists(kafka: str, policies: dict[str, str], once: bool) -> None:
    driver = PartitionDriver(kafka, policies)
    topics: list[tuple[str, list[int]]] = [("t", [0]), ("u", [0, 1]), ("t", [0]), ("t", [])]
    asked = [
        ListOffsetsTopic(name, [ListOffsetsPartition(each, -1, LATEST) for each in partitions])
        for name, partitions in topics
    ]
    answer = driver.ask(ListOffsetsRequest(-1, 0, asked), 2)
    listed = [(topic.name, [each.partition_index for each in topic.partitions]) for topic in answer.topics]
    assert listed == (topics[:2] if once else topics)
    errors = {(topic.name, each.error_code) for topic in answer.topics for each in topic.partitions}
    assert errors == {("t", ErrorCode.INVALID_REQUEST), ("u", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)}
