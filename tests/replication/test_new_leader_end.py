"""ListOffsets at a leader that was elected before its high watermark caught up (KIP-207)."""

import pytest

from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from mockbroker.replication.states import FollowerState

from ..driving.partition import PartitionDriver

LATEST, EARLIEST, LARGEST = -1, -2, -3
BEFORE_ALL, AFTER_ALL = 0, 1 << 60
NONE, HIDDEN, OLD = 0, ErrorCode.OFFSET_NOT_AVAILABLE, ErrorCode.LEADER_NOT_AVAILABLE


def elected(kafka: str) -> PartitionDriver:
    """Two records, of which broker 2 knows that all have the first; it leads, and broker 3 is silent."""
    driver = PartitionDriver(kafka=kafka)
    driver.produce(1)
    driver.partition.at_leader.tell_followers()
    driver.partition.set_follower(3, FollowerState.PAUSED)
    driver.produce(1)
    driver.partition.lead(2)
    log = driver.partition.log
    assert (log.high_watermark, log.end_offset) == (1, 2)
    return driver


def asked(
    driver: PartitionDriver, version: int, timestamp: int, replica: int = -1, committed: int = 0
) -> tuple[int, int]:
    topic = ListOffsetsTopic("t", [ListOffsetsPartition(0, -1, timestamp)])
    request = ListOffsetsRequest(replica, committed, [topic])
    answer = driver.ask(request, version)
    only = answer.topics[0].partitions[0]
    return only.error_code, only.offset


@pytest.mark.parametrize(
    ("kafka", "version", "latest"),
    [
        ("2.1", 4, (NONE, 1)),
        ("2.2", 4, (OLD, -1)),
        ("2.2", 5, (HIDDEN, -1)),
        ("3.9", 4, (OLD, -1)),
        ("4.4", 10, (HIDDEN, -1)),
    ],
)
def test_the_end_is_kept_back_from_consumers(kafka: str, version: int, latest: tuple[int, int]) -> None:
    driver = elected(kafka)
    beyond = (NONE, -1) if kafka == "2.1" else latest
    assert asked(driver, version, LATEST) == latest
    assert asked(driver, version, LATEST, committed=1) == latest
    assert asked(driver, version, AFTER_ALL) == beyond
    assert asked(driver, version, EARLIEST) == (NONE, 0)
    assert asked(driver, version, BEFORE_ALL) == (NONE, 0)
    assert asked(driver, version, LATEST, replica=3) == (NONE, 2), "a follower sees the log end"
    driver.partition.set_follower(3, FollowerState.BEHIND)
    assert asked(driver, version, LATEST) == (NONE, 2)
    assert asked(driver, version, AFTER_ALL) == (NONE, -1)


@pytest.mark.parametrize(("kafka", "version"), [("3.0", 7), ("3.9", 9), ("4.4", 10)])
def test_the_largest_timestamp_is_told_to_those_who_may_read_its_record(kafka: str, version: int) -> None:
    """As 4.4.0 answers within an open transaction, where the last stable offset is the end."""
    driver = PartitionDriver(kafka=kafka)
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.produce(1)
    assert driver.partition.log.high_watermark == 0
    assert asked(driver, version, LARGEST) == (NONE, -1)
    assert asked(driver, version, LARGEST, replica=3) == (NONE, 0)
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert asked(driver, version, LARGEST) == (NONE, 0)
