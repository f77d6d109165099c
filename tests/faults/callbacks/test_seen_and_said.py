"""Functions that are called with a client's request: what they see, what they say, and how often."""

from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.faults import ClientRequest
from mockbroker.protocol.errors import ErrorCode
from mockbroker.pytest_plugin.clusters import Clusters
from mockbroker.rig.client import DisconnectedError

from .asking import client, end, heartbeat, produce


@pytest.mark.parametrize("client_id", [None, "", "ünïcode 'x'"])
def test_it_sees_who_asks_what(cluster: MockCluster, client_id: str | None) -> None:
    seen: list[ClientRequest] = []
    call = cluster.on("Produce", seen.append, topic="orders")
    with client(cluster, client_id) as asked:
        assert produce(asked) == "NONE"
        host, port = asked._connected().getsockname()
        assert produce(asked) == "NONE"
    first, _ = seen
    assert (first.api, first.version, first.client_id, first.broker) == ("Produce", 7, client_id, 1)
    assert first.connection == f"{host}:{port}"
    assert (set(first.topics), set(first.partitions)) == ({"orders"}, {("orders", 0)})
    assert (first.groups, first.transactional_ids) == (frozenset(), frozenset())
    assert (first.request.acks, first.response) == (1, None)
    assert (call.hits, end(cluster)) == (2, 2)


def test_after_the_work_it_sees_the_answer_and_may_change_it(cluster: MockCluster) -> None:
    def lie(request: ClientRequest) -> None:
        for topic in request.response.topics:
            for partition in topic.partitions:
                partition.isr_nodes.clear()
                partition.leader_id = 3

    with client(cluster) as asked:
        truth = asked.call("metadata", 1, {"topics": [{"name": "orders"}]})
        with cluster.on("Metadata", lie, when="after", times=1):
            lies = asked.call("metadata", 1, {"topics": [{"name": "orders"}]})
        again = asked.call("metadata", 1, {"topics": [{"name": "orders"}]})
    assert again["topics"] == truth["topics"]
    partitions = lies["topics"][0]["partitions"]
    assert [(each["isr_nodes"], each["leader_id"]) for each in partitions] == [([], 3)] * 2


def test_it_is_called_for_what_waits_too_once_that_has_its_answer(cluster: MockCluster) -> None:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    fetch: dict[str, Any] = {"replica_id": -1, "max_wait": 60_000, "min_bytes": 1, "max_bytes": 1 << 20}
    fetch |= {"topics": [{"topic": "orders", "partitions": [partition]}]}
    came = cluster.on("Fetch", lambda _: None)
    called = cluster.on("Fetch", lambda request: request.error("OFFSET_OUT_OF_RANGE"), when="after")
    with client(cluster) as waiting, client(cluster) as other:
        pending = waiting.send("fetch", 4, fetch)
        came.wait()
        assert produce(other) == "NONE"
        [topic] = waiting.receive(pending)["responses"]
    assert topic["partitions"][0]["error_code"] == "OFFSET_OUT_OF_RANGE"
    assert called.hits == 1


@pytest.mark.parametrize(("when", "written"), [("before", 0), ("after", 1)])
def test_it_disconnects(cluster: MockCluster, when: Any, written: int) -> None:
    cluster.on("Produce", lambda request: request.disconnect(), when=when)
    with client(cluster) as asked, pytest.raises(DisconnectedError):
        produce(asked)
    assert end(cluster) == written


@pytest.mark.parametrize(("when", "written"), [("before", 0), ("after", 1)])
def test_it_drops_a_request(cluster: MockCluster, when: Any, written: int) -> None:
    dropped = cluster.on("Produce", lambda request: request.drop(), when=when, times=1)
    with client(cluster) as asked, client(cluster) as other:
        asked.set_timeout(0.01)
        with pytest.raises(TimeoutError):
            produce(asked)
        dropped.wait()
        assert end(cluster) == written
        assert produce(other) == "NONE"


