"""What a running cluster offers, on one that runs nowhere: no thread, no socket, the test's own time."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import pytest
import trio

from mockbroker import WaitTimeoutError
from mockbroker.control.target import Target
from mockbroker.duration import later
from mockbroker.faults import Faults
from mockbroker.server.running import RunningCluster
from mockbroker.trace import Trace
from tests.driving.cluster import a_cluster

T = TypeVar("T")


class Here(RunningCluster):
    """Does everything where it is asked to."""

    def __init__(self) -> None:
        core = self._core = a_cluster()
        trace = Trace(core)
        self._acts_on = Target(
            core, Faults(core), trace, self.bootstrap_servers, trace.changed, self._advance, trace.start
        )

    def _advance(self, by: Any) -> None:
        self._core.advance(later(self._core.now_ms, by))

    @property
    def _target(self) -> Target:
        return self._acts_on

    def _call(self, function: Callable[[], T]) -> T:
        return function()

    async def _call_async(self, function: Callable[[], T]) -> T:
        return function()

    def _result(self, future: Future[T]) -> T:
        return future.result(timeout=0)

    async def _result_async(self, future: Future[T]) -> T:
        return future.result(timeout=0)

    @property
    def bootstrap_servers(self) -> str:
        return "nowhere:1"

    @property
    def listeners(self) -> str:
        return self.bootstrap_servers

    @property
    def failures(self) -> list[Exception]:
        return []


def test_what_is_produced_is_there_until_its_time_is_over() -> None:
    cluster = Here()
    cluster.create_topic("t", partitions=1, replication_factor=1, config={"retention.ms": "60000"})
    written = cluster.produce("t", "a", key="k", timestamp_ms=cluster.clock.now_ms)
    assert cluster.records("t") == [written]
    before = cluster.clock.now_ms
    cluster.clock.advance("1h")
    assert cluster.clock.now_ms == before + 3_600_000
    assert cluster.records("t") == []


def test_the_trace_tells_of_what_is_done_and_a_wait_that_is_in_vain_says_what_came() -> None:
    cluster = Here()
    cluster.create_topic("t", partitions=1, replication_factor=3)
    trace = cluster.trace
    cluster.stop_broker(1)
    assert trace.wait("leader", topic="t", timeout=0).kind == "leader"
    with pytest.raises(
        WaitTimeoutError, match=r"(?s)0 of 1 happened; the last events were:\n.* t-0: leader 2"
    ):
        trace.wait("leader", topic="u", timeout=0)


def test_a_wait_for_what_happened_before_the_trace_began_says_so() -> None:
    cluster = Here()
    cluster.create_topic("t", partitions=1)
    with pytest.raises(WaitTimeoutError, match="nothing has happened since the trace began"):
        cluster.trace.wait("leader", topic="t", timeout=0)


def test_policies_and_faults_are_those_of_the_cluster() -> None:
    cluster = Here()
    cluster.policies.set("undefined-epoch", "log-end-offset", topic="t")
    assert cluster.policies.answer("undefined-epoch", topic="t") == "log-end-offset"
    assert cluster.policies.answer("undefined-epoch") != "log-end-offset"
    with cluster.faults.add("disconnect", api="Produce", times=1) as fault:
        assert (fault.hits, fault.why) == (0, "no client sent anything")
        with pytest.raises(WaitTimeoutError, match="no client sent anything"):
            fault.wait(timeout=0)
    assert cluster.run_with_faults(lambda faults: faults.rules) == []


def test_the_forms_that_are_awaited_do_the_same() -> None:
    async def main() -> None:
        cluster = Here()
        cluster.create_topic("t", partitions=1, replication_factor=1)
        written = await cluster.produce_async("t", "a")
        assert cluster.records("t") == [written]
        before = cluster.clock.now_ms
        await cluster.clock.advance_async("2s")
        assert cluster.clock.now_ms == before + 2_000
        assert await cluster.delete_records_async("t", 0) == 1

    trio.run(main)
