"""EndTxn: which epochs may end a transaction, ending one twice, and the bump with each end (KIP-890)."""

import pytest

from ..driving.transactions import Given, TransactionDriver


def test_which_epochs_may_end_a_transaction() -> None:
    for kafka, later, again in (
        ("2.5", "INVALID_PRODUCER_EPOCH", "CONCURRENT_TRANSACTIONS"),
        ("2.6", "INVALID_PRODUCER_EPOCH", "NONE"),
        ("2.7", "PRODUCER_FENCED", "NONE"),
    ):
        driver = TransactionDriver(kafka)
        producer = driver.begun()
        assert driver.end(producer._replace(epoch=4), commit=True).error == later
        assert driver.end(producer, commit=True).error == again


@pytest.mark.parametrize(("commit", "again"), [(True, "NONE"), (False, "INVALID_TXN_STATE")])
def test_ending_again_without(driver: TransactionDriver, commit: bool, again: str) -> None:
    producer = driver.begun()
    assert driver.end(producer, commit=True) == Given("NONE", -1, -1)
    assert driver.end(producer, commit=commit).error == again


TABLE = {
    # state: (retry with abort, current with abort, retry with commit, current with commit)
    "Empty": ("PRODUCER_FENCED", "bump", "PRODUCER_FENCED", "INVALID_TXN_STATE"),
    "CompleteAbort": ("again", "bump", "INVALID_TXN_STATE", "INVALID_TXN_STATE"),
    "CompleteCommit": ("INVALID_TXN_STATE", "bump", "again", "INVALID_TXN_STATE"),
}
"""What a coordinator answers EndTxn v5 when no transaction is open (`TransactionCoordinator.scala`)."""


@pytest.mark.parametrize("state", TABLE)
@pytest.mark.parametrize("case", range(4))
def test_ending_again_with_a_bump_per_transaction(driver: TransactionDriver, state: str, case: int) -> None:
    first = driver.init()
    if state != "Empty":
        driver.begun(first)
        current = driver.end(first, commit=state == "CompleteCommit", version=5)
        assert current == Given("NONE", first.producer_id, first.epoch + 1)
    else:
        current = first
    assert driver.describe().transaction_state == state
    retry, commit = case in (0, 2), case >= 2
    asked = current._replace(epoch=current.epoch - 1) if retry else current
    answer, expected = driver.end(asked, commit=commit, version=5), TABLE[state][case]
    if expected == "bump":
        assert answer == current._replace(epoch=current.epoch + 1)
    elif expected == "again":
        assert answer == current
    else:
        assert answer == Given(expected, -1, -1)


def test_end_txn_bumps_over_the_last_epoch(driver: TransactionDriver) -> None:
    old = driver.exhausted()
    driver.begun(old)
    new = driver.end(old, commit=True, version=5)
    assert new == Given("NONE", old.producer_id + 1, 0)
    assert driver.end(old, commit=True, version=5) == new
    assert driver.end(old, commit=False, version=5).error == "INVALID_TXN_STATE"
    assert driver.begun(new) == new
    after = driver.end(new, commit=True, version=5)
    assert after == new._replace(epoch=1)
    assert driver.end(old, commit=True, version=5).error == "INVALID_PRODUCER_ID_MAPPING"
