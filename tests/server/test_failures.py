"""A bug met by one request ends its connection, is told, and hurts nobody else."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
import trio

from mockbroker import MockCluster, serve
from mockbroker.apis.registry import HANDLERS
from mockbroker.cluster.call import Call
from mockbroker.policies import OwnPolicyError
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig import batches
from mockbroker.rig.client import Client, DisconnectedError, Pending
from mockbroker.server.failures import ClusterError, RequestFailedError
from mockbroker.server.observer import ClientConnection, SilentObserver

from ..driving.clients import raw_client

CONFIG = {
    "default.replication.factor": "2",
    "transaction.state.log.replication.factor": "2",
    "group.initial.rebalance.delay.ms": "60000",
}


class Parked(NamedTuple):
    """A request that waits, and what ends its waiting: another client's request, or time."""

    api: str
    park: Callable[[MockCluster, Client], Pending]
    wake: Callable[[MockCluster, Client], None]


def produce(client: Client, acks: int, timeout_ms: int = 30_000) -> Pending:
    data = {"index": 0, "records": batches.batch(1)}
    topics = [{"name": "t", "partition_data": [data]}]
    return client.send("produce", 8, {"acks": acks, "timeout": timeout_ms, "topic_data": topics})


def written(client: Client) -> None:
    answer = client.receive(produce(client, acks=1))
    assert answer["responses"][0]["partition_responses"][0]["error_code"] == "NONE"


def fetch(client: Client, max_wait_ms: int) -> Pending:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    topics = [{"topic": "t", "partitions": [partition]}]
    asked = {"replica_id": -1, "max_wait": max_wait_ms, "min_bytes": 1, "max_bytes": 1 << 20}
    return client.send("fetch", 4, {**asked, "topics": topics})


def unreplicated(cluster: MockCluster, client: Client) -> Pending:
    cluster.pause_follower("t", 0, broker=2)
    return produce(client, acks=-1, timeout_ms=60_000)


def deleted(cluster: MockCluster, client: Client) -> Pending:
    with connect(cluster) as other:
        written(other)
    cluster.pause_follower("t", 0, broker=2)
    topics = [{"name": "t", "partitions": [{"partition_index": 0, "offset": -1}]}]
    return client.send("delete_records", 1, {"timeout": 60_000, "topics": topics})


def joined(cluster: MockCluster, client: Client) -> Pending:
    if cluster.run(lambda core: core.offsets_partition("g").leader) != 1:
        cluster.move_coordinator(group="g", to=1)
    asked = {"group_id": "g", "session_timeout": 10_000, "rebalance_timeout": 60_000, "member_id": ""}
    protocols = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}]}
    return client.send("join_group", 3, {**asked, **protocols})


def initialized(cluster: MockCluster, client: Client) -> Pending:
    index, leader = cluster.run(
        lambda core: (core.transaction_partition("id").index, core.transaction_partition("id").leader)
    )
    if leader != 1:
        cluster.move_coordinator(transactional_id="id", to=1)
    cluster.pause_follower("__transaction_state", index, broker=2)
    return client.send("init_producer_id", 1, {"transactional_id": "id", "transaction_timeout": 60_000})


def other_writes(_: MockCluster, client: Client) -> None:
    written(client)


def time_passes(cluster: MockCluster, _: Client) -> None:
    cluster.clock.advance("2m")


def until_it_waits(cluster: MockCluster) -> None:
    while cluster.run(lambda core: core.environment.timers.next_wait() is None):
        pass


PARKED = [
    Parked("Fetch", lambda _, client: fetch(client, 60_000), other_writes),
    Parked("Fetch", lambda _, client: fetch(client, 60_000), time_passes),
    Parked("Produce", unreplicated, time_passes),
    Parked("DeleteRecords", deleted, time_passes),
    Parked("JoinGroup", joined, time_passes),
    Parked("InitProducerId", initialized, time_passes),
]


