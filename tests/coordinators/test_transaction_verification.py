"""Is a partition part of the transaction that is written to it? Release by release (KIP-890)."""

import pytest

from mockbroker.protocol.errors import error_name
from mockbroker.rig.batches import LZ4

from ..driving.transactions import Given, TransactionDriver


@pytest.mark.parametrize(
    ("kafka", "version", "error"),
    [
        ("3.5", 9, "NONE"),
        ("3.6", 9, "INVALID_TXN_STATE"),
        ("3.8", 10, "INVALID_TXN_STATE"),
        ("3.8", 11, "TRANSACTION_ABORTABLE"),
        ("4.4", 11, "TRANSACTION_ABORTABLE"),
        ("4.4", 12, "NONE"),
    ],
)
def test_a_batch_to_a_partition_that_was_not_added(kafka: str, version: int, error: str) -> None:
    driver = TransactionDriver(kafka, brokers=3)
    producer = driver.init()
    assert driver.write(producer, version=version)[0] == error
    state = driver.describe().transaction_state
    assert state == ("Ongoing" if version == 12 else "Empty")


@pytest.mark.parametrize(
    ("kafka", "version", "error"),
    [
        ("3.6", 3, "NONE"),
        ("3.7", 3, "INVALID_TXN_STATE"),
        ("3.8", 3, "INVALID_TXN_STATE"),
        ("3.8", 4, "TRANSACTION_ABORTABLE"),
        ("4.4", 5, "NONE"),
    ],
)
def test_offsets_of_a_group_that_was_not_added(kafka: str, version: int, error: str) -> None:
    driver = TransactionDriver(kafka, brokers=3)
    assert driver.commit_offset(driver.init(), 5, version=version) == error


def test_verification_can_be_turned_off() -> None:
    driver = TransactionDriver("3.9", transaction_partition_verification_enable="false")
    assert driver.write(driver.init()) == ("NONE", 0)


def test_a_hanging_transaction_before_verification() -> None:
    """A late batch opens a transaction that its coordinator knows nothing of; an administrator ends it."""
    driver = TransactionDriver("3.5")
    producer = driver.begun()
    driver.end(producer, commit=True)
    assert driver.write(producer, 3) == ("NONE", 4)
    driver.advance(24 * 3600 * 1000)
    assert driver.read(4).last_stable_offset == 4
    assert driver.producers()[producer.producer_id].current_txn_start_offset == 4
    assert driver.mark(producer, commit=False) == "NONE"
    assert driver.read(4).last_stable_offset == 8


def test_the_next_transaction_while_markers_are_under_way() -> None:
    driver = TransactionDriver("3.9", markers_delay_ms=50)
    producer = driver.begun()
    driver.end(producer, commit=True)
    driver.create("other")
    answer = driver.write_later(producer, 0, topic="other").responses[0].partition_responses[0]
    assert error_name(answer.error_code) == "NOT_ENOUGH_REPLICAS"
    assert answer.error_message.endswith("Underlying error: CONCURRENT_TRANSACTIONS")
    assert driver.write(producer, 3) == ("NONE", 3)


def test_the_broker_waits_in_place_of_a_client_that_adds_by_writing() -> None:
    driver = TransactionDriver(markers_delay_ms=50)
    first = driver.init()
    assert driver.write(first, version=12) == ("NONE", 0)
    second = driver.end(first, commit=True, version=5)
    asked = driver.write_later(second, 0, version=12)
    assert asked.parked
    driver.advance(40)
    assert asked.parked
    driver.advance(20)
    only = asked.responses[0].partition_responses[0]
    assert (only.error_code, only.base_offset) == (0, 4)


def test_but_not_for_ever() -> None:
    driver = TransactionDriver(markers_delay_ms=500)
    first = driver.init()
    driver.write(first, version=12)
    second = driver.end(first, commit=True, version=5)
    asked = driver.write_later(second, 0, version=12)
    driver.advance(100)
    only = asked.responses[0].partition_responses[0]
    assert error_name(only.error_code) == "CONCURRENT_TRANSACTIONS"


@pytest.mark.parametrize(("answer", "error"), [("lowest", "OUT_OF_ORDER_SEQUENCE_NUMBER"), ("any", "NONE")])
def test_the_second_batch_before_the_first(answer: str, error: str) -> None:
    """KAFKA-14920: verification of the first failed for now."""
    driver = TransactionDriver("3.9", policies={"verified-sequence": answer}, markers_delay_ms=50)
    driver.create("other")
    producer = driver.begun()
    driver.end(producer, commit=True)
    assert driver.write(producer, 0, topic="other")[0] == "NOT_ENOUGH_REPLICAS"
    driver.advance(50)
    driver.add(producer, topic="other")
    assert driver.write(producer, 3, topic="other")[0] == error
    first = "NONE" if answer == "lowest" else "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert driver.write(producer, 0, topic="other")[0] == first
    assert driver.write(producer, 3, topic="other")[0] == "NONE"


@pytest.mark.parametrize(
    ("kafka", "version", "error"),
    [("4.0", 12, "NONE"), ("4.1", 12, "OUT_OF_ORDER_SEQUENCE_NUMBER"), ("4.1", 11, "NONE")],
)
def test_a_batch_that_adds_its_partition_but_is_not_the_first(kafka: str, version: int, error: str) -> None:
    """KAFKA-18202, as a 4.4.0 broker answered: what came before it is missing, and that it tells."""
    driver = TransactionDriver(kafka, brokers=3)
    producer = driver.init()
    driver.add(producer)
    assert driver.write(producer, 3, version=version) == (error, 0 if error == "NONE" else -1)
    if error != "NONE":
        assert driver.write(producer, version=version) == ("NONE", 0)
        assert driver.write(producer, 3, version=version) == ("NONE", 3)


@pytest.mark.parametrize(("answer", "error"), [("accepted", "NONE"), ("invalid-record", "INVALID_RECORD")])
def test_a_compressed_first_batch(answer: str, error: str) -> None:
    """KAFKA-15653"""
    driver = TransactionDriver("3.6", policies={"verified-compression": answer})
    producer = driver.init()
    driver.add(producer)
    assert driver.write(producer, compression=LZ4)[0] == error
    assert driver.write(producer)[0] == "NONE"
    assert driver.write(producer, 3, compression=LZ4)[0] == "NONE"


def test_a_batch_outside_of_the_open_transaction(driver: TransactionDriver) -> None:
    producer = driver.begun()
    assert driver.write(producer, 3, transactional=False) == ("INVALID_TXN_STATE", -1)


def test_an_old_epoch_and_an_unknown_producer(driver: TransactionDriver) -> None:
    producer = driver.init()
    driver.init()
    assert driver.write(producer)[0] == "INVALID_PRODUCER_EPOCH"
    assert driver.write(Given("NONE", 99, 0))[0] == "INVALID_PRODUCER_ID_MAPPING"
    assert driver.write(producer, transactional_id="unknown")[0] == "INVALID_PRODUCER_ID_MAPPING"
