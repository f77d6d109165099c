"""Old segments go, by time and by size."""

import pytest

from mockbroker.protocol.errors import ErrorCode

from .logs import DAY_MS, MINUTE_MS, START_MS, Topic

CHECK_MS = 5 * MINUTE_MS
FIRST_CHECK_MS = MINUTE_MS // 2
OUT_OF_RANGE: tuple[int, list[bytes]] = (ErrorCode.OFFSET_OUT_OF_RANGE, [])


def test_all_of_a_log_goes_a_week_after_its_last_record() -> None:
    topic = Topic()
    topic.send()
    topic.advance(DAY_MS)
    topic.send()
    topic.advance(7 * DAY_MS)
    assert topic.log.start_offset == 0
    topic.advance(CHECK_MS)
    assert (topic.log.start_offset, topic.log.end_offset, topic.log.size) == (2, 2, 0)
    assert topic.cluster.next_deadline() is None
    assert topic.send() == 2
    assert topic.fetch(1) == OUT_OF_RANGE
    assert len(topic.fetch(2)[1]) == 1


def test_a_week_is_looked_at_no_more_often_than_it_takes() -> None:
    topic = Topic()
    topic.send()
    looks = []
    while (deadline := topic.cluster.next_deadline()) is not None:
        looks.append(deadline - START_MS)
        topic.cluster.advance(deadline)
    assert looks == [FIRST_CHECK_MS, FIRST_CHECK_MS + 7 * DAY_MS]


def test_whole_segments_go_from_the_oldest_on() -> None:
    topic = Topic(segment_bytes=100, retention_ms=10 * MINUTE_MS)
    for age in (30, 20, 9, 60, 1):
        topic.send(age_ms=age * MINUTE_MS, size=20)
    assert topic.segments() == [0, 1, 2, 3, 4]
    topic.advance(FIRST_CHECK_MS)
    assert topic.log.start_offset == 2
    topic.advance(CHECK_MS)
    assert topic.log.start_offset == 4


@pytest.mark.parametrize(("limit", "start"), [(0, 5), (1, 4), (2, 3), (4, 1), (5, 0), (-1, 0)])
def test_a_log_keeps_at_least_its_size(limit: int, start: int) -> None:
    probe = Topic()
    probe.send(size=20)
    size = probe.log.size
    topic = Topic(segment_bytes=size, retention_bytes=limit * size if limit >= 0 else -1)
    for _ in range(5):
        topic.send(size=20)
    topic.advance(FIRST_CHECK_MS)
    assert topic.log.start_offset == start


def test_size_is_looked_at_again_after_appends() -> None:
    topic = Topic(segment_bytes=100, retention_bytes=0, retention_ms=-1)
    topic.send(size=20)
    topic.advance(FIRST_CHECK_MS)
    assert topic.log.start_offset == 1
    assert topic.cluster.next_deadline() is None
    topic.send(size=20)
    topic.send(size=20)
    topic.advance(CHECK_MS)
    assert topic.log.start_offset == 3


def test_a_topic_without_limits_is_never_looked_at() -> None:
    topic = Topic(retention_ms=-1)
    topic.send()
    assert topic.cluster.next_deadline() is None
    topic.topic.configure({"retention.ms": "1"})
    topic.advance(CHECK_MS)
    assert topic.log.start_offset == 1


def test_an_endless_limit_plans_nothing() -> None:
    topic = Topic(retention_ms=2**63 - 1)
    topic.send()
    topic.advance(DAY_MS)
    assert topic.cluster.next_deadline() is None


def test_times_of_looking_are_configured() -> None:
    names = {"log.initial.task.delay.ms": "7", "log.retention.check.interval.ms": "10"}
    topic = Topic(broker=names, retention_ms=1)
    topic.send()
    topic.advance(6)
    assert topic.log.start_offset == 0
    topic.advance(1)
    assert topic.log.start_offset == 1
    topic.send()
    topic.advance(9)
    assert topic.log.start_offset == 1
    topic.advance(1)
    assert topic.log.start_offset == 2


