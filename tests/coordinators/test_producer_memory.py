"""How long a partition remembers a producer, and what a client is told when it does not (KIP-360)."""

import pytest

from mockbroker.cluster.topic import TopicPartition
from mockbroker.controller import elections, reassignments
from mockbroker.replication.states import FollowerState

from ..driving.transactions import Given, TransactionDriver

HOUR_MS = 3600 * 1000
DAY_MS = 24 * HOUR_MS
PLAIN = Given("NONE", 70, 0)
OUT_OF_ORDER = ("OUT_OF_ORDER_SEQUENCE_NUMBER", -1)
UNKNOWN = ("UNKNOWN_PRODUCER_ID", -1)


def delete_all(partition: TopicPartition) -> None:
    partition.at_leader.advance_log_start(partition.log.end_offset)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("out-of-order-sequence-number", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        ("duplicate-sequence-number", "DUPLICATE_SEQUENCE_NUMBER"),
    ],
)
def test_a_duplicate_that_is_too_old(answer: str, error: str) -> None:
    """A gap, and a batch that overlaps the next, are out of order in any case."""
    driver = TransactionDriver(policies={"stale-duplicate": answer})
    for sequence in range(0, 21, 3):
        assert driver.write(PLAIN, sequence, transactional=False)[0] == "NONE"
    assert driver.write(PLAIN, 3, transactional=False) == (error, -1)
    assert driver.write(PLAIN, 17, transactional=False) == (error, -1)
    assert driver.write(PLAIN, 18, count=6, transactional=False) == OUT_OF_ORDER
    assert driver.write(PLAIN, 24, transactional=False) == OUT_OF_ORDER
    assert driver.write(PLAIN, 6, transactional=False) == ("NONE", 6)


@pytest.mark.parametrize(
    ("kafka", "keeps_days"), [("0.11", 6), ("2.3", 6), ("2.4", 6), ("3.3", 6), ("3.4", 0), ("4.4", 0)]
)
def test_an_idle_producer_expires(kafka: str, keeps_days: int) -> None:
    """After `transactional.id.expiration.ms`, seven days; since 3.4 `producer.id.expiration.ms`, one day."""
    driver = TransactionDriver(kafka, log_retention_ms=-1)
    driver.write(PLAIN, transactional=False)
    driver.advance(keeps_days * DAY_MS + 23 * HOUR_MS)
    assert PLAIN.producer_id in driver.orders.log.producers.entries
    driver.advance(2 * HOUR_MS)
    assert PLAIN.producer_id not in driver.orders.log.producers.entries


def test_a_producer_with_an_open_transaction_does_not_expire() -> None:
    driver = TransactionDriver("3.5", transaction_max_timeout_ms=20 * DAY_MS, log_retention_ms=-1)
    producer = driver.begun(driver.init(timeout_ms=9 * DAY_MS))
    driver.advance(8 * DAY_MS)
    assert driver.producers()[producer.producer_id].current_txn_start_offset == 0


@pytest.mark.parametrize(
    ("kafka", "answer"),
    [("1.1", OUT_OF_ORDER), ("2.0", UNKNOWN), ("2.3", UNKNOWN), ("2.4", UNKNOWN), ("2.5", OUT_OF_ORDER)],
)
def test_a_sequence_after_nothing_but_a_marker(kafka: str, answer: tuple[str, int]) -> None:
    """KAFKA-7298: the marker that a new instance's abort wrote bumped the epoch here."""
    driver = TransactionDriver(kafka)
    producer = driver.begun()
    driver.init()
    fenced = producer._replace(epoch=producer.epoch + 1)
    assert driver.write(fenced, 3) == answer
    assert driver.write(fenced, 0) == ("NONE", 4)


@pytest.mark.parametrize(
    ("answer", "error"), [("ignored", "NONE"), ("kept", "TRANSACTION_COORDINATOR_FENCED")]
)
def test_a_marker_of_an_old_coordinator(answer: str, error: str) -> None:
    """KAFKA-9144: a producer of whom there are but markers is forgotten, and the coordinator epoch too."""
    driver = TransactionDriver("2.4", policies={"marker-timestamp": answer}, log_retention_ms=-1)
    producer = driver.init()
    assert driver.mark(producer, commit=False, coordinator_epoch=5) == "NONE"
    assert driver.mark(producer, commit=False, coordinator_epoch=4) == "TRANSACTION_COORDINATOR_FENCED"
    driver.advance(HOUR_MS)
    assert driver.mark(producer, commit=False, coordinator_epoch=4) == error


def test_markers_of_wrong_epochs() -> None:
    driver = TransactionDriver("4.4")
    producer = driver.begun()
    assert driver.mark(producer._replace(epoch=-1), commit=True) == "UNKNOWN_SERVER_ERROR"
    assert driver.mark(producer._replace(epoch=-2), commit=True) == "INVALID_PRODUCER_EPOCH"


