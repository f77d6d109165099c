"""When committed offsets and groups go by themselves (KIP-211)."""

import pytest

from ..driving.cluster import Asked
from ..driving.groups import GroupDriver

O0, P0 = ("orders", 0), ("payments", 0)
MINUTE_MS = 60_000


def small(release: str = "4.4", policies: dict[str, str] | None = None, **config: int) -> GroupDriver:
    """Retention of 10 minutes, looked at every minute."""
    return GroupDriver(
        release,
        policies,
        **config,
        offsets_retention_minutes=10,
        offsets_retention_check_interval_ms=MINUTE_MS,
        group_max_session_timeout_ms=1_800_000,
    )


def alive(driver: GroupDriver, member: Asked, minutes: int) -> None:
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


@pytest.mark.parametrize(("release", "kept"), [("2.1", True), ("2.3", True), ("2.4", False)])
def test_up_to_2_3_members_keep_everything(release: str, kept: bool) -> None:
    driver = small(release)
    joined = driver.join(version=3)
    driver.sync(joined, version=2)
    driver.commit({O0: 1, P0: 1}, joined, version=5)
    alive(driver, joined, 11)
    assert driver.offsets() == ({O0: 1, P0: 1} if kept else {O0: 1})


@pytest.mark.parametrize(("release", "kept"), [("2.3", True), ("2.4", False), ("2.7", False), ("2.8", True)])
def test_offsets_while_members_join_an_empty_group(release: str, kept: bool) -> None:
    """KAFKA-13636: its subscriptions are those of nobody as yet."""
    driver = small(release, group_initial_rebalance_delay_ms=3 * MINUTE_MS)
    first = driver.join(version=3, rebalance_ms=5 * MINUTE_MS)
    driver.advance(3 * MINUTE_MS)
    driver.sync(first, version=2)
    driver.commit({O0: 1}, first, version=5)
    alive(driver, first, 11)
    driver.leave(first.member_id, version=1)
    driver.advance(MINUTE_MS)
    again = driver.join(version=3, rebalance_ms=5 * MINUTE_MS)
    driver.advance(2 * MINUTE_MS)
    assert again.parked
    assert driver.offsets() == ({O0: 1} if kept else {})


@pytest.mark.parametrize(("policy", "left"), [("as-committed", {O0: 1, P0: 1}), ("expire-at-once", {P0: 1})])
def test_offsets_that_another_broker_loaded(policy: str, left: dict[tuple[str, int], int]) -> None:
    """KAFKA-8069."""
    driver = small("2.1", {"loaded-offsets": policy}, brokers=3, offsets_topic_replication_factor=3)
    driver.commit({O0: 1}, version=4)
    driver.commit({P0: 1}, version=4, retention_time_ms=20 * MINUTE_MS)
    driver.stop_broker(driver.broker.id)
    before = driver.broker
    driver.follow_coordinator()
    assert driver.broker is not before
    assert driver.offsets() == {O0: 1, P0: 1}
    driver.advance(MINUTE_MS)
    assert driver.offsets() == left


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
    driver.advance(MINUTE_MS)
    assert driver.cluster.next_deadline() is None, "nothing is left to be compacted"


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


def test_the_default_is_a_week(driver: GroupDriver) -> None:
    driver.commit({O0: 1})
    driver.advance(7 * 24 * 60 * MINUTE_MS - 1)
    assert driver.offsets() == {O0: 1}
    driver.advance(1)
    assert driver.offsets() == {}
