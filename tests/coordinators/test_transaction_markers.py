"""Markers: while they are under way, when they cannot be written yet, and when they are never sent."""

import pytest

from ..driving.transactions import TIMEOUT_MS, TransactionDriver

DAY_MS = 24 * 3600 * 1000
SESSION_MS = 9_000
RETRY_MS = 100


def test_while_markers_are_under_way() -> None:
    driver = TransactionDriver(markers_delay_ms=50)
    producer = driver.begun()
    assert driver.end(producer, commit=True).error == "NONE"
    assert driver.describe().transaction_state == "PrepareCommit"
    assert driver.add(producer) == {0: "CONCURRENT_TRANSACTIONS"}
    assert driver.end(producer, commit=True).error == "CONCURRENT_TRANSACTIONS"
    assert driver.end(producer, commit=False).error == "CONCURRENT_TRANSACTIONS"
    assert driver.init().error == "CONCURRENT_TRANSACTIONS"
    assert driver.stable() == (0, 3)
    driver.advance(50)
    assert driver.describe().transaction_state == "CompleteCommit"
    assert driver.stable() == (4, 4)
    assert driver.add(producer) == {0: "NONE"}


@pytest.mark.parametrize(
    ("kafka", "wrong_id", "wrong_epoch"),
    [
        ("3.9", "INVALID_PRODUCER_ID_MAPPING", "PRODUCER_FENCED"),
        ("4.0", "CONCURRENT_TRANSACTIONS", "CONCURRENT_TRANSACTIONS"),
        ("4.4", "CONCURRENT_TRANSACTIONS", "CONCURRENT_TRANSACTIONS"),
    ],
)
def test_a_wrong_producer_while_markers_are_under_way(kafka: str, wrong_id: str, wrong_epoch: str) -> None:
    """`TransactionCoordinator.handleAddPartitionsToTransaction` of 3.9 and 4.0; 4.4.0 was asked."""
    driver = TransactionDriver(kafka, markers_delay_ms=50)
    producer = driver.begun()
    other, newer = producer._replace(producer_id=987_654), producer._replace(epoch=producer.epoch + 5)
    assert driver.end(producer, commit=True).error == "NONE"
    assert driver.add(other) == {0: wrong_id}
    assert driver.add(newer) == {0: wrong_epoch}
    assert driver.add_offsets(other) == wrong_id
    assert driver.add_offsets(newer) == wrong_epoch
    assert driver.end(newer, commit=True).error == "PRODUCER_FENCED"
    if kafka != "3.9":
        assert driver.end(other, commit=True, version=5).error == "CONCURRENT_TRANSACTIONS"
        assert driver.end(newer, commit=True, version=5).error == "CONCURRENT_TRANSACTIONS"
    driver.advance(50)
    assert driver.add(other) == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert driver.add(newer) == {0: "PRODUCER_FENCED"}


@pytest.mark.parametrize("answer", ["completes", "hangs"])
def test_a_transaction_may_hang_until_its_coordinator_moves(answer: str) -> None:
    driver = TransactionDriver(brokers=3, policies={"transaction-completion": answer})
    producer = driver.begun()
    assert driver.end(producer, commit=True).error == "NONE"
    driver.advance(DAY_MS)
    if answer == "hangs":
        assert driver.add(producer) == {0: "CONCURRENT_TRANSACTIONS"}
        assert driver.stable() == (0, 3)
        driver.stop_broker(driver.coordinator())
    assert driver.add(producer) == {0: "NONE"}
    assert driver.stable() == (4, 4)


@pytest.mark.parametrize(("kafka", "policies"), [("4.2", {}), ("4.4", {"leaderless-marker": "waits"})])
def test_a_partition_without_leader_gets_its_marker_later(kafka: str, policies: dict[str, str]) -> None:
    driver = TransactionDriver(kafka, policies, brokers=3)
    alone = driver.cluster.create_topic("alone", [[3]]).partitions[0]
    producer = driver.init()
    assert driver.add(producer) == driver.add(producer, topic="alone") == {0: "NONE"}
    assert driver.write(producer, topic="alone")[0] == "NONE"
    assert {each.topic for each in driver.describe().topics} > {"alone"}
    driver.stop_broker(3)
    assert driver.end(producer, commit=True).error == "NONE"
    assert driver.describe().transaction_state == "PrepareCommit"
    assert [each.topic for each in driver.describe().topics] == ["alone"]
    driver.start_broker(3)
    driver.advance(100)
    assert driver.describe().transaction_state == "CompleteCommit"
    assert alone.log.last_stable_offset == 4


def test_since_4_3_a_partition_without_leader_gets_no_marker() -> None:
    """The next transaction of the producer decides on both (KAFKA-20734; 4.4.0 was asked)."""
    driver = TransactionDriver("4.3", brokers=3)
    alone = driver.cluster.create_topic("alone", [[3]]).partitions[0]
    producer = driver.init()
    assert driver.add(producer, topic="alone") == {0: "NONE"}
    assert driver.write(producer, topic="alone")[0] == "NONE"
    driver.stop_broker(3)
    assert driver.end(producer, commit=False).error == "NONE"
    assert driver.describe().transaction_state == "CompleteAbort"
    driver.start_broker(3)
    driver.advance(DAY_MS)
    assert (alone.log.last_stable_offset, alone.log.end_offset) == (0, 3)
    assert driver.add(producer, topic="alone") == {0: "NONE"}
    assert driver.write(producer, 3, topic="alone")[0] == "NONE"
    assert driver.end(producer, commit=True).error == "NONE"
    assert (alone.log.last_stable_offset, alone.log.end_offset) == (7, 7)


