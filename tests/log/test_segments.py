"""Where segments roll."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.log.segments import NO_TIMESTAMP
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import Record

from ..driving.log import DAY_MS, MINUTE_MS, LogDriver

CHECK_MS = 5 * MINUTE_MS


def test_a_segment_rolls_when_the_next_batch_would_not_fit() -> None:
    driver = LogDriver(segment_bytes=300)
    sizes = []
    for _ in range(6):
        driver.append(size=40)
        sizes.append(len(driver.log.batches[-1]))
    fit = 300 // sizes[0]
    assert fit > 1
    assert driver.segments() == list(range(0, 6, fit))


def test_a_segment_rolls_by_the_timestamps_of_records() -> None:
    driver = LogDriver(segment_ms=MINUTE_MS)
    driver.append(age_ms=MINUTE_MS)
    driver.advance(10 * MINUTE_MS)
    driver.append(age_ms=10 * MINUTE_MS)
    driver.append(age_ms=10 * MINUTE_MS - 1)
    assert driver.segments() == [0, 2]


def test_without_timestamps_it_rolls_by_the_age_of_the_segment() -> None:
    driver = LogDriver(segment_ms=MINUTE_MS)
    driver.append(no_timestamp=True)
    driver.advance(MINUTE_MS)
    driver.append(no_timestamp=True)
    driver.advance(1)
    driver.append(no_timestamp=True)
    assert driver.segments() == [0, 2]
    last = driver.log.segments.all[-1]
    assert last.max_timestamp == NO_TIMESTAMP
    assert driver.log.segments.largest_timestamp(last) == driver.now_ms


def test_a_compacted_topic_rolls_within_its_largest_lag() -> None:
    driver = LogDriver(cleanup_policy="compact", max_compaction_lag_ms=MINUTE_MS)
    driver.append(age_ms=MINUTE_MS + 1)
    driver.append()
    assert driver.segments() == [0, 1]


def test_jitter_rolls_earlier() -> None:
    driver = LogDriver(segment_ms=DAY_MS, segment_jitter_ms=DAY_MS)
    driver.append(age_ms=DAY_MS)
    driver.append()
    assert driver.segments() == [0, 1]


def test_what_was_appended_before_a_change_rolls_as_it_was_then() -> None:
    driver = LogDriver(segment_bytes=100000)
    driver.append(times=4)
    driver.topic.configure({"segment.bytes": "100"})
    driver.append(times=2)
    assert driver.segments() == [0, 4, 5]


def test_batches_that_were_deleted_are_there_until_their_segment_goes() -> None:
    driver = LogDriver(segment_bytes=200, retention_ms=-1)
    driver.append(size=20, times=4)
    assert driver.segments() == [0, 2]
    size = driver.log.size
    driver.delete(1)
    driver.advance(CHECK_MS)
    assert (driver.segments(), driver.log.size) == ([0, 2], size)
    driver.delete(3)
    assert (driver.segments(), driver.log.size) == ([0, 2], size)
    driver.advance(CHECK_MS)
    assert driver.segments() == [2]
    assert driver.log.size == size // 2
    assert driver.cluster.next_deadline() is None


@pytest.mark.parametrize(("to", "left"), [(5, [0, 2, 4]), (4, [0, 2, 4]), (3, [0, 2]), (1, [0]), (0, [0])])
def test_truncation_takes_segments_with_it(to: int, left: list[int]) -> None:
    driver = LogDriver(segment_bytes=200)
    driver.append(size=20, times=6)
    assert driver.segments() == [0, 2, 4]
    driver.log.truncate(to)
    assert driver.segments() == left
    assert sum(each.size for each in driver.log.segments.all) == driver.log.size
    assert driver.append(size=20) == to
    assert driver.append(size=20) == to + 1
    assert driver.segments() == list(range(0, to + 2, 2))


def test_a_truncated_segment_is_as_old_as_what_is_left() -> None:
    driver = LogDriver(segment_ms=MINUTE_MS)
    driver.append(age_ms=DAY_MS)
    driver.append()
    assert driver.segments() == [0, 1]
    driver.log.truncate(0)
    driver.append(times=2)
    assert driver.segments() == [0]


@pytest.mark.parametrize(
    ("index_bytes", "timestamps", "second"), [(24, False, 7), (32, False, 9), (24, True, 3), (12, False, 1)]
)
def test_a_segment_rolls_when_one_of_its_indexes_is_full(
    index_bytes: int, timestamps: bool, second: int
) -> None:
    """Every second batch is entered: in the time index too if it is the latest so far."""
    driver = LogDriver(index_interval_bytes=150, segment_index_bytes=index_bytes)
    for age in range(12, 0, -1):
        driver.append(size=20, age_ms=age, no_timestamp=not timestamps)
    size = len(driver.log.batches[0])
    assert size < 150 < 2 * size
    assert driver.segments()[1] == second


@given(
    appends=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3)), max_size=12),
    pauses=st.sets(st.integers(0, 11)),
    file_time=st.booleans(),
)
def test_every_replica_has_segments_of_its_own(
    appends: list[tuple[int, int, int]], pauses: set[int], file_time: bool
) -> None:
    """Those in step roll where the leader does; one that lagged rolls by what it fetched at once."""
    policies = {"time-retention": "file-time"} if file_time else {}
    driver = LogDriver(policies=policies, brokers=3, segment_bytes=250, segment_ms=2, retention_ms=-1)
    for number, (count, later, age) in enumerate(appends):
        paused = FollowerState.PAUSED if number in pauses else FollowerState.BEHIND
        driver.partition.set_follower(3, paused)
        driver.advance(later)
        driver.produce([Record(timestamp=driver.now_ms - age)] * count, acks=1)
    driver.partition.set_follower(3, FollowerState.BEHIND)
    leader, in_step, lagged = (driver.partition.logs[broker] for broker in (1, 2, 3))
    for mine, its in zip(leader.segments.all, in_step.segments.all, strict=True):
        for name in ("base_offset", "created_ms", "modified_ms", "max_timestamp", "size"):
            assert getattr(mine, name) == getattr(its, name)
    for log in (leader, lagged):
        found = log.segments.all
        assert sum(each.size for each in found) == log.size == leader.size
        assert found[-1] is log.segments.active
        assert all(each.base_offset in log.bases for each in found[1:])
