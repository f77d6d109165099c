"""Transactions are told of as their producers drive them, and records as their readers read them."""

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from hypothesis import settings
from hypothesis.stateful import invariant

from mockbroker import MockCluster, NotThereError, Record
from mockbroker.contents import records, transactions
from mockbroker.contents.records import Place
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.protocol.record_batch import CONTROL, header_of
from mockbroker.protocol.record_batch import records as parsed
from mockbroker.simulation.batches import with_aborted

from ..coordinators.test_transaction_invariants import PARTITIONS, Transactions
from ..driving.real_clients import a_consumer, a_producer, polled
from ..driving.transactions import TransactionDriver


def fetched(driver: TransactionDriver, partition: int, *, committed: bool) -> list[tuple[int, bytes | None]]:
    """What a consumer makes of a Fetch from the beginning."""
    topic = driver.cluster.topics["orders"]
    start = topic.partitions[partition].log.start_offset
    wanted = FetchPartition(partition, -1, start, -1, -1, 1 << 20)
    asked = FetchTopic(topic_id=topic.id, topic="orders", partitions=[wanted])
    request = FetchRequest(isolation_level=int(committed), topics=[asked])
    answer = driver.ask(request, 11, broker=topic.partitions[partition].leader)
    [data] = answer.responses[0].partitions
    assert data.error_code == 0
    batches = [(each, False) for each in data.records]
    if committed:
        batches = list(with_aborted(data.records, data.aborted_transactions))
    return [
        (record.offset, record.value)
        for batch, aborted in batches
        if not aborted and not header_of(batch).attributes & CONTROL
        for record in parsed(batch)
    ]


class LookedInto(Transactions):
    """The same sequences, with a look after each step."""

    @invariant()
    def what_is_told_is_what_is_read(self) -> None:
        if not hasattr(self, "expected"):
            return
        cluster = self.driver.cluster
        for index in PARTITIONS:
            partition = cluster.topics["orders"].partitions[index]
            place = Place(partition, partition.log, transactions.transactional_ids(cluster))
            stored = list(records.read(place, None, 0, control_records=True))
            assert [each.offset for each in stored] == list(range(partition.log.end_offset))
            for level, committed in (("read_uncommitted", False), ("read_committed", True)):
                told = records.read(place, level, 0, control_records=False)  # type: ignore[arg-type]
                assert [(each.offset, each.value) for each in told] == fetched(
                    self.driver, index, committed=committed
                )
            by_state: dict[Any, set[bytes | None]] = {}
            for each in stored:
                if each.control is None:
                    by_state.setdefault((each.transaction, each.transactional_id), set()).add(each.value)
            for producer in self.producers:
                # One that timed out was aborted, of which its producer has not heard.
                undone = [by_state.get((state, producer.name), set()) for state in ("ongoing", "aborted")]
                assert set().union(*undone) >= set(producer.open.get(index, ()))
            done = [values for (state, _), values in by_state.items() if state == "committed"]
            assert set().union(*done) == set(self.expected[index])

    @invariant()
    def ids_are_told_of_as_the_coordinator_describes_them(self) -> None:
        if not hasattr(self, "expected"):
            return
        for name, told in transactions.transactions(self.driver.cluster).items():
            if not self.driver.cluster.brokers[self.driver.coordinator(name)].online:
                continue
            found = self.driver.describe(name)
            assert (told.state, told.producer_id, told.producer_epoch, told.timeout_ms) == (
                found.transaction_state,
                found.producer_id,
                found.producer_epoch,
                found.transaction_timeout_ms,
            )
            assert (told.start_ms is None) == (found.transaction_start_time_ms < 0)
            assert told.partitions == tuple(
                (each.topic, index) for each in found.topics for index in each.partitions
            )


LookedInto.TestCase.settings = settings(max_examples=8, stateful_step_count=20, deadline=None)
test_transactions = LookedInto.TestCase
del Transactions


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 1}, brokers=3) as running:
        yield running


def producer(cluster: MockCluster, transactional_id: str, **config: object) -> Producer:
    made = a_producer(cluster, **{"transactional.id": transactional_id, **config})
    made.init_transactions(60)
    made.begin_transaction()
    return made


def write(by: Producer, *values: str) -> None:
    for value in values:
        by.produce("orders", value, key=value, partition=0, headers=[("h", value.encode()), ("empty", None)])
    assert by.flush(60) == 0