@pytest.mark.parametrize(
    ("answer", "state"), [("refused", "PrepareCommit"), ("accepted-at-limit", "CompleteCommit")]
)
def test_markers_that_a_new_coordinator_sends_again(answer: str, state: str) -> None:
    """KAFKA-19999: one partition has its marker, the other has no leader, and the coordinator moves."""
    policies = {"same-epoch-marker": answer, "leaderless-marker": "waits"}
    driver = TransactionDriver("4.4", policies, brokers=4)
    producer = driver.init()
    first = driver.coordinator()
    leader = next(each for each in (4, 3) if each != first)
    driver.cluster.create_topic("alone", [[leader]])
    assert driver.add(producer) == driver.add(producer, topic="alone") == {0: "NONE"}
    assert driver.write(producer)[0] == "NONE"
    driver.stop_broker(leader)
    assert driver.end(producer, commit=True, version=5).error == "NONE"
    assert driver.stable() == (4, 4)
    driver.stop_broker(first)
    driver.start_broker(leader)
    driver.advance(DAY_MS)
    assert driver.describe().transaction_state == state
    assert driver.stable()[0] == driver.stable()[1]


def test_a_leader_that_died_gets_no_marker() -> None:
    driver = TransactionDriver(brokers=3, markers_delay_ms=50)
    partition = driver.cluster.create_topic("elsewhere", [[3, 2]]).partitions[0]
    producer = driver.init()
    assert driver.add(producer, topic="elsewhere") == {0: "NONE"}
    assert driver.write(producer, topic="elsewhere")[0] == "NONE"
    assert driver.end(producer, commit=True).error == "NONE"
    assert driver.coordinator() != 3
    driver.kill_broker(3)
    driver.advance(SESSION_MS - 1)
    assert (partition.leader, partition.log.end_offset) == (3, 3)
    assert driver.describe().transaction_state == "PrepareCommit"
    driver.advance(RETRY_MS + 1)
    assert (partition.leader, partition.log.last_stable_offset) == (2, 4)
    assert driver.describe().transaction_state == "CompleteCommit"


def test_a_coordinator_that_died_does_nothing_more() -> None:
    driver = TransactionDriver(brokers=3, transaction_abort_timed_out_transaction_cleanup_interval_ms=1_000)
    driver.begun()
    driver.advance(TIMEOUT_MS)
    log = driver.cluster.transaction_partition("tx").log
    end = log.end_offset
    driver.kill_broker(driver.coordinator())
    driver.advance(SESSION_MS - 1)
    assert (log.end_offset, driver.stable()) == (end, (0, 3))
    driver.advance(2_000)
    assert driver.describe().transaction_state == "CompleteAbort"


@pytest.mark.parametrize("policies", [{"restart-epoch": "kept"}, {"restart-epoch": "bumped"}])
def test_markers_go_on_when_the_coordinator_is_back(policies: dict[str, str]) -> None:
    driver = TransactionDriver(policies=policies, markers_delay_ms=50)
    producer = driver.begun()
    assert driver.end(producer, commit=True).error == "NONE"
    driver.kill_broker(1)
    driver.advance(1_000)
    assert driver.stable() == (0, 3)
    driver.start_broker(1)
    driver.advance(1_000)
    assert driver.describe().transaction_state == "CompleteCommit"
    assert driver.stable() == (4, 4)


def test_markers_go_on_when_the_coordinators_leader_epoch_is_bumped() -> None:
    driver = TransactionDriver(brokers=3, policies={"isr-shrink-epoch": "bumped"}, markers_delay_ms=50)
    producer = driver.begun()
    assert driver.end(producer, commit=True).error == "NONE"
    partition = driver.cluster.transaction_partition("tx")
    coordinator, epoch = partition.leader, partition.leader_epoch
    orders = driver.orders
    driver.stop_broker(({1, 2, 3} - {coordinator, orders.leader}).pop())
    assert (partition.leader, partition.leader_epoch) == (coordinator, epoch + 1)
    driver.advance(1_000)
    assert orders.log.last_stable_offset == orders.log.end_offset == 4
    assert driver.describe().transaction_state == "CompleteCommit"


def test_a_deleted_topic_needs_no_marker(driver: TransactionDriver) -> None:
    producer = driver.begun()
    driver.cluster.delete_topics([driver.cluster.topics["orders"]])
    assert driver.end(producer, commit=True).error == "NONE"
    assert driver.describe().transaction_state == "CompleteCommit"


@pytest.mark.parametrize("kafka", ["2.3", "3.9", "4.4"])
@pytest.mark.parametrize("delay_ms", [0, 50])
@pytest.mark.parametrize("refused", range(4))
def test_a_marker_that_a_partition_refuses_keeps_it_from_no_other(
    kafka: str, delay_ms: int, refused: int
) -> None:
    """As 3.9.2 did it: the transaction is never complete."""
    driver = TransactionDriver(kafka, markers_delay_ms=delay_ms, transaction_max_timeout_ms=900_000)
    partitions = driver.cluster.topics["orders"].partitions
    driver.cluster.topics["orders"].add_partitions([[1], [1]])
    producer = driver.init(timeout_ms=900_000)
    driver.add(producer, *range(4))
    for partition in range(4):
        assert driver.write(producer, partition=partition)[0] == "NONE"
    newer = producer._replace(epoch=producer.epoch + 1)
    assert driver.mark(newer, commit=False, partition=refused) == "NONE"
    assert driver.end(producer, commit=True).error == "NONE"
    driver.advance(60_000)
    assert [each.log.end_offset for each in partitions] == [4] * 4, "each has one marker"
    assert driver.describe().transaction_state == "PrepareCommit"
