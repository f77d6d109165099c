"""Plain, faulty and traced requests take one path: what nobody asks for costs nothing, and all is told."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from mockbroker.apis.registry import HANDLERS
from mockbroker.cluster.call import Call
from mockbroker.faults import Faults
from mockbroker.outcome import PARKED
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.trace import Answer, Malformed, Request
from tests.driving.faulty import TracedDriver


def told(driver: TracedDriver) -> list[tuple[str, int, str]]:
    """Requests and answers: which, and how each ended."""
    return [
        (event.kind, event.correlation_id, event.outcome if isinstance(event, Answer) else "")
        for event in driver.trace.events
        if isinstance(event, Request | Answer)
    ]


def calls_in(function: Callable[[], None]) -> int:
    """How many functions are called meanwhile."""
    count = 0

    def tell(_: FrameType, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tell)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def removed(faults: Faults) -> None:
    faults.remove(faults.add("error", error=9, api="Heartbeat"))


def used_up(faults: Faults) -> None:
    faults.add("delay", ms=0, api="ListGroups", times=1)


def for_others(faults: Faults) -> None:
    faults.add("error", error=9, api=["Metadata", "Produce"])
    faults.add("watch", api="JoinGroup")


@pytest.mark.parametrize("arm", [removed, used_up, for_others])
def test_a_fault_that_can_touch_no_request_costs_it_nothing(arm: Callable[[Faults], None]) -> None:
    plain, other = TracedDriver(on=False), TracedDriver(on=False)
    arm(other.faults)
    for driver in (plain, other):
        for _ in range(3):
            driver.send("list_groups")
            driver.advance(1)
    # The least of some: a collection of garbage calls functions too.
    costs = [
        min(calls_in(lambda driver=driver: driver.send("list_groups")) for _ in range(5))  # type: ignore[misc]
        for driver in (plain, other)
    ]
    assert costs[0] == costs[1] > 0


def test_a_fault_that_came_to_nothing_is_armed_again(driver: TracedDriver) -> None:
    """A leader that can't move is no hit: the next request may be."""
    fault = driver.faults.add("move-coordinator", api="Heartbeat", times=1, optional=True)
    for _ in range(2):
        fault.missed = ""
        driver.send("heartbeat")
        assert fault.missed
    assert fault.hits == 0


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_hold_that_is_released_as_it_hits_goes_on_once(driver: TracedDriver, when: str) -> None:
    fault = driver.faults.add("hold", api="Heartbeat", when=when)
    fault.on_hit.append(fault.release)
    driver.send("heartbeat", 7)
    driver.send("heartbeat", 8)
    assert told(driver) == [
        *(("request", 7, ""), ("answer", 7, "answer")),
        *(("request", 8, ""), ("answer", 8, "answer")),
    ]
    assert len(driver.connection.out) == 2


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "none": ({}, "answer"),
    "error": ({"do": "error", "error": "NOT_COORDINATOR"}, "answer"),
    "delay": ({"do": "delay", "ms": 5}, "answer"),
    "disconnect": ({"do": "disconnect"}, "closed"),
    "reset": ({"do": "reset"}, "closed"),
    "silence": ({"do": "silence", "when": "after"}, "silence"),
    "half-answer": ({"do": "half-answer"}, "answer"),
    "slow-bytes": ({"do": "slow-bytes", "bytes": 3, "ms": 2}, "answer"),
    "reorder": ({"do": "reorder", "ms": 5}, "answer"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_request_is_told_once_and_answered_once(name: str) -> None:
    given, outcome = FAULTS[name]
    driver = TracedDriver()
    if given:
        driver.faults.add(**given, api="Heartbeat", times=1)
    driver.send("heartbeat", 7)
    driver.advance(50)
    assert told(driver) == [("request", 7, ""), ("answer", 7, outcome)]
    (answer,) = [each for each in driver.trace.events if isinstance(each, Answer)]
    assert len(answer.faults) == bool(given)
    if name not in ("disconnect", "reset", "silence", "half-answer", "slow-bytes"):
        driver.send("heartbeat", 8)
        assert [struct.unpack_from(">i", bytes(each), 4)[0] for each in driver.connection.out][-1] == 8


@pytest.fixture
def failing() -> Iterator[list[Call]]:
    """The calls that Heartbeat got, and leaves waiting."""
    before = HANDLERS[ApiKey.HEARTBEAT]
    parked: list[Call] = []

    def handler(call: Call, _: Any) -> Any:
        parked.append(call)
        return PARKED

    HANDLERS[ApiKey.HEARTBEAT] = handler
    yield parked
    HANDLERS[ApiKey.HEARTBEAT] = before


@pytest.mark.parametrize("fault", [None, {"do": "watch"}, {"do": "watch", "when": "after"}])
def test_a_request_that_fails_while_it_waits_is_told_as_closed(
    driver: TracedDriver, failing: list[Call], fault: dict[str, Any] | None
) -> None:
    if fault:
        driver.faults.add(**fault, api="Heartbeat", optional=True)
    driver.cluster.environment.failed = lambda error, owner: owner.ended_by(error) if owner else None
    driver.send("heartbeat")
    failing[0].environment.fail(ZeroDivisionError("mine"), failing[0])
    assert told(driver) == [("request", 7, ""), ("answer", 7, "closed")]
    assert len(driver.heard.errors) == 1
    assert driver.connection.wants_close


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"\0\0\0\x02ab", "2 bytes are shorter than a request header"),
        (struct.pack(">ihhih", 10, 999, 0, 7, -1), "api key 999 v0 is not served"),
        (struct.pack(">ihhih", 10, ApiKey.HEARTBEAT, 99, 7, -1), "api key 12 v99 is not served"),
        (struct.pack(">ihhih", 10, ApiKey.HEARTBEAT, 3, 7, -1), "the request ends early"),
        (struct.pack(">ihhih", 10, ApiKey.HEARTBEAT, 3, 7, 50), "client id of 50 bytes"),
        (struct.pack(">i", -1), "a frame of -1 bytes"),
    ],
)
def test_what_is_no_request_is_told(driver: TracedDriver, frame: bytes, reason: str) -> None:
    driver.send("heartbeat")
    driver.receive(frame)
    event = driver.trace.events[-1]
    assert isinstance(event, Malformed)
    assert (event.broker, event.connection) == (1, "client")
    assert reason in event.reason
    assert event.reason in str(event)
