"""What answers a Fetch that waits, as 2.8.2, 3.9.2 and 4.4.0 did it."""

from typing import Any

import pytest

from mockbroker.protocol.errors import ErrorCode
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import OLD, Record, records

from ..driving.cluster import Asked
from ..driving.partition import PartitionDriver, fetched, outcome

WAIT_MS = 60_000
LAG_MS = 4000
MINUTE_MS = 60_000
ENOUGH = 1000
"""More bytes than any of these logs holds."""


class WaitingDriver(PartitionDriver):
    """A partition of two replicas that has ten records; the follower may be paused."""

    def __init__(self, kafka: str = "4.4") -> None:
        config = {"replica.lag.time.max.ms": LAG_MS, "log.retention.ms": -1}
        super().__init__(kafka, brokers=2, config=config)
        self.write(10)

    def write(self, count: int) -> None:
        assert outcome(self.produce(records(count, size=10), acks=1))[0] == 0

    def wait(self, offset: int, min_bytes: int = 1, **asked: Any) -> Asked:
        return self.fetch(offset, min_bytes=min_bytes, wait_ms=WAIT_MS, **asked)


def result(waiting: Asked) -> tuple[int, int, int] | None:
    """Error, high watermark and bytes, None while there is no answer."""
    if waiting.parked:
        return None
    found = fetched(waiting)
    return found.error_code, found.high_watermark, sum(map(len, found.records or ()))


def test_batches_wait_for_min_bytes(driver: WaitingDriver) -> None:
    waiting = driver.wait(10, 100)
    driver.write(1)
    assert result(waiting) is None
    driver.write(1)
    assert result(waiting) == (0, 12, 156)


def test_a_high_watermark_that_moves_too_little_answers_nobody(driver: WaitingDriver) -> None:
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.write(3)
    at_it, at_it_for_more, below = driver.wait(10), driver.wait(10, ENOUGH), driver.wait(5, ENOUGH)
    driver.advance(2 * LAG_MS)
    assert driver.partition.log.high_watermark == 13
    assert result(at_it) == (0, 13, 112)
    assert result(at_it_for_more) is None
    assert result(below) is None
    driver.advance(WAIT_MS)
    assert result(at_it_for_more) == (0, 13, 112)
    assert result(below) == (0, 13, 343)


def test_what_the_high_watermark_passed_counts_towards_min_bytes(driver: WaitingDriver) -> None:
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.write(3)
    waiting = driver.wait(10, 150)
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert result(waiting) is None
    driver.write(1)
    assert result(waiting) == (0, 14, 190)


@pytest.mark.parametrize("start", [3, 8])
def test_deleted_records_answer_nobody_before_the_time_is_over(driver: WaitingDriver, start: int) -> None:
    waiting = driver.wait(5, ENOUGH)
    driver.delete(start)
    assert result(waiting) is None
    driver.advance(WAIT_MS)
    assert result(waiting) == ((0, 10, 231) if start <= 5 else (ErrorCode.OFFSET_OUT_OF_RANGE, -1, 0))


def test_a_leader_that_moves_answers_those_whom_it_refuses(driver: WaitingDriver) -> None:
    free, fenced, leader_only = driver.wait(10), driver.wait(10, epoch=0), driver.wait(10, version=10)
    driver.partition.lead(2)
    assert result(fenced) == (ErrorCode.FENCED_LEADER_EPOCH, -1, 0)
    assert result(leader_only) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, 0)
    assert result(free) is None
    driver.advance(WAIT_MS)
    assert result(free) == (0, 10, 0)


def test_a_divergence_is_answered_at_once(driver: WaitingDriver) -> None:
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.write(3)
    driver.advance(2 * LAG_MS)
    waiting = driver.wait(13, last_epoch=0)
    assert result(waiting) is None
    driver.partition.change(isr=[2])
    driver.partition.lead(2)
    assert fetched(waiting).diverging_epoch.end_offset == 10


def test_a_topic_that_is_deleted_answers(driver: WaitingDriver) -> None:
    waiting = driver.wait(10, ENOUGH)
    driver.cluster.delete_topics([driver.topic])
    assert result(waiting) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, 0)


PAST = [("2.8", None, None), ("3.7", None, None), ("3.9", (0, 10, 0), (0, 10, 0)), ("4.4", None, (0, 10, 0))]


@pytest.mark.parametrize(("release", "within", "beyond"), PAST)
def test_past_the_high_watermark(release: str, within: object, beyond: object) -> None:
    """At the second record of the first batch above it, and at the log end offset."""
    driver = WaitingDriver(release)
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.write(3)
    assert result(driver.wait(10)) is None
    assert result(driver.wait(11)) == within
    assert result(driver.wait(13)) == beyond


class SegmentsDriver(WaitingDriver):
    """The ten records lie in two segments of five; the next that is as old goes into the second."""

    def __init__(self, kafka: str = "3.9") -> None:
        config = {"replica.lag.time.max.ms": LAG_MS, "log.retention.ms": -1}
        PartitionDriver.__init__(self, kafka, brokers=2, config=config, segment_ms=MINUTE_MS)
        self.write(5)
        self.write(5, 2 * MINUTE_MS)

    def write(self, count: int, later_ms: int = 0) -> None:
        made = [Record(b"v" * 10, timestamp=OLD + later_ms)] * count
        assert outcome(self.produce(made, acks=1))[0] == 0


@pytest.mark.parametrize("kafka", ["0.11", "2.8", "3.9"])
@pytest.mark.parametrize("isolation_level", [0, 1])
def test_who_reads_an_older_segment_does_not_wait_for_more(kafka: str, isolation_level: int) -> None:
    driver = SegmentsDriver(kafka)
    newest = driver.wait(5, ENOUGH, isolation_level=isolation_level, version=4)
    older = driver.wait(4, ENOUGH, isolation_level=isolation_level, version=4)
    assert result(newest) is None
    found = result(older)
    assert found is not None
    assert (found[0], found[1]) == (0, 10)
    assert found[2] == len(driver.partition.log.batches[0])


@pytest.mark.parametrize("replica", [-1, 2])
@pytest.mark.parametrize("offset", [5, 10])
def test_a_segment_that_rolls_answers_who_waits_in_the_one_before(replica: int, offset: int) -> None:
    driver = SegmentsDriver()
    waiting = driver.wait(offset, ENOUGH, replica=replica)
    driver.write(1, 2 * MINUTE_MS)
    assert result(waiting) is None
    driver.write(1, 4 * MINUTE_MS)
    found = result(waiting)
    assert found is not None
    # What is read is of one segment again.
    assert found[2] == sum(map(len, driver.partition.log.batches[1 if offset == 5 else 2 : 3]))


def test_an_older_segment_answers_for_all_that_waits(driver: SegmentsDriver) -> None:
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.write(1, 4 * MINUTE_MS)
    assert driver.partition.log.high_watermark == 10
    at_it, below = driver.wait(10, ENOUGH), driver.wait(7, ENOUGH)
    assert result(at_it) is None
    assert result(below) is not None, "the high watermark is where the third segment begins"
    driver.advance(2 * LAG_MS)
    assert driver.partition.log.high_watermark == 11
    assert result(at_it) is None
