"""When committed offsets and groups go by themselves (KIP-211)."""

import pytest

from .driving import Asked, Driver

O0, P0 = ("orders", 0), ("payments", 0)
MINUTE_MS = 60_000


def small(release: str = "4.4") -> Driver:
    """Retention of 10 minutes, looked at every minute."""
    return Driver(
        release,
        offsets_retention_minutes=10,
        offsets_retention_check_interval_ms=MINUTE_MS,
        group_max_session_timeout_ms=1_800_000,
    )


def alive(driver: Driver, member: Asked, minutes: int) -> None:
    for _ in range(minutes * 10):
        driver.advance(MINUTE_MS // 10)
        assert driver.heartbeat(member) == 0


def test_without_members_it_counts_from_the_commit() -> None:
    driver = small()
    driver.commit({O0: 1})
    driver.advance(5 * MINUTE_MS)
    driver.commit({P0: 1})
    driver.advance(5 * MINUTE_MS - 1)
    assert driver.offsets() == {O0: 1, P0: 1}
    driver.advance(1)
    assert driver.offsets() == {P0: 1}
    driver.advance(5 * MINUTE_MS)
    assert driver.state == "Dead"


def test_kafka_looks_only_so_often() -> None:
    driver = small()
    driver.advance(30_000)
    driver.commit({O0: 1})
    driver.advance(10 * MINUTE_MS)
    assert driver.offsets() == {O0: 1}
    driver.advance(30_000)
    assert driver.offsets() == {}


def test_members_keep_what_they_subscribe_to() -> None:
    driver = small()
    (only,) = driver.stable(None)
    driver.commit({O0: 1, P0: 1}, only)
    alive(driver, only, 11)
    assert driver.offsets() == {O0: 1}


def test_it_counts_from_when_the_group_became_empty() -> None:
    driver = small()
    (only,) = driver.stable(None)
    driver.commit({O0: 1}, only)
    alive(driver, only, 30)
    driver.leave(only.member_id)
    driver.advance(10 * MINUTE_MS - 1)
    assert driver.offsets() == {O0: 1}
    driver.advance(1)
    assert driver.state == "Dead"


def test_up_to_2_0_it_counts_from_the_commit_even_with_members() -> None:
    driver = small("2.0")
    joined = driver.join(version=3)
    driver.sync(joined, version=2)
    driver.commit({O0: 1}, joined, version=4)
    alive(driver, joined, 11)
    assert driver.offsets() == {}


def test_a_time_of_its_own() -> None:
    driver = small("3.9")
    driver.commit({O0: 1}, version=4, retention_time_ms=2 * MINUTE_MS)
    driver.commit({P0: 1}, version=4, retention_time_ms=20 * MINUTE_MS)
    driver.advance(2 * MINUTE_MS)
    assert driver.offsets() == {P0: 1}
    driver.advance(17 * MINUTE_MS)
    assert driver.offsets() == {P0: 1}
    driver.advance(1 * MINUTE_MS)
    assert driver.state == "Dead"


@pytest.mark.parametrize("release", ["3.9", "4.4"])
def test_a_group_that_never_had_anything_goes_at_the_next_check(release: str) -> None:
    driver = small(release)
    driver.join(protocols={})
    assert driver.state == "Empty"
    driver.advance(MINUTE_MS)
    assert driver.state == "Dead"
    assert driver.cluster.next_deadline() is None


def test_offsets_in_an_open_transaction_stay() -> None:
    driver = small()
    driver.commit({O0: 1})
    driver.group.offsets.open[1] = dict(driver.group.offsets.committed)
    driver.advance(20 * MINUTE_MS)
    assert driver.offsets() == {O0: 1}


def test_a_long_silence_in_one_step() -> None:
    driver = small()
    (only,) = driver.stable(None)
    driver.commit({O0: 1}, only)
    driver.advance(60 * MINUTE_MS)
    assert driver.state == "Dead"


def test_the_default_is_a_week() -> None:
    driver = Driver()
    driver.commit({O0: 1})
    driver.advance(7 * 24 * 60 * MINUTE_MS - 1)
    assert driver.offsets() == {O0: 1}
    driver.advance(1)
    assert driver.offsets() == {}
