"""Transactions that time out, what that leaves their producers, and transactional ids that expire."""

import pytest

from ..driving.transactions import MAX_EPOCH, TIMEOUT_MS, Given, TransactionDriver

DAY_MS = 24 * 3600 * 1000


@pytest.mark.parametrize("kafka", ["2.5", "4.4"])
def test_a_transaction_that_times_out(kafka: str) -> None:
    driver = TransactionDriver(kafka)
    producer = driver.begun(driver.init(timeout_ms=5000))
    driver.advance(15_000)
    assert driver.stable() == (4, 4)
    assert len(driver.read().aborted_transactions) == 1
    fenced = "INVALID_PRODUCER_EPOCH" if kafka == "2.5" else "PRODUCER_FENCED"
    assert driver.end(producer, commit=True).error == fenced
    assert driver.add(producer) == {0: fenced}
    assert driver.write(producer, 3)[0] == "INVALID_PRODUCER_EPOCH"


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("fenced", Given("PRODUCER_FENCED", -1, -1)),
        ("recoverable", Given("NONE", 0, 1)),
        ("not-fenced", Given("NONE", 0, 1)),
    ],
)
def test_what_a_timeout_leaves_its_producer(answer: str, after: Given) -> None:
    driver = TransactionDriver("3.9", policies={"transaction-timeout-fencing": answer})
    producer = driver.begun(driver.init(timeout_ms=5000))
    driver.advance(15_000)
    written = driver.write(producer, 3, version=9)[0]
    assert written == ("INVALID_TXN_STATE" if answer == "not-fenced" else "INVALID_PRODUCER_EPOCH")
    assert driver.init(*producer[1:], version=5) == after


def test_a_zombie_goes_on_where_timeouts_do_not_fence() -> None:
    """KAFKA-6119: it writes after the abort, as if nothing had happened."""
    policies = {"transaction-timeout-fencing": "not-fenced"}
    driver = TransactionDriver(
        "0.11", policies=policies, transaction_abort_timed_out_transaction_cleanup_interval_ms=1000
    )
    producer = driver.begun(driver.init(timeout_ms=5000))
    driver.advance(7000)
    assert driver.stable() == (4, 4)
    assert driver.write(producer, 3) == ("NONE", 4)
    assert driver.stable() == (4, 7)


@pytest.mark.parametrize(("answer", "state"), [("stuck", "Ongoing"), ("recovers", "CompleteAbort")])
def test_a_timeout_after_the_last_epoch_keeps_others_from_theirs(answer: str, state: str) -> None:
    """KAFKA-20090: the check for timeouts ends there."""
    driver = TransactionDriver(policies={"exhausted-epochs": answer})
    driver.begun(driver.exhausted(MAX_EPOCH))
    other = driver.init(transactional_id="other", timeout_ms=2 * TIMEOUT_MS)
    assert driver.add(other, 1, transactional_id="other") == {1: "NONE"}
    driver.advance(DAY_MS)
    assert driver.describe("other").transaction_state == state
    assert driver.describe().transaction_state == state


def test_an_idle_transactional_id_expires_and_its_producer_goes_on(driver: TransactionDriver) -> None:
    """INVALID_PRODUCER_ID_MAPPING, from which InitProducerId recovers (KIP-360)."""
    producer = driver.begun()
    driver.end(producer, commit=True)
    driver.advance(6 * DAY_MS)
    assert driver.describe().transaction_state == "CompleteCommit"
    driver.advance(2 * DAY_MS)
    assert driver.describe().error_code == 105
    assert driver.add(producer) == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert driver.end(producer, commit=True).error == "INVALID_PRODUCER_ID_MAPPING"
    assert driver.init(*producer[1:]) == Given("NONE", producer.producer_id + 1, 0)
    # Whoever had the old id is fenced now: another producer took its place.
    assert driver.init(*producer[1:]) == Given("PRODUCER_FENCED", -1, -1)


def test_an_open_transaction_does_not_expire() -> None:
    driver = TransactionDriver(transactional_id_expiration_ms=1000, transaction_max_timeout_ms=20 * DAY_MS)
    driver.begun(driver.init(timeout_ms=9 * DAY_MS))
    driver.advance(8 * DAY_MS)
    assert driver.describe().transaction_state == "Ongoing"
