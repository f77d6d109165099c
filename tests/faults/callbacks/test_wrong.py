"""What a function that is called with a client's request does wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from mockbroker import FaultError, MockCluster, unchecked
from mockbroker.faults import CallbackError, ClientRequest
from mockbroker.protocol.messages.heartbeat import HeartbeatResponse
from mockbroker.rig.client import DisconnectedError

from .asking import client, end, heartbeat, produce


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
        CallbackError, match=rf"{function.__name__} .*test_wrong\.py:\d+.*on purpose"
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
    "two things": (say_two, "disconnect after error: a function may call only one of them"),
    "by what it returns": (lambda _: "disconnect", r"returned 'disconnect': .* request\.disconnect\(\)"),
    "another API's answer": (lambda it: it.respond({}), "answered with a HeartbeatResponse, not with {}"),
    "a field that there is not": (lambda it: it.respond(eror_code=1), "did you mean 'error_code'"),
    "what can't be written": (lambda it: it.respond(HeartbeatResponse(error_code=1 << 40)), "error"),
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
        CallbackError,
        match="<Heartbeat v1 of 'test' at broker 1> can't be changed any more: the function has returned",
    ):
        cluster.stop()


async def awaits(_: ClientRequest) -> None: ...


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"function": awaits}, "awaits is asynchronous"),
        ({"function": lambda: None}, "can't be called with only the request"),
        ({"function": "disconnect"}, "is not a function"),
        ({"api": "Prodcue"}, "did you mean 'Produce'"),
        ({"when": "instead"}, "can't happen 'instead' the work"),
        ({"broker": 9}, "no broker 9"),
        ({"times": 0}, "1 or more"),
    ],
)
def test_what_can_not_be_asked_for(cluster: MockCluster, given: dict[str, Any], told: str) -> None:
    with pytest.raises(FaultError, match=told):
        cluster.on(**{"api": "Produce", "function": print, **given})
    assert cluster.run_with_faults(lambda faults: faults.added) == []