@pytest.mark.parametrize(
    ("kafka", "answer", "opened", "at_limit", "ended"),
    [
        ("4.2", None, "INVALID_PRODUCER_EPOCH", "INVALID_PRODUCER_EPOCH", "NONE"),
        ("4.4", None, "INVALID_PRODUCER_EPOCH", "NONE", "NONE"),
        ("4.4", "accepted", "NONE", "NONE", "NONE"),
        ("4.4", "refused", *["INVALID_PRODUCER_EPOCH"] * 3),
    ],
)
def test_markers_of_the_same_epoch(
    kafka: str, answer: str | None, opened: str, at_limit: str, ended: str
) -> None:
    """`ProducerAppendInfo.checkProducerEpoch` of 4.1.1 to 4.4.0."""
    policies = {} if answer is None else {"same-epoch-marker": answer}
    driver = TransactionDriver(kafka, policies)
    producer = driver.begun()
    assert driver.mark(producer, commit=True, version=2) == opened
    bumped = producer._replace(epoch=producer.epoch + 1)
    assert driver.mark(bumped, commit=True, version=2) == "NONE"
    assert driver.mark(bumped, commit=True, version=2) == ended
    assert driver.mark(bumped, commit=True, version=1) == "NONE"
    assert driver.read().last_stable_offset == driver.orders.log.end_offset
    driver = TransactionDriver(kafka, policies)
    last = driver.begun(driver.exhausted(32767))
    assert driver.mark(last, commit=True, version=2) == at_limit


@pytest.mark.parametrize(
    ("kafka", "next_sequence"), [("0.11", OUT_OF_ORDER), ("2.4", UNKNOWN), ("2.5", ("NONE", 3))]
)
def test_a_reassigned_replica_knows_no_old_producer(kafka: str, next_sequence: tuple[str, int]) -> None:
    """What KIP-360 describes: a new replica sees but the producers that are in the log, and may lead."""
    driver = TransactionDriver(kafka, brokers=3)
    partition = driver.cluster.create_topic("moving", [[1]]).partitions[0]
    assert driver.write(PLAIN, 0, topic="moving", transactional=False) == ("NONE", 0)
    delete_all(partition)
    known = driver.write(PLAIN, 3, topic="moving", transactional=False)
    assert known == (("NONE", 3) if kafka > "2.3" else next_sequence)
    if known[0] == "NONE":
        delete_all(partition)
    reassignments.begin(partition, [2])
    assert partition.leader == 2
    assert PLAIN.producer_id not in partition.log.producers.entries
    sequence = 6 if known[0] == "NONE" else 3
    found = driver.write(PLAIN, sequence, topic="moving", transactional=False)
    assert found == (next_sequence if kafka != "2.5" else ("NONE", 6))


def test_a_reassigned_replica_knows_an_open_transaction() -> None:
    driver = TransactionDriver(brokers=3)
    partition = driver.cluster.create_topic("moving", [[1]]).partitions[0]
    producer = driver.init()
    driver.add(producer, topic="moving")
    driver.write(producer, topic="moving")
    reassignments.begin(partition, [2])
    assert driver.read(topic="moving").last_stable_offset == 0
    assert driver.write(producer, 3, topic="moving") == ("NONE", 3)
    driver.end(producer, commit=False)
    data = driver.read(topic="moving")
    assert (data.last_stable_offset, [a.first_offset for a in data.aborted_transactions]) == (7, [0])


def test_a_follower_that_lagged_leads_without_the_end_of_the_transaction() -> None:
    """An unclean election takes marker and all away; the transaction is open again."""
    driver = TransactionDriver("3.5", brokers=2)
    producer = driver.begun()
    partition = driver.orders
    follower = next(broker for broker in partition.replicas if broker != partition.leader)
    old = partition.leader
    partition.set_follower(follower, FollowerState.PAUSED)
    assert driver.mark(producer, commit=True) is None
    driver.advance(60_000)
    assert driver.read().last_stable_offset == 4
    driver.stop_broker(old)
    assert partition.leader == -1
    elections.elect_unclean(partition)
    assert driver.read().last_stable_offset == 0
    driver.start_broker(old)
    assert partition.logs[old].producers.transactions.open == {0: producer.producer_id}


@pytest.mark.parametrize(
    ("kafka", "answer", "error"),
    [
        ("2.4", "zero", "UNKNOWN_PRODUCER_ID"),
        ("4.4", "any", "NONE"),
        ("4.4", "zero", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
    ],
)
def test_the_first_batch_of_a_new_partition(kafka: str, answer: str, error: str) -> None:
    """KAFKA-15591: a later batch is not taken for the first one."""
    driver = TransactionDriver(kafka, policies={"new-partition-sequence": answer})
    assert driver.write(PLAIN, 3, transactional=False)[0] == error
    retried = "OUT_OF_ORDER_SEQUENCE_NUMBER" if answer == "any" else "NONE"
    assert driver.write(PLAIN, 0, transactional=False)[0] == retried


def test_a_partition_that_has_held_records_takes_any_sequence() -> None:
    driver = TransactionDriver("4.4", policies={"new-partition-sequence": "zero"})
    assert driver.write(PLAIN, 0, transactional=False) == ("NONE", 0)
    leader = driver.orders.led
    assert leader is not None
    leader.delete_upto(3)
    assert driver.write(PLAIN._replace(producer_id=71), 7, transactional=False) == ("NONE", 3)
