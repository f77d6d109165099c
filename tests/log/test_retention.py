"""Old segments go, by time and by size."""

import pytest

from mockbroker.protocol.errors import ErrorCode
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import Record

from ..driving.cluster import NOW_MS
from ..driving.log import DAY_MS, MINUTE_MS, LogDriver
from ..driving.partition import LAG_MS

CHECK_MS = 5 * MINUTE_MS
FIRST_CHECK_MS = MINUTE_MS // 2
OUT_OF_RANGE: tuple[int, list[bytes]] = (ErrorCode.OFFSET_OUT_OF_RANGE, [])


def test_all_of_a_log_goes_a_week_after_its_last_record(driver: LogDriver) -> None:
    driver.append()
    driver.advance(DAY_MS)
    driver.append()
    driver.advance(7 * DAY_MS)
    assert driver.log.start_offset == 0
    driver.advance(CHECK_MS)
    assert (driver.log.start_offset, driver.log.end_offset, driver.log.size) == (2, 2, 0)
    assert driver.cluster.next_deadline() is None
    assert driver.append() == 2
    assert driver.batches_from(1) == OUT_OF_RANGE
    assert len(driver.batches_from(2)[1]) == 1


def test_a_week_is_looked_at_no_more_often_than_it_takes(driver: LogDriver) -> None:
    driver.append()
    looks = []
    while (deadline := driver.cluster.next_deadline()) is not None:
        looks.append(deadline - NOW_MS)
        driver.cluster.advance(deadline)
    assert looks == [FIRST_CHECK_MS, FIRST_CHECK_MS + 7 * DAY_MS]


def test_whole_segments_go_from_the_oldest_on() -> None:
    driver = LogDriver(segment_bytes=100, retention_ms=10 * MINUTE_MS)
    for age in (30, 20, 9, 60, 1):
        driver.append(age_ms=age * MINUTE_MS, size=20)
    assert driver.segments() == [0, 1, 2, 3, 4]
    driver.advance(FIRST_CHECK_MS)
    assert driver.log.start_offset == 2
    driver.advance(CHECK_MS)
    assert driver.log.start_offset == 4


@pytest.mark.parametrize(("older_ms", "start"), [(0, 0), (1, 1)])
def test_a_segment_goes_when_it_is_older_than_its_time(older_ms: int, start: int) -> None:
    driver = LogDriver(segment_bytes=100, retention_ms=10 * MINUTE_MS)
    driver.append(age_ms=10 * MINUTE_MS - FIRST_CHECK_MS + older_ms, size=20)
    driver.append(size=20)
    driver.advance(FIRST_CHECK_MS)
    assert driver.log.start_offset == start


@pytest.mark.parametrize(("limit", "start"), [(0, 5), (1, 4), (2, 3), (4, 1), (5, 0), (-1, 0)])
def test_a_log_keeps_at_least_its_size(limit: int, start: int) -> None:
    probe = LogDriver()
    probe.append(size=20)
    size = probe.log.size
    driver = LogDriver(segment_bytes=size, retention_bytes=limit * size if limit >= 0 else -1)
    driver.append(size=20, times=5)
    driver.advance(FIRST_CHECK_MS)
    assert driver.log.start_offset == start


def test_size_is_looked_at_again_after_appends() -> None:
    driver = LogDriver(segment_bytes=100, retention_bytes=0, retention_ms=-1)
    driver.append(size=20)
    driver.advance(FIRST_CHECK_MS)
    assert driver.log.start_offset == 1
    assert driver.cluster.next_deadline() is None
    driver.append(size=20, times=2)
    driver.advance(CHECK_MS)
    assert driver.log.start_offset == 3


def test_a_topic_without_limits_is_never_looked_at() -> None:
    driver = LogDriver(retention_ms=-1)
    driver.append()
    assert driver.cluster.next_deadline() is None
    driver.topic.configure({"retention.ms": "1"})
    driver.advance(CHECK_MS)
    assert driver.log.start_offset == 1


def test_an_endless_limit_plans_nothing() -> None:
    driver = LogDriver(retention_ms=2**63 - 1)
    driver.append()
    driver.advance(DAY_MS)
    assert driver.cluster.next_deadline() is None


def test_times_of_looking_are_configured() -> None:
    names = {"log.initial.task.delay.ms": "7", "log.retention.check.interval.ms": "10"}
    driver = LogDriver(config=names, retention_ms=1)
    driver.append()
    driver.advance(6)
    assert driver.log.start_offset == 0
    driver.advance(1)
    assert driver.log.start_offset == 1
    driver.append()
    driver.advance(9)
    assert driver.log.start_offset == 1
    driver.advance(1)
    assert driver.log.start_offset == 2


def test_nothing_goes_beyond_the_high_watermark() -> None:
    driver = LogDriver(segment_bytes=100, retention_ms=1)
    driver.append(size=20, age_ms=DAY_MS, times=3)
    driver.log.high_watermark = 2
    driver.advance(FIRST_CHECK_MS)
    assert driver.log.start_offset == 2
    driver.log.high_watermark = 3
    driver.advance(CHECK_MS)
    assert driver.log.start_offset == 3


