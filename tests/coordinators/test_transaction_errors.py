"""Transactional requests with wrong input, and what each version calls it."""

import pytest

from mockbroker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTransaction,
)
from mockbroker.protocol.messages.common import NamePartitions
from mockbroker.protocol.messages.end_txn import EndTxnRequest
from mockbroker.protocol.messages.init_producer_id import InitProducerIdRequest

from ..driving.transactions import TIMEOUT_MS, Given, TransactionDriver


@pytest.mark.parametrize("kafka", ["2.3", "2.5", "2.8", "4.4"])
def test_requests_of_others(kafka: str) -> None:
    """Unknown ids, wrong producer ids, wrong epochs, wrong brokers, partitions that do not exist."""
    driver = TransactionDriver(kafka, brokers=3)
    producer = driver.init()
    fenced = "INVALID_PRODUCER_EPOCH" if kafka < "2.7" else "PRODUCER_FENCED"
    wrong_id, old, new = (
        producer._replace(producer_id=99),
        producer._replace(epoch=producer.epoch - 1),
        producer._replace(epoch=producer.epoch + 1),
    )
    assert driver.add(wrong_id) == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert driver.add(old) == driver.add(new) == {0: fenced}
    assert driver.end(wrong_id, commit=True).error == "INVALID_PRODUCER_ID_MAPPING"
    assert driver.end(old, commit=True).error == fenced
    assert driver.add(producer, transactional_id="unknown") == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert driver.end(producer, commit=True).error == "INVALID_TXN_STATE"
    assert driver.add(producer, 0, 7) == {0: "OPERATION_NOT_ATTEMPTED", 7: "UNKNOWN_TOPIC_OR_PARTITION"}
    other = next(broker for broker in driver.cluster.brokers if broker != driver.coordinator())
    answer = driver.ask(InitProducerIdRequest("tx", TIMEOUT_MS), broker=other)
    assert (answer.error_code, answer.producer_id) == (16, -1)
    answer = driver.ask(EndTxnRequest("", 1, 1, True), broker=other)
    assert answer.error_code == 42


@pytest.mark.parametrize("driver", ["2.8", "3.9", "4.4"], indirect=True)
@pytest.mark.parametrize("epoch", [-1, -2, -(1 << 15)])
def test_negative_epochs(driver: TransactionDriver, epoch: int) -> None:
    producer = driver.begun()
    negative = producer._replace(epoch=epoch)
    assert driver.add(negative) == {0: "PRODUCER_FENCED"}
    assert driver.add_offsets(negative) == "PRODUCER_FENCED"
    assert driver.end(negative, commit=True).error == "PRODUCER_FENCED"
    assert driver.describe().transaction_state == "Ongoing"
    assert driver.end(producer, commit=True).error == "NONE"
    # Without an epoch there is no id to ask with (`KafkaApis.scala`), any other is not the current one.
    refused = "INVALID_REQUEST" if epoch == -1 else "PRODUCER_FENCED"
    assert driver.init(producer.producer_id, epoch) == Given(refused, -1, -1)


@pytest.mark.parametrize("kafka", ["0.11", "2.8", "4.4"])
def test_unknown_transactional_ids(kafka: str) -> None:
    driver = TransactionDriver(kafka)
    nobody = Given("NONE", 7, 0)
    assert driver.add(nobody) == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert driver.add_offsets(nobody) == "INVALID_PRODUCER_ID_MAPPING"
    assert driver.end(nobody, commit=True).error == "INVALID_PRODUCER_ID_MAPPING"
    if kafka != "0.11":
        # InitProducerId takes whoever comes: the id may have expired.
        assert driver.init(*nobody[1:]) == Given("NONE", 0, 0)


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("commit", [True, False])
def test_there_is_nothing_to_end(driver: TransactionDriver, version: int, commit: bool) -> None:
    """Since KIP-890 a producer may abort what it does not know to have begun."""
    producer = driver.init()
    bumped = producer._replace(epoch=producer.epoch + 1)
    aborts = version == 5 and not commit
    found = driver.end(producer, commit=commit, version=version)
    assert found == (bumped if aborts else Given("INVALID_TXN_STATE", -1, -1))
    assert driver.describe().transaction_state == ("CompleteAbort" if aborts else "Empty")


@pytest.mark.parametrize(("kafka", "old", "new"), [("2.6", 1, None), ("2.7", 1, 2), ("4.4", 1, 2)])
def test_a_fenced_error_of_each_version(kafka: str, old: int, new: int | None) -> None:
    driver = TransactionDriver(kafka)
    producer = driver.init()
    stale = producer._replace(epoch=-2)
    assert driver.end(stale, commit=True, version=old).error == "INVALID_PRODUCER_EPOCH"
    assert driver.add(stale, version=old) == {0: "INVALID_PRODUCER_EPOCH"}
    if new is not None:
        assert driver.end(stale, commit=True, version=new).error == "PRODUCER_FENCED"
        assert driver.add(stale, version=new) == {0: "PRODUCER_FENCED"}


def test_many_transactions_in_one_request(driver: TransactionDriver) -> None:
    """AddPartitionsToTxn v4, as brokers send it: some add, some only verify."""
    one, two = driver.init(transactional_id="one"), driver.init(transactional_id="two")
    topics = [NamePartitions("orders", [0])]

    def ask(verify: bool) -> dict[str, int]:
        transactions = [
            AddPartitionsToTxnTransaction("one", one.producer_id, one.epoch, False, topics),
            AddPartitionsToTxnTransaction("two", two.producer_id, two.epoch, verify, topics),
        ]
        answer = driver.ask(AddPartitionsToTxnRequest(transactions), 5, broker=1)
        return {
            each.transactional_id: each.topic_results[0].results_by_partition[0].partition_error_code
            for each in answer.results_by_transaction
        }

    assert ask(verify=True) == {"one": 0, "two": 120}
    assert ask(verify=False) == {"one": 0, "two": 0}
    assert ask(verify=True) == {"one": 0, "two": 0}