@pytest.mark.parametrize("when", ["before", "after"])
def test_it_delays_a_request_and_says_what_happens_then(when: Any) -> None:
    def late(request: ClientRequest) -> None:
        request.delay(3_600_000)
        request.error("NOT_COORDINATOR")

    with MockCluster(brokers=1) as cluster:
        called = cluster.on("Heartbeat", late, when=when)
        with client(cluster) as asked:
            fields = {"group_id": "billing", "generation_id": 1, "member_id": "m"}
            pending = asked.send("heartbeat", 1, fields)
            called.wait()
            cluster.clock.advance("59m")
            asked.set_timeout(0.01)
            with pytest.raises(TimeoutError):
                asked.read_frame()
            asked.set_timeout(20)
            cluster.clock.advance("1m")
            assert asked.receive(pending)["error_code"] == "NOT_COORDINATOR"


@pytest.mark.parametrize(("when", "written"), [("before", 0), ("after", 1)])
def test_it_says_an_error(cluster: MockCluster, when: Any, written: int) -> None:
    cluster.on("Produce", lambda request: request.error("NOT_LEADER_OR_FOLLOWER"), when=when)
    with client(cluster) as asked:
        assert produce(asked) == "NOT_LEADER_OR_FOLLOWER"
    assert end(cluster) == written


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_error_of_what_only_reads_stands_in_its_answer(cluster: MockCluster, when: Any) -> None:
    cluster.on("Metadata", lambda request: request.error("LEADER_NOT_AVAILABLE"), topic="orders", when=when)
    with client(cluster) as asked:
        answer = asked.call("metadata", 1, {"topics": [{"name": "orders"}]})
    assert [each["error_code"] for each in answer["topics"]] == ["LEADER_NOT_AVAILABLE"]
    assert len(answer["brokers"]) == 3


@pytest.mark.parametrize("when", ["before", "after"])
def test_it_answers(cluster: MockCluster, when: Any) -> None:
    def by_fields(request: ClientRequest) -> None:
        request.respond(error_code=27, throttle_time_ms=5)

    def by_response(request: ClientRequest) -> None:
        answer = request.response if request.response is not None else request.new_response()
        answer.error_code = 22
        request.respond(answer)

    with client(cluster) as asked:
        with cluster.on("Heartbeat", by_fields, when=when):
            assert heartbeat(asked) == "REBALANCE_IN_PROGRESS"
        with cluster.on("Heartbeat", by_response, when=when):
            assert heartbeat(asked) == "ILLEGAL_GENERATION"


def test_several_say_something_about_one_request(cluster: MockCluster) -> None:
    cluster.on("Heartbeat", lambda request: request.error("NOT_COORDINATOR"))
    seen: list[ErrorCode] = []
    cluster.on("Heartbeat", lambda request: seen.append(ErrorCode(request.response.error_code)), when="after")
    with client(cluster) as asked:
        assert heartbeat(asked) == "NOT_COORDINATOR"
    assert seen == [ErrorCode.NOT_COORDINATOR]


def test_it_is_counted_as_a_fault_is(cluster: MockCluster) -> None:
    seen: list[str | None] = []
    second = cluster.on(
        ["Heartbeat", "Metadata"], lambda request: seen.append(request.client_id), nth=2, client_id="a*"
    )
    held = cluster.on(None, lambda request: request.error("NOT_COORDINATOR"), client_id="held", optional=True)
    held.pause()
    with client(cluster, "b") as other, client(cluster, "ab") as asked, client(cluster, "held") as third:
        for each in (other, asked, other, asked, asked):
            heartbeat(each)
        fields = {"group_id": "billing", "generation_id": 1, "member_id": "m"}
        pending = third.send("heartbeat", 1, fields)
        held.wait_held()
        held.release()
        assert third.receive(pending)["error_code"] == "NOT_COORDINATOR"
        held.remove()
        assert heartbeat(third) != "NOT_COORDINATOR"
    assert (second.hits, seen) == (1, ["ab"])
    assert "call" in repr(second)


def test_one_that_is_never_called_fails_a_test_of_pytest_unless_it_is_optional() -> None:
    clusters = Clusters({"topics": {"orders": 1}}, "a test")
    cluster = clusters.make(brokers=1)
    cluster.on("Heartbeat", print)
    cluster.on("Heartbeat", print, optional=True)
    with client(cluster) as asked:
        produce(asked)
    assert clusters.stop() == []
    [problem] = clusters.problems(over=True)
    assert "'call print before api=Heartbeat' never fired: no Heartbeat came; the clients sent" in problem
