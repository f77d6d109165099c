"""Offsets of transactions beside others of the same partition: an expiry, or a plain commit (Redpanda's
CORE-16998 and CORE-17000)."""

import pytest

from ..driving.transactions import TransactionDriver

MINUTE_MS = 60_000
LONG_MS = 10 * MINUTE_MS


def commit(driver: TransactionDriver, offset: int) -> None:
    topic = {
        "name": "orders",
        "partitions": [{"partition_index": 0, "committed_offset": offset, "committed_leader_epoch": -1}],
    }
    fields = {"group_id": "g", "generation_id_or_member_epoch": -1, "topics": [topic]}
    broker = driver.cluster.offsets_partition("g").leader
    answer = driver.ask_for("offset_commit", 8, broker=broker, **fields)
    assert answer.topics[0].partitions[0].error_code == 0


def committed(driver: TransactionDriver) -> list[int]:
    """What counts, and what counts once the coordinator has moved."""
    error, offset = driver.committed(stable=True)
    assert error == "NONE"
    driver.stop_broker(driver.cluster.offsets_partition("g").leader)
    return [offset, driver.committed(stable=True)[1]]


@pytest.mark.parametrize(
    ("kafka", "answer", "offsets"),
    [
        ("3.9", "removed", [5, 5]),
        ("4.4", "removed", [5, -1]),
        ("4.4", "waits", [5, 5]),
    ],
)
def test_an_offset_expires_beside_a_transaction(kafka: str, answer: str, offsets: list[int]) -> None:
    driver = TransactionDriver(
        kafka,
        {"pending-offset-expiry": answer},
        brokers=3,
        offsets_retention_minutes=1,
        offsets_retention_check_interval_ms=1_000,
    )
    commit(driver, 3)
    driver.advance(MINUTE_MS * 5 // 6)
    producer = driver.init(timeout_ms=LONG_MS)
    assert driver.add_offsets(producer) == driver.commit_offset(producer, 5) == "NONE"
    driver.advance(MINUTE_MS // 3)
    assert driver.committed()[1] == (-1 if answer == "removed" else 3)
    driver.end(producer, commit=True)
    assert committed(driver) == offsets


@pytest.mark.parametrize("kafka", ["2.5", "3.9", "4.4"])
@pytest.mark.parametrize(
    ("answer", "offsets"), [("later-record", [7, 7]), ("marker", [5, 5]), ("by-memory", [7, 5])]
)
def test_a_plain_commit_races_a_transaction(kafka: str, answer: str, offsets: list[int]) -> None:
    driver = TransactionDriver(kafka, {"raced-transactional-commit": answer}, brokers=3)
    producer = driver.committing(5)
    commit(driver, 7)
    driver.end(producer, commit=True)
    assert committed(driver) == offsets
