"""Where segments roll."""

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.log.segments import NO_TIMESTAMP

from ..driving.log import DAY_MS, MINUTE_MS, LogDriver


def test_a_segment_rolls_when_the_next_batch_would_not_fit() -> None:
    driver = LogDriver(segment_bytes=300)
    sizes = []
    for _ in range(6):
        driver.append(size=40)
        sizes.append(len(driver.log.batches[-1]))
    fit = 300 // sizes[0]
    assert fit > 1
    assert driver.segments() == list(range(0, 6, fit))


def test_a_batch_larger_than_a_segment_has_one_of_its_own() -> None:
    driver = LogDriver(segment_bytes=200)
    for size in (1, 400, 1):
        driver.append(size=size)
    assert driver.segments() == [0, 1, 2]


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
    last = driver.partition.segments.all[-1]
    assert last.max_timestamp == NO_TIMESTAMP
    assert last.largest_timestamp == driver.now_ms


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
    for _ in range(4):
        driver.append()
    driver.topic.configure({"segment.bytes": "14"})
    driver.append()
    driver.append()
    assert driver.segments() == [0, 4, 5]


def test_batches_that_were_deleted_still_count_for_their_segment() -> None:
    driver = LogDriver(segment_bytes=200)
    for _ in range(4):
        driver.append(size=40)
    driver.topic.configure({"segment.bytes": "10000"})
    driver.append()
    before = driver.segments(), driver.log.size
    driver.partition.advance_log_start(1)
    assert driver.segments() == before[0]
    assert sum(each.size for each in driver.partition.segments.all) == before[1] > driver.log.size


def test_truncation_takes_segments_with_it() -> None:
    driver = LogDriver(segment_bytes=200)
    for _ in range(6):
        driver.append(size=20)
    segments = driver.partition.segments
    assert driver.segments() == [0, 2, 4]
    segments.truncate(driver.log, 3, driver.topic.settings)
    assert [each.base_offset for each in segments.all] == [0, 2]
    kept = [each for each, base in zip(driver.log.batches, driver.log.bases, strict=True) if base < 3]
    assert sum(each.size for each in segments.all) == sum(map(len, kept))


@given(
    appends=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3)), max_size=12),
    looks=st.sets(st.integers(0, 11)),
    file_time=st.booleans(),
)
def test_when_one_looks_makes_no_difference(
    appends: list[tuple[int, int, int]], looks: set[int], file_time: bool
) -> None:
    policies = {"time-retention": "file-time"} if file_time else {}
    often, once = (
        LogDriver(policies=policies, segment_bytes=250, segment_ms=2, retention_ms=-1) for _ in "ab"
    )
    for number, (count, later, age) in enumerate(appends):
        for driver in (often, once):
            driver.advance(later)
            driver.append(count, age_ms=age)
        if number in looks:
            often.segments()
    assert often.segments() == once.segments()
    for left, right in zip(often.partition.segments.all, once.partition.segments.all, strict=True):
        assert left.modified_ms == right.modified_ms
        assert left.largest_timestamp == right.largest_timestamp
        assert left.size == right.size
    assert sum(each.size for each in once.partition.segments.all) == once.log.size
