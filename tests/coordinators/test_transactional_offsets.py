"""Offsets that are part of a transaction (KIP-98, KIP-447)."""

import pytest

from mockbroker.replication.states import FollowerState

from ..driving.transactions import TransactionDriver


@pytest.mark.parametrize("kafka", ["0.11", "2.5", "3.9", "4.4"])
@pytest.mark.parametrize(("commit", "after"), [(True, 5), (False, -1)])
def test_offsets_count_with_the_transaction(kafka: str, commit: bool, after: int) -> None:
    driver = TransactionDriver(kafka, brokers=3)
    producer = driver.committing()
    assert driver.committed() == ("NONE", -1)
    assert driver.committed(stable=True) == ("UNSTABLE_OFFSET_COMMIT", -1)
    assert driver.end(producer, commit=commit).error == "NONE"
    assert driver.committed(stable=True) == ("NONE", after)


def test_the_newest_clients_add_offsets_by_committing_them() -> None:
    driver = TransactionDriver(brokers=3)
    producer = driver.init()
    assert driver.commit_offset(producer, 5, version=5) == "NONE"
    assert [topic.topic for topic in driver.describe().topics] == ["__consumer_offsets"]
    driver.end(producer, commit=True, version=5)
    assert driver.committed() == ("NONE", 5)


def test_the_old_value_stands_until_the_marker() -> None:
    driver = TransactionDriver(markers_delay_ms=50)
    producer = driver.init()
    for offset in (5, 8):
        driver.add_offsets(producer)
        driver.commit_offset(producer, offset)
        driver.end(producer, commit=True)
        before = driver.committed()
        assert driver.committed(stable=True)[0] == "UNSTABLE_OFFSET_COMMIT"
        driver.advance(50)
        assert (before, driver.committed()) == (("NONE", -1 if offset == 5 else 5), ("NONE", offset))


def test_offsets_of_a_fenced_producer() -> None:
    driver = TransactionDriver("3.5")
    old = driver.committing()
    assert driver.init().error == "CONCURRENT_TRANSACTIONS"
    assert driver.commit_offset(old, 6) == "INVALID_PRODUCER_EPOCH"
    assert driver.committed() == ("NONE", -1)


def test_members_that_may_not_commit(driver: TransactionDriver) -> None:
    producer = driver.init()
    driver.add_offsets(producer)
    assert driver.commit_offset(producer, 5, generation=3, member="m") == "ILLEGAL_GENERATION"
    assert driver.commit_offset(producer, 5) == "NONE"
    assert driver.commit_offset(producer, 5, generation=3, member="m") == "UNKNOWN_MEMBER_ID"


def test_open_offsets_survive_a_move_of_their_group() -> None:
    driver = TransactionDriver(brokers=3)
    producer = driver.committing()
    driver.stop_broker(driver.cluster.offsets_partition("g").leader)
    assert driver.committed(stable=True)[0] == "UNSTABLE_OFFSET_COMMIT"
    driver.end(producer, commit=True)
    assert driver.committed(stable=True) == ("NONE", 5)


@pytest.mark.parametrize(("policy", "at_once"), [("with-marker", 5), ("later", -1)])
def test_who_asks_right_after_the_commit(policy: str, at_once: int) -> None:
    driver = TransactionDriver("3.6", policies={"transactional-offsets": policy})
    producer = driver.committing()
    driver.end(producer, commit=True)
    assert driver.committed() == ("NONE", at_once)
    driver.advance(100)
    assert driver.committed() == ("NONE", 5)


@pytest.mark.parametrize("kafka", ["2.5", "3.9", "4.4"])
@pytest.mark.parametrize(("commit", "after"), [(True, 5), (False, -1)])
def test_offsets_do_not_stay_pending_when_the_coordinator_moves_after_the_end(
    kafka: str, commit: bool, after: int
) -> None:
    driver = TransactionDriver(kafka, brokers=3)
    producer = driver.committing()
    driver.end(producer, commit=commit)
    for _ in range(2):
        driver.stop_broker(driver.cluster.offsets_partition("g").leader)
        assert driver.committed(stable=True) == ("NONE", after)


@pytest.mark.parametrize("kafka", ["3.9", "4.4"])
def test_offsets_stay_pending_when_the_marker_is_lost(kafka: str) -> None:
    driver = TransactionDriver(
        kafka,
        brokers=2,
        offsets_topic_num_partitions=1,
        offsets_topic_replication_factor=2,
        unclean_leader_election_enable="true",
        replica_lag_time_max_ms=1_000,
    )
    producer = driver.committing()
    partition = driver.cluster.offsets_partition("g")
    (other,) = {1, 2} - {partition.leader}
    partition.set_follower(other, FollowerState.PAUSED)
    driver.end(producer, commit=True)
    driver.advance(10_000)
    assert driver.committed(stable=True) == ("NONE", 5)
    driver.stop_broker(partition.leader)
    driver.advance(20_000)
    assert driver.committed(stable=True) == ("UNSTABLE_OFFSET_COMMIT", -1)
