"""What group coordinators count."""

import pytest

from mockbroker.coordinators.group_metrics import GroupMetrics
from mockbroker.protocol.errors import ErrorCode

from ..driving.groups import GroupDriver, replicated

O0, O1 = ("orders", 0), ("orders", 1)
MINUTE_MS = 60_000
PAUSE_MS = 100
"""How long a slow load waits after each batch, and once before it makes groups of them."""


def metrics(driver: GroupDriver, broker: int | None = None) -> GroupMetrics:
    """Of the coordinator, if no broker is named."""
    groups = driver.groups if broker is None else driver.cluster.brokers[broker].groups
    return groups.shards.metrics


def test_each_offset_of_a_commit_counts(driver: GroupDriver) -> None:
    driver.commit({O0: 1, O1: 2})
    assert metrics(driver).offset_commits == 2
    driver.commit({O0: 3})
    assert metrics(driver).offset_commits == 3
    driver.commit({O0: 4}, generation_id_or_member_epoch=9, member_id="unknown")
    assert metrics(driver).offset_commits == 3


@pytest.mark.parametrize(("kafka", "counted"), [("3.9", 1), ("4.4", 2)])
def test_offsets_that_can_not_be_written_count_since_4_0(kafka: str, counted: int) -> None:
    driver = replicated(kafka, min_insync_replicas=2, offsets_commit_timeout_ms=1000)
    driver.commit({O0: 1})
    for other in driver.others:
        driver.stop_broker(other)
    asked = driver.commit_later({O0: 2})
    driver.advance(1000)
    assert asked.topics[0].partitions[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert metrics(driver).offset_commits == counted


def slow() -> GroupDriver:
    return replicated(policies={"offsets-load-pace": "slow"}, brokers=2)


def test_loads_are_known_for_a_minute() -> None:
    driver = slow()
    for count in (3, 4):
        for offset in range(count):
            driver.commit({O0: offset})
        driver.move_coordinator()
        assert metrics(driver).load_times_ms == []
        driver.advance(10 * PAUSE_MS)
    first, second = metrics(driver, 3 - driver.broker.id), metrics(driver)
    assert (first.load_times_ms, second.load_times_ms) == ([4 * PAUSE_MS], [8 * PAUSE_MS])
    driver.move_coordinator()
    driver.advance(MINUTE_MS - 17 * PAUSE_MS)
    assert (first.load_times_ms, second.load_times_ms) == ([4 * PAUSE_MS, 8 * PAUSE_MS], [8 * PAUSE_MS])
    driver.advance(10 * PAUSE_MS)
    assert (first.load_times_ms, second.load_times_ms) == ([8 * PAUSE_MS], [8 * PAUSE_MS])
    driver.advance(MINUTE_MS)
    assert (first.load_times_ms, second.load_times_ms) == ([], [])


def test_a_broker_that_goes_down_counts_from_0() -> None:
    driver = slow()
    driver.commit({O0: 1})
    driver.move_coordinator()
    driver.advance(2 * PAUSE_MS)
    driver.commit({O0: 2})
    counted = metrics(driver)
    assert (counted.offset_commits, counted.load_times_ms) == (1, [2 * PAUSE_MS])
    driver.stop_broker(driver.broker.id)
    assert (counted.offset_commits, counted.load_times_ms) == (0, [])
