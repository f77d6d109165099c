"""What each fault does to the time of an answer, and to the cluster behind it."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest

from mockbroker.faults import FaultError
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import error_name
from mockbroker.replication.states import FollowerState
from tests.driving.faulty import FaultyDriver


@pytest.mark.parametrize(("when", "written"), [("before", 0), ("after", 1), ("instead", 0)])
@pytest.mark.parametrize("do", ["disconnect", "silence"])
def test_no_answer(driver: FaultyDriver, do: str, when: str, written: int) -> None:
    fault = driver.faults.add(do, api="Produce", topic="t", when=when)
    driver.produce()
    driver.send("heartbeat", 8)
    assert driver.answers() == []
    assert driver.connection.wants_close == (do == "disconnect")
    assert driver.log_end_offset() == written
    assert fault.hits == 1


@pytest.mark.parametrize(("when", "written"), [("before", 0), ("after", 1)])
def test_a_delay(driver: FaultyDriver, when: str, written: int) -> None:
    driver.faults.add("delay", api="Produce", ms=100, when=when)
    driver.produce()
    driver.send("heartbeat", 8)
    driver.advance(99)
    assert (driver.answers(), driver.log_end_offset()) == ([], written)
    driver.advance(1)
    driver.connection.resume()
    assert (driver.answers(), driver.log_end_offset()) == ([7, 8], 1)


def test_jitter_is_by_seed() -> None:
    def ends(seed: int) -> list[int]:
        driver = FaultyDriver(1)
        driver.faults.add("delay", api="Heartbeat", ms=10, jitter_ms=1000, seed=seed)
        found = []
        for _ in range(5):
            driver.send("heartbeat")
            deadline = driver.cluster.next_deadline()
            assert deadline is not None
            found.append(deadline - driver.now_ms)
            driver.advance(deadline - driver.now_ms)
        return found

    assert ends(1) == ends(1) != ends(2)
    assert all(10 <= each <= 1010 for each in ends(1))


def test_the_work_of_one_that_is_gone_is_done_all_the_same(driver: FaultyDriver) -> None:
    """As in Kafka: a request in the queue of a broker does not go with its connection."""
    driver.faults.add("delay", api="Produce", ms=100)
    driver.produce()
    driver.connection.wants_close = True
    driver.advance(100)
    assert driver.log_end_offset() == 1
    assert driver.answers() == []


def test_the_third_is_held_until_it_is_released(driver: FaultyDriver) -> None:
    fault = driver.faults.add("hold", api="Produce", nth=3)
    for i in range(4):
        driver.produce(correlation_id=i)
    assert driver.answers() == [0, 1]
    assert (fault.hits, fault.held, driver.log_end_offset()) == (1, 1, 2)
    fault.release()
    driver.connection.resume()
    assert driver.answers() == [2, 3]
    assert (fault.hits, fault.held) == (1, 0)


def test_any_fault_can_be_paused(driver: FaultyDriver) -> None:
    fault = driver.faults.add("error", error="NOT_COORDINATOR", api="Heartbeat")
    fault.pause()
    driver.send("heartbeat", group_id="g")
    assert (fault.held, driver.answers()) == (1, [])
    driver.faults.remove(fault)
    assert error_name(struct.unpack(">h", driver.sent()[-2:])[0]) == "NOT_COORDINATOR"
    driver.faults.remove(fault)


def test_position_and_chance() -> None:
    driver = FaultyDriver(1)
    second = driver.faults.add("throttle", ms=1, api="Heartbeat", nth=2, times=2)
    some = driver.faults.add("throttle", ms=1, api="Heartbeat", probability=0.5, seed=3)
    for _ in range(100):
        driver.send("heartbeat")
    assert second.hits == 2
    assert 30 < some.hits < 70


@pytest.mark.parametrize(
    ("given", "hits"),
    [
        ({"client_id": "te*"}, 1),
        ({"client_id": "other"}, 0),
        ({"version": 3}, 1),
        ({"version": [1, 2]}, 0),
        ({"broker": 1}, 1),
        ({"broker": 2}, 0),
        ({"group": "g"}, 1),
        ({"group": "h"}, 0),
        ({"topic": "t"}, 0),
        ({"partition": 0}, 0),
        ({"api": ["EndTxn", "heartbeat"]}, 1),
        ({"api": 12}, 1),
        ({"api": "end_txn"}, 0),
    ],
)
def test_which_requests(driver: FaultyDriver, given: dict[str, Any], hits: int) -> None:
    fault = driver.faults.add("throttle", ms=1, **given)
    driver.send("heartbeat", group_id="g")
    assert fault.hits == hits


def test_the_second_request_of_each_connection(driver: FaultyDriver) -> None:
    fault = driver.faults.add("delay", ms=0, nth_on_connection=2)
    for hits in (0, 1, 1):
        driver.send("list_groups")
        assert fault.hits == hits
    driver.connection = driver.connect()
    for hits in (1, 2):
        driver.send("list_groups")
        assert fault.hits == hits


@pytest.mark.parametrize(
    ("key_type", "given", "hits"),
    [
        (0, {"group": "k"}, 1),
        (1, {"group": "k"}, 0),
        (1, {"transactional_id": "k"}, 1),
        (0, {"transactional_id": "k"}, 0),
    ],
)
def test_whose_coordinator_is_looked_for(
    driver: FaultyDriver, key_type: int, given: dict[str, str], hits: int
) -> None:
    fault = driver.faults.add("throttle", ms=1, **given)
    driver.send("find_coordinator", key="k", key_type=key_type)
    assert fault.hits == hits


@pytest.mark.parametrize("do", ["stop-broker", "kill-broker"])
def test_a_broker_goes_and_comes_back(driver: FaultyDriver, do: str) -> None:
    driver.faults.add(do, api="Heartbeat", target=2)
    driver.faults.add("start-broker", api="FindCoordinator", target=2)
    driver.send("heartbeat")
    assert not driver.cluster.brokers[2].online
    driver.send("find_coordinator", key="g")
    driver.advance(100_000)
    assert driver.cluster.brokers[2].online


def test_a_coordinator_moves(driver: FaultyDriver) -> None:
    driver.send("find_coordinator", key="g")
    before = driver.cluster.offsets_partition("g").leader
    driver.faults.add("move-coordinator", api="Heartbeat")
    driver.send("heartbeat", group_id="g")
    after = driver.cluster.offsets_partition("g").leader
    assert after != before
    driver.faults.add("move-coordinator", api="FindCoordinator", target=before)
    driver.send("find_coordinator", key="g")
    assert driver.cluster.offsets_partition("g").leader == before


def test_followers_pause(driver: FaultyDriver) -> None:
    driver.faults.add("pause-follower", api="Produce", target=2, nth=1)
    driver.faults.add("resume-follower", api="Produce", target=2, nth=2)
    followers = driver.cluster.topics["t"].partitions[0].followers
    driver.produce()
    assert [followers[each].state for each in (2, 3)] == [FollowerState.PAUSED, FollowerState.IN_STEP]
    driver.produce()
    assert followers[2].state is not FollowerState.PAUSED


def test_a_broker_is_cut_off_and_rejoins(driver: FaultyDriver) -> None:
    cut: dict[str, Any] = {"do": "cut-off-broker", "api": "Produce", "target": 2, "from": [1, "controller"]}
    fault = driver.faults.add(**cut)
    driver.faults.add("rejoin-broker", api="Heartbeat", target=2)
    driver.produce()
    broker = driver.cluster.brokers[2]
    assert (broker.unreachable, broker.hears_controller) == ({1}, False)
    driver.produce()
    assert (fault.hits, fault.missed) == (1, "broker 2 is cut off from them already")
    driver.send("heartbeat")
    assert (broker.unreachable, broker.hears_controller) == (set(), True)


def test_a_request_that_leaves_nothing_to_do_is_not_the_one_that_counts(driver: FaultyDriver) -> None:
    fault = driver.faults.add("rejoin-broker", api="Heartbeat", target=2, times=1)
    driver.send("heartbeat")
    assert (fault.hits, fault.used_up) == (0, False)
    driver.faults.add("cut-off-broker", api="Produce", target=2, times=1)
    driver.produce()
    driver.send("heartbeat")
    assert (fault.hits, fault.used_up) == (1, True)
    assert driver.cluster.brokers[2].hears_controller


def test_followers_are_slow_and_die(driver: FaultyDriver) -> None:
    driver.faults.add("slow-follower", api="Produce", target=2, delay_ms=50, nth=1)
    driver.faults.add("fail-follower", api="Produce", target=3, nth=2)
    resumed = driver.faults.add("resume-follower", api="Produce", target=3, nth=3)
    for _ in range(3):
        driver.produce()
    followers = driver.cluster.topics["t"].partitions[0].followers
    assert (followers[2].state, followers[2].delay_ms) == (FollowerState.SLOW, 50)
    assert followers[3].state is FollowerState.FAILED
    assert resumed.hits == 0
    assert "it stays dead until the next leader epoch" in resumed.why


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"do": "cut-off-broker", "from": [9]}, "no broker 9: choose one of 1, 2, 3"),
        ({"do": "cut-off-broker", "from": []}, "from is []: give a list"),
        ({"do": "slow-follower"}, "slow-follower needs 'delay_ms'"),
        ({"do": "slow-follower", "delay_ms": -1}, "delay_ms is -1: give a number of milliseconds"),
        ({"do": "move-leader", "target": "x"}, "target is 'x': give a broker's id"),
        ({"do": "stop-broker", "target": 4}, "no broker 4: choose one of 1, 2, 3"),
        ({"do": "stop-broker", "delay_ms": 4}, "has no field 'delay_ms'"),
    ],
)
def test_a_change_that_can_not_be(driver: FaultyDriver, given: dict[str, Any], why: str) -> None:
    with pytest.raises(FaultError, match=re.escape(why)):
        driver.faults.add(**given)


def test_a_handler_that_raises_after_a_delay(driver: FaultyDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends its own connection and nothing else."""
    from mockbroker.apis.registry import HANDLERS

    def raises(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setitem(HANDLERS, ApiKey.HEARTBEAT, raises)
    driver.faults.add("delay", api="Heartbeat", ms=10)
    driver.send("heartbeat")
    driver.advance(10)
    assert driver.connection.wants_close
    assert [str(each.__cause__) for each in driver.heard.errors] == ["broken"]
