"""Which groups and offsets the next coordinator finds, after some were deleted or aborted.

As real 3.9.2 and 4.4.0: `GroupMetadataManager.doLoadGroupsAndOffsets`, `OffsetMetadataManager.replay`.
"""

import pytest

from mockbroker.controller import elections
from mockbroker.protocol.messages.delete_groups import DeleteGroupsRequest

from ..driving.groups import replicated
from ..driving.transactions import Given, TransactionDriver

O0 = ("orders", 0)
SINCE = [("3.9", "Dead"), ("4.4", "Empty")]


def committing(kafka: str) -> tuple[TransactionDriver, Given]:
    """An offset that waits for the end of a transaction."""
    driver = TransactionDriver(kafka, brokers=3)
    return driver, driver.committing()


def move(driver: TransactionDriver) -> None:
    assert elections.move_leader(driver.cluster.offsets_partition("g"))


def known(driver: TransactionDriver) -> bool:
    coordinator = driver.cluster.coordinator("g")
    assert coordinator is not None
    return "g" in coordinator.groups.groups


@pytest.mark.parametrize(("kafka", "state"), SINCE)
def test_a_group_whose_last_offset_was_deleted(kafka: str, state: str) -> None:
    driver = replicated(kafka)
    driver.commit({O0: 5})
    assert driver.delete_offsets(O0).error_code == 0
    assert driver.state == state
    driver.move_coordinator()
    assert driver.state == state


@pytest.mark.parametrize("kafka", ["3.9", "4.4"])
def test_a_group_that_was_deleted(kafka: str) -> None:
    driver = replicated(kafka)
    driver.commit({O0: 5})
    assert driver.delete() == 0
    driver.move_coordinator()
    assert driver.state == "Dead"


@pytest.mark.parametrize(("kafka", "stays"), [("3.9", False), ("4.4", True)])
def test_a_group_whose_only_offsets_were_aborted(kafka: str, stays: bool) -> None:
    driver, producer = committing(kafka)
    driver.end(producer, commit=False)
    assert known(driver)
    move(driver)
    assert known(driver) is stays


@pytest.mark.parametrize(("kafka", "committed"), [("3.9", 5), ("4.4", -1)])
def test_a_group_that_was_deleted_during_the_transaction_with_its_offsets(kafka: str, committed: int) -> None:
    """Up to 3.9 nothing of that is in the log, and the offsets are valid for the next coordinator only."""
    driver, producer = committing(kafka)
    assert driver.ask(DeleteGroupsRequest(["g"])).results[0].error_code == 0
    driver.end(producer, commit=True)
    assert driver.committed() == ("NONE", -1)
    move(driver)
    assert driver.committed() == ("NONE", committed)
