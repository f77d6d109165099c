"""When a log is compacted, and what of it."""

import pytest

from ..driving.log import DAY_MS, MINUTE_MS
from .compacted import BACKOFF_MS, CompactedDriver


@pytest.mark.parametrize(("ratio", "done"), [(0.5, False), (0.49, True)])
def test_as_much_must_be_dirty(driver: CompactedDriver, ratio: float, done: bool) -> None:
    driver.append([(b"a", b"1")])
    driver.append([(b"b", b"1")])
    driver.advance(BACKOFF_MS)
    assert driver.log.segments.first_dirty == 1
    driver.topic.configure({**driver.topic.overrides, "min.cleanable.dirty.ratio": str(ratio)})
    driver.append([(b"c", b"1")])
    driver.advance(BACKOFF_MS)
    assert (driver.log.segments.first_dirty == 2) == done


def test_what_is_younger_than_the_least_lag_waits() -> None:
    driver = CompactedDriver(min_compaction_lag_ms=10 * MINUTE_MS)
    driver.append([(b"a", b"1")])
    driver.append([(b"a", b"2")])
    driver.advance(MINUTE_MS)
    driver.append([(b"a", b"3")])
    driver.roll()
    driver.advance(9 * MINUTE_MS - 1)
    assert len(driver.content()) == 4
    driver.advance(1)
    assert [offset for offset, _, _ in driver.content()] == [1, 2, 3]
    driver.advance(MINUTE_MS)
    assert [offset for offset, _, _ in driver.content()] == [2, 3]
    assert driver.cluster.next_deadline() is None


def test_what_is_older_than_the_largest_lag_goes_though_little_is_dirty() -> None:
    driver = CompactedDriver(min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=10 * MINUTE_MS)
    driver.append([(b"a", b"1")])
    driver.append([(b"a", b"2")])
    driver.roll()
    driver.advance(10 * MINUTE_MS)
    assert len(driver.content()) == 3
    driver.advance(BACKOFF_MS)
    assert len(driver.content()) == 2


def test_nothing_at_or_above_the_high_watermark_is_compacted(driver: CompactedDriver) -> None:
    for value in (b"1", b"2", b"3"):
        driver.append([(b"a", value)])
    driver.log.high_watermark = 1
    driver.advance(BACKOFF_MS)
    assert len(driver.content()) == 3
    driver.log.high_watermark = 3
    driver.advance(BACKOFF_MS)
    assert [offset for offset, _, _ in driver.content()] == [1, 2]


def test_followers_hold_the_same() -> None:
    driver = CompactedDriver(brokers=3)
    driver.append([(b"a", b"1"), (b"b", b"1")])
    driver.append([(b"a", b"2")])
    driver.clean()
    assert len(driver.content()) == 3
    for log in driver.partition.logs.values():
        assert log.bases == driver.log.bases
        assert all(one is other for one, other in zip(log.batches, driver.log.batches, strict=True))
        assert log.size == sum(map(len, log.batches))


def test_compacted_and_deleted() -> None:
    driver = CompactedDriver(cleanup_policy="compact,delete", retention_ms=DAY_MS)
    driver.append([(b"a", b"1")])
    driver.append([(b"b", b"1")])
    driver.append([(b"a", b"2")])
    driver.clean()
    assert [offset for offset, _, _ in driver.content()] == [1, 2, 3]
    driver.advance(2 * DAY_MS)
    assert driver.log.start_offset == driver.log.end_offset == 4
    assert not driver.content()


def test_a_compacted_topic_is_not_deleted_from() -> None:
    driver = CompactedDriver(retention_ms=1, retention_bytes=0)
    driver.append()
    driver.advance(DAY_MS)
    assert driver.log.start_offset == 0


def test_small_segments_are_joined() -> None:
    driver = CompactedDriver(segment_bytes=150)
    for number in range(6):
        driver.append([(b"k%d" % (number % 2), b"v" * 20)])
    driver.advance(BACKOFF_MS)
    assert driver.segments() == [0, 1, 2, 3, 4, 5]
    assert [each.size > 0 for each in driver.log.segments.all] == [False] * 3 + [True] * 3
    driver.append([(b"x", b"v" * 20)])
    driver.advance(BACKOFF_MS)
    assert driver.segments() == [0, 4, 5, 6]
    assert sum(each.size for each in driver.log.segments.all) == driver.log.size


def test_without_a_cleaner_nothing_is_compacted() -> None:
    driver = CompactedDriver(config={"log.cleaner.enable": "false"})
    driver.append([(b"a", b"1"), (b"a", b"2")])
    driver.roll()
    assert driver.cluster.next_deadline() is None
