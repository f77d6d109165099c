"""Functions that are called with a client's request: what they see, what they say, and what they do wrong."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import trio

import mockbroker
from mockbroker import ConflictError, FaultError, MockCluster, unchecked
from mockbroker.conformance.client import Client, DisconnectedError
from mockbroker.faults import CallbackError, ClientRequest
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.heartbeat import HeartbeatResponse
from mockbroker.pytest_plugin.clusters import Clusters
from mockbroker.server.running import RunningCluster

from ..driving import wire


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 2}) as cluster:
        let_lead(cluster, 1)
        yield cluster


def let_lead(cluster: RunningCluster, broker: int) -> None:
    with suppress(ConflictError):  # it does
        cluster.move_leader("orders", 0, to=broker)


def address(cluster: RunningCluster, broker: int = 1) -> tuple[str, int]:
    host, _, port = cluster.bootstrap_servers.split(",")[broker - 1].rpartition(":")
    return host, int(port)


@contextmanager
def client(cluster: RunningCluster, client_id: str | None = "test", broker: int = 1) -> Iterator[Client]:
    with Client(*address(cluster, broker), client_id) as found:
        yield found


def produce(asked: Client, acks: int = 1) -> str:
    """The error of partition orders-0; what is sent has no answer with acks=0."""
    data = {"index": 0, "records": wire.batch([b"x"])}
    fields = {"acks": acks, "timeout": 1000, "topic_data": [{"name": "orders", "partition_data": [data]}]}
    pending = asked.send("produce", 7, fields)
    if acks == 0:
        return "NONE"
    [topic] = asked.receive(pending)["responses"]
    [partition] = topic["partition_responses"]
    return str(partition["error_code"])


def heartbeat(asked: Client) -> str:
    fields = {"group_id": "billing", "generation_id": 1, "member_id": "m"}
    return str(asked.call("heartbeat", 1, fields)["error_code"])


def end(cluster: RunningCluster) -> int:
    """The log end offset of orders-0."""
    return cluster.replicas("orders", 0)[0].log_end_offset


# -- what it sees


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
    fetch = {
        "replica_id": -1,
        "max_wait": 60_000,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "topics": [
            {
                "topic": "orders",
                "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}],
            }
        ],
    }
    came = cluster.on("Fetch", lambda _: None)
    called = cluster.on("Fetch", lambda request: request.error("OFFSET_OUT_OF_RANGE"), when="after")
    with client(cluster) as waiting, client(cluster) as other:
        pending = waiting.send("fetch", 4, fetch)
        came.wait()
        assert produce(other) == "NONE"
        [topic] = waiting.receive(pending)["responses"]
    assert topic["partitions"][0]["error_code"] == "OFFSET_OUT_OF_RANGE"
    assert called.hits == 1


# -- what it says


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


# -- how often, and which


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
    cluster.on("Heartbeat", nonsense)
    cluster.on("Heartbeat", nonsense, optional=True)
    with client(cluster) as asked:
        produce(asked)
    assert clusters.stop() == []
    [problem] = clusters.problems(over=True)
    assert "'call nonsense before api=Heartbeat' never fired: no Heartbeat came; the clients sent" in problem


# -- what it does to the cluster


def test_it_may_call_the_cluster() -> None:
    threads = set()

    def act(request: ClientRequest) -> None:
        threads.add(threading.current_thread().name)
        before = cluster.clock.now_ms
        cluster.clock.advance("1h")
        assert cluster.clock.now_ms >= before + 3_600_000
        assert cluster.trace.events("request")
        cluster.faults.add("error", api="Metadata", error="UNKNOWN_TOPIC_OR_PARTITION", times=1)
        cluster.policies.set("undefined-epoch", "log-end-offset")
        cluster.move_leader("orders", 0, to=2)
        cluster.stop_broker(3)
        cluster.create_topic("billed", partitions=1)
        cluster.produce("billed", "bill 1", acks=1)
        called.remove()
        request.error("NOT_LEADER_OR_FOLLOWER")

    with MockCluster(topics={"orders": 1}, trace=True) as cluster:
        let_lead(cluster, 1)
        called = cluster.on("Produce", act)
        with client(cluster) as asked, client(cluster, broker=3) as other:
            assert heartbeat(other)
            assert produce(asked) == "NOT_LEADER_OR_FOLLOWER"
            with pytest.raises(DisconnectedError):
                other.read_frame()
            assert [each["node_id"] for each in asked.call("metadata", 1)["brokers"]] == [1, 2]
            assert produce(asked) == "NOT_LEADER_OR_FOLLOWER"
        assert called.hits == 1
        assert [record.value for record in cluster.records("billed")] == [b"bill 1"]
    assert threads == {"mockbroker"}


def test_it_may_call_the_cluster_of_serve() -> None:
    async def main() -> None:
        async with mockbroker.serve(topics={"orders": 1}) as cluster:
            let_lead(cluster, 1)
            called = cluster.on("Produce", lambda _: cluster.stop_broker(3))
            with client(cluster) as asked, client(cluster, broker=3) as other:
                await trio.to_thread.run_sync(heartbeat, other)
                assert await trio.to_thread.run_sync(produce, asked) == "NONE"
                with pytest.raises(DisconnectedError):
                    await trio.to_thread.run_sync(other.read_frame)
            assert called.hits == 1

    trio.run(main)


def test_what_would_wait_for_the_cluster_itself_is_refused(cluster: MockCluster) -> None:
    refused: list[Exception] = []

    def wait(_: object) -> None:
        for each in (called.wait, lambda: cluster.trace.wait("answer"), cluster.stop):
            with pytest.raises(mockbroker.BlockingCallError, match="own thread") as raised:
                each()
            refused.append(raised.value)

    called = cluster.on("Heartbeat", wait)
    with client(cluster) as asked:
        heartbeat(asked)
    assert len(refused) == 3


# -- what it does wrong


def nonsense(_: ClientRequest) -> None:
    raise ArithmeticError("on purpose")


def fails_the_test(_: ClientRequest) -> None:
    pytest.fail("on purpose")


@pytest.mark.parametrize("function", [nonsense, fails_the_test])
@pytest.mark.parametrize(("when", "written"), [("before", 0), ("after", 1)])
def test_what_it_raises_is_the_tests(
    cluster: MockCluster, function: Callable[..., None], when: Any, written: int
) -> None:
    called = cluster.on("Produce", function, when=when, times=1)
    with client(cluster) as asked, client(cluster) as other:
        assert produce(asked) == "UNKNOWN_SERVER_ERROR"
        assert produce(other) == produce(asked) == "NONE"
    assert (called.hits, end(cluster)) == (1, written + 2)
    with pytest.raises(
        CallbackError, match=rf"{function.__name__} .*test_callbacks\.py:\d+.*on purpose"
    ) as raised:
        cluster.stop()
    assert str(raised.value.__cause__) == "on purpose"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("function", [nonsense, lambda request: request.error("NOT_LEADER_OR_FOLLOWER")])
def test_a_client_that_waits_for_no_answer_gets_none(
    cluster: MockCluster, when: Any, function: Callable[..., None]
) -> None:
    """Kafka closes the connection at an error of a Produce with acks=0 (KafkaApis.handleProduceRequest)."""
    cluster.on("Produce", function, when=when)
    with client(cluster) as asked:
        produce(asked, acks=0)
        with pytest.raises(DisconnectedError):
            asked.read_frame()
    [failure] = cluster.failures
    assert isinstance(failure, CallbackError)
    cluster.failures.clear()


def test_an_error_in_place_of_an_answer_that_nobody_waits_for(cluster: MockCluster) -> None:
    cluster.faults.add("error", api="Produce", error="NOT_LEADER_OR_FOLLOWER")
    with client(cluster) as asked:
        produce(asked, acks=0)
        with pytest.raises(DisconnectedError):
            asked.read_frame()
    assert end(cluster) == 0


def say_two(request: ClientRequest) -> None:
    request.error("NOT_COORDINATOR")
    request.disconnect()


def keep(request: ClientRequest) -> None:
    if kept:
        kept.pop().drop()
    else:
        kept.append(request)


kept: list[ClientRequest] = []
WRONG: dict[str, tuple[Callable[[ClientRequest], object], str]] = {
    "an error that there is not": (
        lambda it: it.error(unchecked("NOT_CORDINATOR")),
        "did you mean 'NOT_COORDINATOR'",
    ),
    "a level that there is not": (lambda it: it.error("NOT_COORDINATOR", "topic"), "not at 'topic'"),
    "two things": (say_two, "disconnect after error: only one of them can be"),
    "by what it returns": (lambda _: "disconnect", r"returned 'disconnect': .* request\.disconnect\(\)"),
    "another API's answer": (lambda it: it.respond({}), "answered with a HeartbeatResponse, not with {}"),
    "a field that there is not": (lambda it: it.respond(eror_code=1), "did you mean 'error_code'"),
    "what can't be written": (
        lambda it: it.respond(HeartbeatResponse(error_code=1 << 40)),
        "error",
    ),
    "a delay that can't be": (lambda it: it.delay(-1), "give a number of milliseconds"),
}


@pytest.mark.parametrize(("function", "told"), WRONG.values(), ids=WRONG)
def test_what_it_may_not_say(cluster: MockCluster, function: Any, told: str) -> None:
    cluster.on("Heartbeat", function)
    with client(cluster) as asked:
        assert heartbeat(asked) == "UNKNOWN_SERVER_ERROR"
    with pytest.raises(CallbackError, match=told):
        cluster.stop()


def test_it_says_nothing_once_it_has_returned(cluster: MockCluster) -> None:
    kept.clear()
    cluster.on("Heartbeat", keep)
    with client(cluster) as asked:
        assert heartbeat(asked) != "UNKNOWN_SERVER_ERROR"
        assert heartbeat(asked) == "UNKNOWN_SERVER_ERROR"
    with pytest.raises(
        CallbackError, match="has returned, and <Heartbeat v1 of 'test' at broker 1> has gone on"
    ):
        cluster.stop()


async def awaits(_: ClientRequest) -> None: ...


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"function": awaits}, "awaits is asynchronous"),
        ({"function": lambda: None}, "can't be called with the request alone"),
        ({"function": "disconnect"}, "is no function"),
        ({"api": "Prodcue"}, "did you mean 'Produce'"),
        ({"when": "instead"}, "'instead' the work can't be"),
        ({"broker": 9}, "no broker 9"),
        ({"times": 0}, "from 1 on"),
    ],
)
def test_what_can_not_be_asked_for(cluster: MockCluster, given: dict[str, Any], told: str) -> None:
    with pytest.raises(FaultError, match=told):
        cluster.on(**{"api": "Produce", "function": print, **given})
    assert cluster.run_with_faults(lambda faults: faults.added) == []
