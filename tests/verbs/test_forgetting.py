"""Once a broker forgot a member, a producer, a transactional id or a session it answers as Kafka does."""

from __future__ import annotations

import pytest

from mockbroker.errors import ConflictError, NotThereError, OptionError
from mockbroker.faults import Faults
from mockbroker.protocol.errors import ErrorCode, error_name
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.verbs.forgetting import (
    drop_fetch_sessions,
    evict_member,
    expire_producer,
    expire_transactional_id,
)
from mockbroker.verbs.subjects import BROKER, MEMBER, PARTITION, TRANSACTION

from ..driving.groups import GroupDriver
from ..driving.in_memory import InMemoryClient
from ..driving.transactions import TransactionDriver


def test_the_group_of_an_evicted_member_rebalances_without_it() -> None:
    bench = GroupDriver()
    first, second = bench.stable(None, None)
    evict_member(bench.cluster, MEMBER.find(bench.cluster, "g", first.member_id))
    assert error_name(bench.heartbeat(first)) == "UNKNOWN_MEMBER_ID"
    assert error_name(bench.heartbeat(second)) == "REBALANCE_IN_PROGRESS"
    again = bench.join(second.member_id)
    assert (again.error_code, [each.member_id for each in again.members]) == (0, [second.member_id])


def test_a_member_has_three_names() -> None:
    bench = GroupDriver()
    (static,) = bench.stable("s")
    for name in (static.member_id, "s", "c"):
        assert MEMBER.find(bench.cluster, "g", name).found.id == static.member_id
    bench.enter(client_id="c")
    with pytest.raises(NotThereError, match="2 members of 'g' have the client id 'c': give a member id"):
        MEMBER.find(bench.cluster, "g", "c")
    with pytest.raises(NotThereError, match="has no member 'x'"):
        MEMBER.find(bench.cluster, "g", "x")
    with pytest.raises(NotThereError, match="no group 'h'"):
        MEMBER.find(bench.cluster, "h", "c")


def test_a_member_that_waits_for_its_coordinator_is_not_evicted() -> None:
    bench = GroupDriver()
    first, _ = bench.stable(None, None)
    assert bench.join(first.member_id, protocols={"range": b"other"}).parked
    with pytest.raises(ConflictError, match="waits for its coordinator"):
        evict_member(bench.cluster, MEMBER.find(bench.cluster, "g", first.member_id))


@pytest.mark.parametrize(("kafka", "answered"), [("2.3", "UNKNOWN_PRODUCER_ID"), ("4.4", "NONE")])
def test_an_expired_producer_is_not_known_any_more(kafka: str, answered: str) -> None:
    bench = TransactionDriver(kafka, brokers=3)
    producer = bench.init(transactional_id=None)
    assert bench.write(producer, 0, transactional=False)[0] == "NONE"
    orders = PARTITION.find(bench.cluster, "orders", 0)
    expire_producer(bench.cluster, orders, producer.producer_id)
    assert all(not log.producers.entries for log in orders.logs.values())
    assert bench.write(producer, 1, transactional=False)[0] == answered
    with pytest.raises(ConflictError, match="orders-0 does not know producer 77"):
        expire_producer(bench.cluster, orders, 77)
    with pytest.raises(OptionError, match="give a producer id"):
        expire_producer(bench.cluster, orders, -1)


def test_a_producer_with_an_open_transaction_does_not_expire() -> None:
    bench = TransactionDriver()
    orders = PARTITION.find(bench.cluster, "orders", 0)
    with pytest.raises(ConflictError, match="orders-0 knows no producer"):
        expire_producer(bench.cluster, orders)
    producer = bench.init()
    bench.add(producer, 0)
    assert bench.write(producer)[0] == "NONE"
    with pytest.raises(ConflictError, match="all producers of orders-0 have a transaction open"):
        expire_producer(bench.cluster, orders)
    with pytest.raises(ConflictError, match=f"producer {producer.producer_id} has a transaction open"):
        expire_producer(bench.cluster, orders, producer.producer_id)


def test_an_expired_transactional_id_begins_with_another_producer() -> None:
    bench = TransactionDriver()
    with pytest.raises(NotThereError, match="no broker that runs coordinates a transactional id 'tx'"):
        TRANSACTION.find(bench.cluster, "tx")
    producer = bench.init()
    bench.add(producer, 0)
    with pytest.raises(ConflictError, match="a transaction of 'tx' is open or being ended"):
        expire_transactional_id(bench.cluster, TRANSACTION.find(bench.cluster, "tx"))
    assert bench.end(producer, commit=False).error == "NONE"
    expire_transactional_id(bench.cluster, TRANSACTION.find(bench.cluster, "tx"))
    assert bench.add(producer, 0) == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert bench.init().producer_id != producer.producer_id


def test_a_dropped_fetch_session_is_not_found() -> None:
    bench = TransactionDriver()
    broker = BROKER.find(bench.cluster, 1)
    with pytest.raises(ConflictError, match="broker 1 has no fetch sessions"):
        drop_fetch_sessions(bench.cluster, broker)

    def fetch(session: int, epoch: int) -> FetchRequest:
        topics = [FetchTopic(topic="orders", partitions=[FetchPartition(0)])] if not session else []
        return FetchRequest(max_wait_ms=0, topics=topics, session_id=session, session_epoch=epoch)

    begun = bench.ask(fetch(0, 0), 12)
    drop_fetch_sessions(bench.cluster, broker)
    assert bench.ask(fetch(begun.session_id, 1), 12).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_fault_evicts_the_member_that_asks() -> None:
    bench = GroupDriver()
    first, second = bench.stable(None, None)
    faults = Faults(bench.cluster)
    evicted = faults.add("evict-member", api="Heartbeat", times=1)
    client = InMemoryClient(bench.cluster, 1, faults)
    asked = {"group_id": "g", "generation_id": second.generation_id}
    assert client.call("heartbeat", 4, {**asked, "member_id": "nobody"})["error_code"] == "UNKNOWN_MEMBER_ID"
    assert evicted.why == "the request names no member of a group"
    answer = client.call("heartbeat", 4, {**asked, "member_id": second.member_id})
    assert (evicted.hits, answer["error_code"]) == (1, "UNKNOWN_MEMBER_ID")
    assert list(bench.group.members) == [first.member_id]


def test_a_fault_expires_the_transactional_id_that_a_request_names() -> None:
    bench = TransactionDriver()
    faults = Faults(bench.cluster)
    expired = faults.add("expire-transactional-id", api="EndTxn")
    client = InMemoryClient(bench.cluster, 1, faults)
    producer = bench.init()
    asked = {"transactional_id": "tx", "producer_id": producer.producer_id, "producer_epoch": producer.epoch}
    assert (
        client.call("end_txn", 4, {**asked, "committed": True})["error_code"] == "INVALID_PRODUCER_ID_MAPPING"
    )
    assert expired.hits == 1
