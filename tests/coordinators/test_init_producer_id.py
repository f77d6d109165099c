"""InitProducerId with a transactional id: new instances, retries (KIP-360), used-up epochs, timeouts."""

import pytest

from mockbroker.controller import elections

from ..driving.transactions import MAX_EPOCH, Given, TransactionDriver


@pytest.mark.parametrize(("answer", "epoch"), [("recoverable", 2), ("fenced-twice", 3)])
def test_a_new_instance_aborts_what_is_open(answer: str, epoch: int) -> None:
    driver = TransactionDriver(policies={"transaction-timeout-fencing": answer})
    producer = driver.begun()
    assert driver.init() == Given("CONCURRENT_TRANSACTIONS", -1, -1)
    assert driver.stable() == (4, 4)
    assert driver.init() == Given("NONE", producer.producer_id, epoch)
    assert driver.end(producer, commit=True).error == "PRODUCER_FENCED"


@pytest.mark.parametrize("answer", ["in-memory", "persisted"])
@pytest.mark.parametrize("kafka", ["2.8", "4.4"])
def test_a_retry_across_a_coordinator_move(kafka: str, answer: str) -> None:
    driver = TransactionDriver(kafka, brokers=3, policies={"last-epoch": answer})
    producer = driver.init()
    missed = driver.init(*producer[1:])
    assert driver.init(*producer[1:]) == missed
    driver.stop_broker(driver.coordinator())
    found = driver.init(*producer[1:])
    assert found == (missed if answer == "persisted" else Given("PRODUCER_FENCED", -1, -1))


@pytest.mark.parametrize("answer", ["in-memory", "persisted"])
@pytest.mark.parametrize("kafka", ["2.5", "2.8", "4.4"])
@pytest.mark.parametrize("moves", [False, True])
def test_a_bump_without_an_id_fences_the_old_instance(moves: bool, kafka: str, answer: str) -> None:
    """Its epoch is the last one, but of another instance: nothing to ask again with."""
    driver = TransactionDriver(kafka, brokers=3, policies={"last-epoch": answer})
    old = driver.init()
    new = driver.init()
    assert new == old._replace(epoch=old.epoch + 1)
    if moves:
        assert elections.move_leader(driver.cluster.transaction_partition("tx"))
    fenced = "INVALID_PRODUCER_EPOCH" if kafka == "2.5" else "PRODUCER_FENCED"
    assert driver.init(*old[1:]) == Given(fenced, -1, -1)
    assert driver.add(old) == {0: fenced}
    assert driver.add_offsets(old) == fenced
    assert driver.end(old, commit=False).error == fenced
    # The new instance has lost nothing by that.
    assert driver.begun(new) == new
    assert driver.write(old, 3)[0] == "INVALID_PRODUCER_EPOCH"
    assert driver.end(new, commit=True).error == "NONE"


@pytest.mark.parametrize("answer", ["in-memory", "persisted"])
def test_only_the_last_epoch_may_be_asked_with_again(answer: str) -> None:
    driver = TransactionDriver(brokers=3, policies={"last-epoch": answer})
    first = driver.init()
    second = driver.init(*first[1:])
    third = driver.init(*second[1:])
    assert [each.epoch for each in (first, second, third)] == [0, 1, 2]
    for moves in (False, True):
        if moves:
            assert elections.move_leader(driver.cluster.transaction_partition("tx"))
        assert driver.init(*first[1:]) == Given("PRODUCER_FENCED", -1, -1)
        assert driver.init(*third._replace(epoch=9)[1:]) == Given("PRODUCER_FENCED", -1, -1)
        assert driver.init(99, third.epoch) == Given("PRODUCER_FENCED", -1, -1)


def test_before_kip_360_what_a_client_has_does_not_matter() -> None:
    driver = TransactionDriver(policies={"epoch-bump": "by-new-instance"})
    producer = driver.init()
    assert [driver.init(*producer[1:]).epoch for _ in range(3)] == [1, 2, 3]


def test_used_up_epochs_give_a_new_producer_id(driver: TransactionDriver) -> None:
    old = driver.exhausted()
    new = driver.init(*old[1:])
    assert new == Given("NONE", old.producer_id + 1, 0)
    # A retry of a producer that did not hear of it.
    assert driver.init(*old[1:]) == new
    assert driver.init(old.producer_id, 5).error == "PRODUCER_FENCED"
    other = TransactionDriver()
    other.exhausted()
    assert other.init() == Given("NONE", 1, 0)


def test_the_last_epoch_is_left_to_fence() -> None:
    driver = TransactionDriver("3.9")
    producer = driver.begun(driver.exhausted())
    assert driver.init().error == "CONCURRENT_TRANSACTIONS"
    assert driver.describe().producer_epoch == MAX_EPOCH
    assert driver.init() == Given("NONE", producer.producer_id + 1, 0)


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_timeouts_that_are_refused(driver: TransactionDriver, timeout_ms: int) -> None:
    assert driver.init(timeout_ms=timeout_ms).error == "INVALID_TRANSACTION_TIMEOUT"
    assert driver.init(timeout_ms=900_000).error == "NONE"