CLIENT_IDS = [None, "", "odd \x1b[31m"]


@pytest.fixture(params=[False, True], ids=["plain", "traced"])
def cluster(request: pytest.FixtureRequest) -> Iterator[MockCluster]:
    with MockCluster(brokers=2, topics={"t": 1}, config=CONFIG, trace=request.param) as started:
        yield started
        started.failures.clear()


def connect(cluster: MockCluster, client_id: str | None = "good") -> Client:
    return raw_client(cluster, client_id)


def raises(*_: object) -> None:
    raise ZeroDivisionError("a bug")


def unencodable(call: Call, _: object) -> None:
    call.sink(call, object())


@pytest.mark.parametrize("answer", [raises, unencodable])
@pytest.mark.parametrize(
    ("parked", "client_id"),
    list(zip(PARKED, CLIENT_IDS * 2, strict=True)),
    ids=[f"{each.api}-{each.wake.__name__}" for each in PARKED],
)
def test_a_parked_request_that_fails(
    cluster: MockCluster,
    parked: Parked,
    answer: Callable[..., None],
    client_id: str | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with connect(cluster, client_id) as bad, connect(cluster) as good:
        pending = parked.park(cluster, bad)
        until_it_waits(cluster)
        with monkeypatch.context() as patch:
            patch.setattr(Call, "answer", answer)
            parked.wake(cluster, good)
            with pytest.raises(DisconnectedError):
                bad.receive(pending)
        assert good.call("metadata", 1)["brokers"]
        assert bad.call("metadata", 1)["brokers"]
    [failure] = cluster.failures
    assert isinstance(failure, RequestFailedError)
    assert (failure.api, failure.client_id) == (parked.api, client_id)
    assert f"{parked.api} v{pending.version} of " in str(failure)
    assert str(failure).isprintable()
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert record.name.startswith("mockbroker.")
    assert record.getMessage() == str(failure)
    assert record.exc_info is not None


def test_a_transactional_produce_without_acks_that_waited_for_its_verification(cluster: MockCluster) -> None:
    """It has no answer, and the next request has."""
    with connect(cluster) as client:
        partition = cluster.run(lambda core: core.transaction_partition("id").index)
        if cluster.run(lambda core: core.transaction_partition("id").leader) != 1:
            cluster.move_coordinator(transactional_id="id", to=1)
        asked = {"transactional_id": "id", "transaction_timeout": 60_000, "producer_id": -1}
        producer = client.call("init_producer_id", 5, asked)
        cluster.pause_follower("__transaction_state", partition, broker=2)
        ids = {"producer_id": producer["producer_id"], "producer_epoch": producer["producer_epoch"]}
        records = batches.batch(1, **ids, sequence=0, attributes=batches.TRANSACTIONAL)
        data = {"name": "t", "partition_data": [{"index": 0, "records": records}]}
        fields = {"transactional_id": "id", "acks": 0, "timeout": 30_000, "topic_data": [data]}
        client.send("produce", 12, fields)
        until_it_waits(cluster)
        behind = client.send("metadata", 1, {})
        cluster.resume_follower("__transaction_state", partition, broker=2)
        assert client.receive(behind)["brokers"]
    assert cluster.replicas("t", 0)[0].log_end_offset == 1
    assert cluster.failures == []


# -- what becomes of a failure


@pytest.fixture
def broken_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    HANDLERS[ApiKey.METADATA]  # imports it
    monkeypatch.setitem(HANDLERS, ApiKey.METADATA, raises)


def fail_once(cluster: MockCluster) -> None:
    with connect(cluster) as client, pytest.raises(DisconnectedError):
        client.call("metadata", 1)


@pytest.mark.usefixtures("broken_metadata")
@pytest.mark.parametrize("brokers", [1, 3])
def test_a_failure_is_raised_when_the_cluster_stops_and_only_then(brokers: int) -> None:
    cluster = MockCluster(brokers=brokers).start()
    fail_once(cluster)
    with pytest.raises(RequestFailedError, match="failed at Metadata v1 of client 'good'") as raised:
        cluster.stop()
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    cluster.stop()


@pytest.mark.usefixtures("broken_metadata")
def test_several_failures_are_a_group() -> None:
    cluster = MockCluster().start()
    fail_once(cluster)
    fail_once(cluster)
    with pytest.raises(ExceptionGroup, match="the cluster failed 2 times") as raised:
        cluster.stop()
    assert [type(each) for each in raised.value.exceptions] == [RequestFailedError] * 2


def fail_in_a_block() -> None:
    with MockCluster() as cluster:
        fail_once(cluster)
        raise KeyError("mine")


@pytest.mark.usefixtures("broken_metadata")
def test_what_the_block_raised_comes_first() -> None:
    with pytest.raises(KeyError) as raised:
        fail_in_a_block()
    [note] = raised.value.__notes__
    assert note.startswith("In the mock cluster: broker 1 failed at Metadata v1")


@pytest.mark.usefixtures("broken_metadata")
def test_in_trio_a_cluster_goes_on_and_its_failures_are_raised_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def ask(bootstrap_servers: str) -> None:
        host, port = bootstrap_servers.split(",")[0].split(":")
        with Client(host, int(port)) as client, pytest.raises(DisconnectedError):
            client.call("metadata", 1)
        with Client(host, int(port)) as client:
            assert client.call("api_versions", 0)

    async def main() -> None:
        async with serve() as served:
            await trio.to_thread.run_sync(ask, served.bootstrap_servers)

    with pytest.raises(RequestFailedError, match="broker 1 failed at Metadata v1"):
        trio.run(main)
    [record] = [each for each in caplog.records if each.name == "mockbroker.server.reporting"]
    assert record.levelname == "ERROR"


def test_a_malformed_request_is_logged_and_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    with MockCluster() as cluster, connect(cluster) as client:
        client.send_frame(b"abc")
        with pytest.raises(DisconnectedError):
            client.read_frame()
        assert cluster.failures == []
    [record] = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert (record.name, record.levelname) == ("mockbroker.server.reporting", "WARNING")
    assert record.getMessage().endswith("closed, 3 bytes are shorter than a request header")


# -- what users gave


class Broken(SilentObserver):
    def identified(self, connection: ClientConnection) -> None:
        raise ZeroDivisionError("mine")

    def disconnected(self, connection: ClientConnection) -> None:
        raise ZeroDivisionError("mine")


def test_an_observer_that_raises() -> None:
    cluster = MockCluster(observer=Broken()).start()
    with connect(cluster) as client:
        assert client.call("metadata", 1)["brokers"]
        assert [type(each) for each in cluster.failures] == [ZeroDivisionError]
    with pytest.raises((ZeroDivisionError, ExceptionGroup)):
        cluster.stop()


def test_a_listener_that_raises_is_told_no_more(cluster: MockCluster) -> None:
    end = cluster.trace.listen(raises)
    with connect(cluster) as client:
        assert client.call("metadata", 1)["brokers"]
        assert client.call("metadata", 1)["brokers"]
    [failure] = cluster.failures
    assert isinstance(failure, ClusterError)
    end()


def test_a_policy_that_raises_while_a_request_waits(
    cluster: MockCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request is answered as it would have been at once."""

    def asks(*_: object) -> None:
        raise OwnPolicyError("mine")

    with connect(cluster) as client:
        pending = fetch(client, 60_000)
        until_it_waits(cluster)
        monkeypatch.setattr(Call, "answer", asks)
        cluster.clock.advance("2m")
        partition = client.receive(pending)["responses"][0]["partitions"][0]
        assert partition["error_code"] == "UNKNOWN_SERVER_ERROR"
    assert [type(each) for each in cluster.failures] == [OwnPolicyError]