def consumed(cluster: MockCluster, isolation_level: str, count: int) -> list[bytes]:
    consumer = a_consumer(cluster, isolation_level, **{"isolation.level": isolation_level})
    consumer.subscribe(["orders"])
    try:
        return [message.value() or b"" for message in polled(consumer, count)]
    finally:
        consumer.close()


def told(found: list[Record]) -> list[tuple[bytes | None, str | None, str | None]]:
    return [(each.value, each.transaction, each.transactional_id) for each in found]


def test_transactions_of_real_producers(cluster: MockCluster) -> None:
    billing = producer(cluster, "billing")
    shipping = producer(cluster, "shipping", **{"compression.type": "zstd"})
    write(billing, "b1")
    write(shipping, "s1", "s2")
    write(billing, "b2")
    both = [(b"b1", "ongoing", "billing"), (b"s1", "ongoing", "shipping"), (b"s2", "ongoing", "shipping")]
    assert told(cluster.records("orders")) == [*both, (b"b2", "ongoing", "billing")]
    assert cluster.records("orders", isolation_level="read_committed") == []
    billing.commit_transaction(60)
    # What was committed lies behind a transaction that is open.
    assert cluster.records("orders", isolation_level="read_committed") == told_of(cluster, b"b1")
    assert cluster.transaction("shipping").state == "Ongoing"
    assert cluster.transaction("shipping").partitions == (("orders", 0),)
    shipping.abort_transaction(60)
    plain = cluster.produce("orders", "plain")
    assert told(cluster.records("orders")) == [
        (b"b1", "committed", "billing"),
        (b"s1", "aborted", "shipping"),
        (b"s2", "aborted", "shipping"),
        (b"b2", "committed", "billing"),
        (b"plain", None, None),
    ]
    for level, count in (("read_uncommitted", 5), ("read_committed", 3)):
        read = cluster.records("orders", isolation_level=level)  # type: ignore[arg-type]
        assert [each.value for each in read] == consumed(cluster, level, count)
    [committed, aborted] = [each for each in cluster.records("orders", control=True) if each.control]
    assert (committed.control, committed.transactional_id) == ("commit", "billing")
    assert (aborted.control, aborted.transactional_id, aborted.offset) == (
        "abort",
        "shipping",
        plain.offset - 1,
    )
    assert [each.state for each in cluster.transactions().values()] == ["CompleteCommit", "CompleteAbort"]
    first, _, _, last, _ = cluster.records("orders")
    assert (first.sequence, last.sequence, first.producer_id) == (0, 1, last.producer_id)
    assert first.headers == (("h", b"b1"), ("empty", None))
    for broker in (1, 2, 3):
        assert cluster.records("orders", broker=broker, control=True) == cluster.records(
            "orders", control=True
        )


def told_of(cluster: MockCluster, *values: bytes) -> list[Record]:
    return [each for each in cluster.records("orders") if each.value in values]


def test_a_wrong_id_is_answered_with_the_nearest(cluster: MockCluster) -> None:
    with pytest.raises(NotThereError, match="no transactional id 'billing': no producer has one yet"):
        cluster.transaction("billing")
    by = producer(cluster, "billing")
    with pytest.raises(NotThereError, match="no transactional id 'biling': did you mean 'billing'"):
        cluster.transaction("biling")
    by.abort_transaction(60)


def test_a_transaction_is_told_of_while_its_coordinator_is_down() -> None:
    config = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
    with MockCluster(topics={"orders": 1}, config=config) as cluster:
        by = producer(cluster, "billing")
        write(by, "b1")
        before = cluster.transaction("billing")
        assert before.coordinator is not None
        cluster.stop_broker(before.coordinator)
        after = cluster.transaction("billing")
        assert (after.coordinator, after.state, after.producer_id) == (None, "Ongoing", before.producer_id)
        assert told(cluster.records("orders")) == [(b"b1", "ongoing", "billing")]
        cluster.start_broker(before.coordinator)
        assert cluster.transaction("billing") == before
        by.abort_transaction(60)


def test_looking_changes_nothing() -> None:
    driver = TransactionDriver(brokers=3)
    before = {name: set(vars(broker)) for name, broker in driver.cluster.brokers.items()}
    assert transactions.transactions(driver.cluster) == {}
    assert transactions.transactional_ids(driver.cluster) == {}
    assert list(driver.cluster.topics) == ["orders"]
    assert {name: set(vars(broker)) for name, broker in driver.cluster.brokers.items()} == before
