"""Compaction of a large log is done in parts, and ends with what it is about."""

import gc
from collections import Counter
from typing import Any, Final

import pytest

from mockbroker.log import compaction
from mockbroker.log.log import Log

from ..driving.log import MINUTE_MS
from .compacted import BACKOFF_MS, CompactedDriver

MANY: Final = 3_000
"""More batches than are compacted at once."""


class CompactingDriver(CompactedDriver):
    """A large log whose compaction has begun, and of which nothing has changed yet."""

    def __init__(self, **configs: Any) -> None:
        super().__init__(segment_bytes=100_000, **configs)
        for number in range(MANY):
            self.append([(b"%d" % (number % 10), b"v" * 100)])
        self.cluster.work.in_parts = True
        self.advance(BACKOFF_MS)
        assert self.cluster.work
        assert len(self.log.batches) == MANY

    def go_on(self) -> int:
        """To the end; how many parts that takes."""
        work, parts = self.cluster.work, 0
        while work:
            work.go_on()
            parts += 1
        return parts

    @property
    def is_compacted(self) -> bool:
        return self.log.segments.first_dirty > 0


def test_others_are_served_between_two_parts() -> None:
    driver = CompactingDriver(brokers=2)
    driver.append([(b"5", b"new")])
    assert driver.go_on() > 10
    assert driver.is_compacted
    content = driver.content()
    assert content[-1] == (MANY, b"5", b"new")
    dirty = driver.log.segments.first_dirty
    assert [key for offset, key, _ in content if offset < dirty] == [
        b"%d" % (number % 10) for number in range(dirty - 10, dirty)
    ]
    assert driver.log.size == sum(map(len, driver.log.batches))
    first, second = driver.partition.logs.values()
    assert all(one is other for one, other in zip(first.batches, second.batches, strict=True))


def test_what_is_appended_meanwhile_is_compacted_later(driver: CompactingDriver) -> None:
    driver.append([(b"5", b"v" * 100)], times=MANY)
    driver.advance(2 * BACKOFF_MS)
    driver.go_on()
    compacted_upto = driver.log.segments.first_dirty
    driver.advance(BACKOFF_MS)
    driver.go_on()
    assert driver.log.segments.first_dirty > max(MANY, compacted_upto)


def test_a_truncation_ends_the_compaction(driver: CompactingDriver) -> None:
    driver.log.truncate(100)
    driver.go_on()
    assert not driver.is_compacted
    assert len(driver.log.batches) == 100


@pytest.mark.parametrize("what", ["goes down", "is deleted", "is reconfigured"])
def test_compaction_ends_with_what_it_is_about(driver: CompactingDriver, what: str) -> None:
    if what == "goes down":
        driver.stop_broker(1)
    elif what == "is deleted":
        driver.cluster.delete_topics([driver.topic])
    else:
        driver.topic.configure({**driver.topic.overrides, "cleanup.policy": "delete"})
    assert driver.go_on() < 3
    assert not driver.is_compacted
    if what == "goes down":
        driver.start_broker(1)
        driver.advance(BACKOFF_MS)
        driver.go_on()
        assert driver.is_compacted


def held() -> Counter[type]:
    return Counter(type(each) for each in gc.get_objects() if type(each) in (Log, compaction.Pass))


@pytest.mark.parametrize("under_way", [False, True])
@pytest.mark.parametrize("brokers", [1, 3])
def test_nothing_is_left_of_a_deleted_topic(brokers: int, under_way: bool) -> None:
    """Counted without garbage collection, which a server hardly ever does."""
    gc.collect()
    before = held()
    driver = CompactedDriver(brokers=brokers)
    work = driver.cluster.work
    work.in_parts = True
    for number in range(5000 if under_way else 100):
        driver.append([(b"%d" % number, b"1")])
    gc.disable()
    try:
        driver.advance(BACKOFF_MS)
        while work and not under_way:
            work.go_on()
        assert (held() - before)[compaction.Pass] == under_way
        driver.cluster.delete_topics([driver.topic])
        del driver.topic, driver.partition, driver.log
        driver.advance(10 * MINUTE_MS)
        while work:
            work.go_on()
        assert held() - before == Counter()
    finally:
        gc.enable()
