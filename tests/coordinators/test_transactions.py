"""Transactions from begin to end: what their readers see, and what a late batch does."""

import pytest

from .transacting import Stage


@pytest.mark.parametrize("kafka", ["0.11", "2.3", "2.5", "3.6", "4.4"])
@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_from_begin_to_end(kafka: str, commit: bool) -> None:
    stage = Stage(kafka, brokers=3)
    producer = stage.begun()
    assert stage.stable() == (0, 3)
    assert stage.end(producer, commit=commit).error == "NONE"
    assert stage.stable() == (4, 4)
    aborted = [(each.producer_id, each.first_offset) for each in stage.read().aborted_transactions]
    assert aborted == ([] if commit else [(producer.producer_id, 0)])
    # Followers hear of the high watermark with their next fetch.
    stage.advance(500)
    stage.orders.tell_followers()
    assert all(log.last_stable_offset == 4 for log in stage.orders.logs.values())


def test_transactions_of_two_producers_hold_each_other_back() -> None:
    stage = Stage()
    first = stage.begun()
    second = stage.init(transactional_id="other")
    stage.add(second, transactional_id="other")
    stage.write(second, transactional_id="other")
    assert stage.end(second, commit=False, transactional_id="other").error == "NONE"
    assert stage.stable() == (0, 7)
    assert stage.read().aborted_transactions == []
    assert stage.end(first, commit=True).error == "NONE"
    assert stage.stable() == (8, 8)
    assert [each.producer_id for each in stage.read().aborted_transactions] == [second.producer_id]
    # A reader behind the marker has no use for it.
    assert stage.read(7).aborted_transactions == []


def test_a_reader_of_committed_records_waits_for_the_marker() -> None:
    stage = Stage(brokers=3)
    producer = stage.begun()
    waiting = stage.fetch(wait_ms=5000)
    anything = stage.fetch(3, committed=False, wait_ms=5000)
    stage.write(producer, 3)
    assert waiting.response is None
    assert anything.response is not None
    stage.end(producer, commit=True)
    assert waiting.response is not None
    assert sum(map(len, waiting.response.responses[0].partitions[0].records)) > 0
    assert stage.fetch(7, wait_ms=5000).response is None


def test_a_late_batch_hits_no_later_transaction() -> None:
    """What KIP-890 is for: without the bump it would be part of the next transaction."""
    stage = Stage()
    first = stage.begun()
    second = stage.end(first, commit=True, version=5)
    stage.begun(second)
    assert stage.write(first, 3)[0] == "INVALID_PRODUCER_EPOCH"
    old = Stage("3.5")
    producer = old.begun()
    old.end(producer, commit=True)
    old.add(producer)
    assert old.write(producer, 3) == ("NONE", 4)
