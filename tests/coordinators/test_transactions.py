"""Transactions from begin to end: what their readers see, and what a late batch does."""

import pytest

from ..driving.transactions import TransactionDriver


@pytest.mark.parametrize("kafka", ["0.11", "2.3", "2.5", "3.6", "4.4"])
@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_from_begin_to_end(kafka: str, commit: bool) -> None:
    driver = TransactionDriver(kafka, brokers=3)
    producer = driver.begun()
    assert driver.stable() == (0, 3)
    assert driver.end(producer, commit=commit).error == "NONE"
    assert driver.stable() == (4, 4)
    aborted = [(each.producer_id, each.first_offset) for each in driver.read().aborted_transactions]
    assert aborted == ([] if commit else [(producer.producer_id, 0)])
    # Followers hear of the high watermark with their next fetch.
    driver.advance(500)
    driver.orders.at_leader.tell_followers()
    assert all(log.last_stable_offset == 4 for log in driver.orders.logs.values())


def test_transactions_of_two_producers_hold_each_other_back(driver: TransactionDriver) -> None:
    first = driver.begun()
    second = driver.init(transactional_id="other")
    driver.add(second, transactional_id="other")
    driver.write(second, transactional_id="other")
    assert driver.end(second, commit=False, transactional_id="other").error == "NONE"
    assert driver.stable() == (0, 7)
    assert driver.read().aborted_transactions == []
    assert driver.end(first, commit=True).error == "NONE"
    assert driver.stable() == (8, 8)
    assert [each.producer_id for each in driver.read().aborted_transactions] == [second.producer_id]
    # A reader behind the marker has no use for it.
    assert driver.read(7).aborted_transactions == []


def test_a_reader_of_committed_records_waits_for_the_marker() -> None:
    driver = TransactionDriver(brokers=3)
    producer = driver.begun()
    waiting = driver.fetch(wait_ms=5000)
    anything = driver.fetch(3, committed=False, wait_ms=5000)
    driver.write(producer, 3)
    assert waiting.response is None
    assert anything.response is not None
    driver.end(producer, commit=True)
    assert waiting.response is not None
    assert sum(map(len, waiting.response.responses[0].partitions[0].records)) > 0
    assert driver.fetch(7, wait_ms=5000).response is None


def test_a_late_batch_hits_no_later_transaction(driver: TransactionDriver) -> None:
    """What KIP-890 is for: without the bump it would be part of the next transaction."""
    first = driver.begun()
    second = driver.end(first, commit=True, version=5)
    driver.begun(second)
    assert driver.write(first, 3)[0] == "INVALID_PRODUCER_EPOCH"
    old = TransactionDriver("3.5")
    producer = old.begun()
    old.end(producer, commit=True)
    old.add(producer)
    assert old.write(producer, 3) == ("NONE", 4)