def test_every_replica_and_its_epochs_are_cut() -> None:
    driver = LogDriver(brokers=3, segment_bytes=100, retention_ms=10 * MINUTE_MS)
    for epoch, age in enumerate((60, 60, 0)):
        driver.partition.at_leader.leader_epoch = epoch
        driver.log.epochs.assign(epoch, driver.log.end_offset)
        driver.append(size=20, age_ms=age * MINUTE_MS)
    driver.advance(FIRST_CHECK_MS)
    for log in driver.partition.logs.values():
        assert log.start_offset == 2
        assert (log.epochs.epochs, log.epochs.starts) == ([2], [2])
    assert driver.partition.at_leader.end_offset_for_epoch(0) == (0, 2)


def test_offsets_by_timestamp_begin_at_what_is_left() -> None:
    driver = LogDriver(segment_bytes=100, retention_ms=10 * MINUTE_MS)
    for age in (60, 50, 1):
        driver.append(size=20, age_ms=age * MINUTE_MS)
    before = driver.now_ms - 60 * MINUTE_MS
    assert driver.offset_for(before) == 0
    driver.advance(FIRST_CHECK_MS)
    assert driver.offset_for(before) == 2
    assert driver.offset_for(-2) == 2
    assert driver.offset_for(-1) == 3
    driver.advance(DAY_MS)
    assert driver.offset_for(before) == -1
    assert driver.offset_for(-2) == 3


@pytest.mark.parametrize(("kafka", "known"), [("2.3", False), ("2.4", True), ("3.9", True)])
def test_a_producer_goes_with_its_records_up_to_2_3(kafka: str, known: bool) -> None:
    driver = LogDriver(kafka, retention_ms=1)
    driver.append(producer_id=7, sequence=0)
    driver.advance(CHECK_MS)
    assert driver.log.start_offset == 1
    assert (7 in driver.log.producers.entries) == known


def test_a_slow_topic_goes_by_record_time() -> None:
    assert slow_topic("record-time").log.start_offset > 0


def test_by_file_time_a_slow_topic_keeps_what_is_a_month_old() -> None:
    driver = slow_topic("file-time")
    assert driver.log.start_offset == 0
    assert driver.batches_from(0)[0] == ErrorCode.NONE
    driver.advance(5 * DAY_MS)
    assert driver.log.start_offset == driver.log.end_offset


def slow_topic(policy: str) -> LogDriver:
    """A record every three days for a month, of which four days shall be kept. By record time segments roll,
    within a week."""
    ten_years = 3650 * DAY_MS
    roll = ten_years if policy == "file-time" else 7 * DAY_MS
    driver = LogDriver(policies={"time-retention": policy}, retention_ms=4 * DAY_MS, segment_ms=roll)
    for _ in range(10):
        driver.append()
        driver.advance(3 * DAY_MS)
    return driver


def test_a_deleted_topic_is_forgotten(driver: LogDriver) -> None:
    driver.append()
    driver.cluster.delete_topics([driver.topic])
    assert driver.cluster.next_deadline() is None


def test_retention_reaches_all_partitions_of_many_topics() -> None:
    driver = LogDriver(retention_ms=1)
    other = driver.cluster.create_topic("other", [[1], [1]], {"retention.ms": "-1"})
    driver.append()
    driver.advance(DAY_MS)
    assert driver.log.start_offset == 1
    assert other.partitions[0].log.start_offset == 0


def test_a_follower_deletes_up_to_the_high_watermark_it_has_heard_of() -> None:
    driver = LogDriver(brokers=2, segment_bytes=100, retention_ms=10 * MINUTE_MS)
    own = driver.partition.logs[2]
    driver.append(size=20, times=2)
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.produce([Record(b"v" * 20, b"k", driver.now_ms)], acks=1)
    driver.advance(2 * LAG_MS)
    assert driver.partition.isr == [1]
    driver.advance(20 * MINUTE_MS)
    assert (driver.log.start_offset, own.start_offset, own.high_watermark) == (3, 1, 1)
    assert [each.base_offset for each in own.segments.all] == [1]
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert (own.start_offset, own.end_offset) == (3, 3)
    driver.advance(CHECK_MS)
    assert (own.batches, own.size) == ([], 0)
    assert driver.cluster.next_deadline() is None


def test_a_broker_that_is_down_deletes_nothing_until_it_is_back() -> None:
    driver = LogDriver(brokers=2, segment_bytes=100, retention_ms=10 * MINUTE_MS)
    own = driver.partition.logs[2]
    driver.append(size=20, times=3)
    driver.advance(1000)
    driver.append(size=20)
    driver.cluster.processes.stop(2)
    driver.advance(DAY_MS)
    assert (driver.log.start_offset, own.start_offset, len(own.batches)) == (4, 0, 4)
    driver.cluster.processes.stop(1)
    driver.cluster.processes.start(2)
    driver.advance(CHECK_MS)
    assert (own.start_offset, own.batches) == (3, own.batches[-1:])