def test_nothing_goes_beyond_the_high_watermark() -> None:
    topic = Topic(segment_bytes=100, retention_ms=1)
    for _ in range(3):
        topic.send(size=20, age_ms=DAY_MS)
    topic.log.high_watermark = 2
    topic.advance(FIRST_CHECK_MS)
    assert topic.log.start_offset == 2
    topic.log.high_watermark = 3
    topic.advance(CHECK_MS)
    assert topic.log.start_offset == 3


def test_every_replica_and_its_epochs_are_cut() -> None:
    topic = Topic(brokers=3, segment_bytes=100, retention_ms=10 * MINUTE_MS)
    for epoch, age in enumerate((60, 60, 0)):
        topic.partition.leader_epoch = epoch
        topic.log.epochs.assign(epoch, topic.log.end_offset)
        topic.send(size=20, age_ms=age * MINUTE_MS)
    topic.advance(FIRST_CHECK_MS)
    for log in topic.partition.logs.values():
        assert log.start_offset == 2
        assert (log.epochs.epochs, log.epochs.starts) == ([2], [2])
    assert topic.partition.end_offset_for_epoch(0) == (0, 2)


def test_offsets_by_timestamp_begin_at_what_is_left() -> None:
    topic = Topic(segment_bytes=100, retention_ms=10 * MINUTE_MS)
    for age in (60, 50, 1):
        topic.send(size=20, age_ms=age * MINUTE_MS)
    before = topic.now_ms - 60 * MINUTE_MS
    assert topic.offset_for(before) == 0
    topic.advance(FIRST_CHECK_MS)
    assert topic.offset_for(before) == 2
    assert topic.offset_for(-2) == 2
    assert topic.offset_for(-1) == 3
    topic.advance(DAY_MS)
    assert topic.offset_for(before) == -1
    assert topic.offset_for(-2) == 3


@pytest.mark.parametrize(("kafka", "known"), [("2.3", False), ("2.4", True), ("3.9", True)])
def test_a_producer_goes_with_its_records_up_to_2_3(kafka: str, known: bool) -> None:
    topic = Topic(kafka, retention_ms=1)
    topic.send(producer_id=7, sequence=0)
    topic.advance(CHECK_MS)
    assert topic.log.start_offset == 1
    assert (7 in topic.log.producers.entries) == known


def test_a_slow_topic_goes_by_record_time() -> None:
    assert slow_topic("record-time").log.start_offset > 0


def test_by_file_time_a_slow_topic_keeps_what_is_a_month_old() -> None:
    topic = slow_topic("file-time")
    assert topic.log.start_offset == 0
    assert topic.fetch(0)[0] == ErrorCode.NONE
    topic.advance(5 * DAY_MS)
    assert topic.log.start_offset == topic.log.end_offset


def slow_topic(policy: str) -> Topic:
    """A record every three days for a month, of which four days shall be kept. By record time segments roll,
    within a week."""
    ten_years = 3650 * DAY_MS
    roll = ten_years if policy == "file-time" else 7 * DAY_MS
    topic = Topic(policies={"time-retention": policy}, retention_ms=4 * DAY_MS, segment_ms=roll)
    for _ in range(10):
        topic.send()
        topic.advance(3 * DAY_MS)
    return topic


def test_a_deleted_topic_is_forgotten() -> None:
    topic = Topic()
    topic.send()
    topic.cluster.delete_topics([topic.topic])
    assert topic.cluster.next_deadline() is None


def test_retention_reaches_all_partitions_of_many_topics() -> None:
    topic = Topic(retention_ms=1)
    other = topic.cluster.create_topic("other", [[1], [1]], {"retention.ms": "-1"})
    topic.send()
    topic.advance(DAY_MS)
    assert topic.log.start_offset == 1
    assert other.partitions[0].log.start_offset == 0
