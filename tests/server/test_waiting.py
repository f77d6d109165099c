"""Waiting under asyncio and trio: other tasks go on, who is cancelled leaves nothing behind, and a call that
would block the event loop says what to await."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
import trio

import mockbroker
from mockbroker import BlockingCallError, MockCluster, WrongEventLoopError, unchecked
from mockbroker.server.failures import ClusterError
from mockbroker.server.fault_control import FaultHandle
from mockbroker.server.running import RunningCluster

from ..driving import wire
from ..driving.clients import address

BACKENDS = ("asyncio", "trio")
WAITS: dict[str, Callable[[RunningCluster, FaultHandle, float], Coroutine[Any, Any, object]]] = {
    "fault.wait_async": lambda _, fault, timeout: fault.wait_async(timeout=timeout),
    "fault.wait_held_async": lambda _, fault, timeout: fault.wait_held_async(timeout=timeout),
    "trace.wait_async": lambda cluster, _, timeout: cluster.trace.wait_async(
        "request", api="Produce", timeout=timeout
    ),
}
BLOCKING: dict[str, Callable[[RunningCluster, FaultHandle, float], object]] = {
    "fault.wait_async": lambda _, fault, timeout: fault.wait(timeout=timeout),
    "fault.wait_held_async": lambda _, fault, timeout: fault.wait_held(timeout=timeout),
    "trace.wait_async": lambda cluster, _, timeout: cluster.trace.wait(
        "request", api="Produce", timeout=timeout
    ),
}


@pytest.fixture(params=BACKENDS)
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an asynchronous function under asyncio, or under trio."""

    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        return anyio.run(function, *args, backend=request.param)

    return run


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        yield cluster


@contextmanager
def a_produce(cluster: RunningCluster) -> Iterator[socket.socket]:
    """A client that has sent one Produce and does not read."""
    with socket.create_connection(address(cluster)) as client:
        client.sendall(wire.produce("orders", wire.batch([b"x"])))
        yield client


def listeners(cluster: MockCluster, fault: FaultHandle) -> int:
    """How many functions wait to be told of something."""
    trace = cluster.run_with_trace(lambda trace: len(trace.listeners))
    return trace + len(fault._fault.on_hit)


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_ends_when_it_happens_and_other_tasks_go_on(
    run: Callable[..., Any], cluster: MockCluster, name: str
) -> None:
    hold = cluster.faults.add("hold", api="Produce")
    before = listeners(cluster, hold)

    async def send_once_somebody_waits() -> None:
        while listeners(cluster, hold) == before:
            await anyio.sleep(0)
        with a_produce(cluster):
            await done.wait()

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send_once_somebody_waits)
            await WAITS[name](cluster, hold, 30)
            done.set()

    done = anyio.Event()
    run(main)
    assert listeners(cluster, hold) == before
    # What has happened already is not waited for.
    run(lambda: WAITS[name](cluster, hold, 0))
    BLOCKING[name](cluster, hold, 0)


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_that_is_cancelled_or_over_leaves_nothing_behind(
    run: Callable[..., Any], cluster: MockCluster, name: str
) -> None:
    hold = cluster.faults.add("hold", api="Produce")
    assert cluster.trace.events() == []
    before = listeners(cluster, hold)

    async def cancelled() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(WAITS[name], cluster, hold, 30)
            while listeners(cluster, hold) == before:
                await anyio.sleep(0)
            tasks.cancel_scope.cancel()

    run(cancelled)
    assert listeners(cluster, hold) == before
    with pytest.raises(TimeoutError) as awaited:
        run(lambda: WAITS[name](cluster, hold, 0.01))
    with pytest.raises(TimeoutError) as blocked:
        BLOCKING[name](cluster, hold, 0.01)
    assert str(awaited.value) == str(blocked.value)
    assert listeners(cluster, hold) == before


@pytest.mark.parametrize("name", WAITS)
def test_a_call_that_would_stop_the_event_loop_names_the_other(
    run: Callable[..., Any], cluster: MockCluster, name: str
) -> None:
    hold = cluster.faults.add("hold", api="Produce")

    async def main() -> None:
        with pytest.raises(BlockingCallError, match=rf"would block the event loop.*`await {name}\("):
            BLOCKING[name](cluster, hold, 30)
        # Short calls are fine, and so is a thread.
        cluster.clock.advance("1s")
        with a_produce(cluster):
            await anyio.to_thread.run_sync(BLOCKING[name], cluster, hold, 30)

    run(main)
    with a_produce(cluster):
        BLOCKING[name](cluster, hold, 30)


def test_who_waits_hears_that_a_fault_is_removed(run: Callable[..., Any], cluster: MockCluster) -> None:
    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for wait in (fault.wait_async, fault.wait_held_async):
                tasks.start_soon(fails, wait)
            while len(fault._fault.on_hit) < 2:
                await anyio.sleep(0)
            fault.remove()

    async def fails(wait: Callable[[], Awaitable[None]]) -> None:
        with pytest.raises(TimeoutError, match="before it was removed"):
            await wait()

    fault = cluster.faults.add("hold", api="Produce")
    run(main)
    with pytest.raises(TimeoutError, match="before it was removed"):
        fault.wait()


def test_a_wait_that_can_not_end_well_fails_at_once(cluster: MockCluster) -> None:
    once = cluster.faults.add("delay", ms=1, api="Produce", times=1)
    with pytest.raises(ValueError, match="touches 1 requests at most: waiting for 2"):
        once.wait(2)
    with pytest.raises(RuntimeError, match=r"holds no requests: pause\(\) it first"):
        once.wait_held()
    once.pause()
    with a_produce(cluster):
        once.wait_held()
        assert once.held == 1
        once.release()


def test_the_clock_is_moved_while_other_tasks_go_on(run: Callable[..., Any], cluster: MockCluster) -> None:
    async def main() -> None:
        began = cluster.clock.now_ms
        await cluster.clock.advance_async("1h")
        assert cluster.clock.now_ms >= began + 3_600_000
        with pytest.raises(ValueError, match="can't be advanced by"):
            await cluster.clock.advance_async("soon")

    run(main)


def test_a_call_that_is_cancelled_before_it_has_begun_is_not_made(
    run: Callable[..., Any], cluster: MockCluster
) -> None:
    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, cluster.run, hold_up)
            while not busy:
                await anyio.sleep(0)
            with anyio.CancelScope() as scope:
                # The cluster is busy: whoever asks waits.
                tasks.start_soon(cancel, scope)
                await cluster.clock.advance_async("365d")
            assert scope.cancelled_caught
            busy.clear()

    async def cancel(scope: anyio.CancelScope) -> None:
        while len(cluster._thread._calls) < 2:
            await anyio.sleep(0)
        scope.cancel()

    def hold_up(_: object) -> None:
        busy.append(True)
        while busy:
            pass

    busy: list[bool] = []
    began = cluster.clock.now_ms
    run(main)
    assert cluster.clock.now_ms < began + 3_600_000


class Gate(dict[str, int]):
    """Topics that the cluster's thread gets only when another task has opened it."""

    def __init__(self) -> None:
        super().__init__(orders=1)
        self.opened = threading.Event()

    def items(self) -> Any:
        assert self.opened.wait(30), "no other task went on"
        return super().items()


def test_a_cluster_starts_and_stops_while_other_tasks_go_on(run: Callable[..., Any]) -> None:
    async def main() -> None:
        turns, gate = 0, Gate()

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                gate.opened.set()
                await anyio.sleep(0)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn)
            async with MockCluster(brokers=1, topics=gate) as cluster:
                address = cluster.bootstrap_servers
                started = turns
            assert turns > started
            tasks.cancel_scope.cancel()
        with pytest.raises(RuntimeError, match="is not running"):
            cluster.stop_broker(1)
        host, _, port = address.rpartition(":")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)))
        with pytest.raises(ValueError, match="nine"):
            await MockCluster(kafka=unchecked("nine")).start_async()

    run(main)


def assert_ends(own: MockCluster) -> None:
    thread = own._thread._thread
    assert thread is not None
    thread.join(30)
    assert not thread.is_alive()


def test_a_cluster_stops_though_its_block_is_cancelled(run: Callable[..., Any]) -> None:
    async def main() -> None:
        with anyio.CancelScope() as scope:
            async with own:
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught

    own = MockCluster(brokers=1)
    run(main)
    assert_ends(own)


def test_a_start_that_is_cancelled_ends_by_itself(run: Callable[..., Any]) -> None:
    async def main() -> None:
        with anyio.move_on_after(0):
            await own.start_async()

    own = MockCluster(brokers=1)
    run(main)
    assert_ends(own)


def test_what_fails_is_raised_at_the_end_of_the_block(run: Callable[..., Any]) -> None:
    def listener(_: object) -> None:
        raise ArithmeticError("on purpose")

    async def main(body: Exception | None) -> None:
        async with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
            cluster.trace.listen(listener)
            with a_produce(cluster):
                await cluster.trace.wait_async("answer")
            if body is not None:
                raise body

    with pytest.raises(ClusterError, match="on purpose"):
        run(main, None)
    with pytest.raises(LookupError) as raised:
        run(main, LookupError("of the test"))
    [note] = raised.value.__notes__
    assert note.startswith("In the mock cluster: ")
    assert note.endswith("on purpose")


def test_waits_in_the_thread_of_serve_are_awaited() -> None:
    async def main() -> None:
        async with mockbroker.serve(brokers=1, topics={"orders": 1}, trace=True) as cluster:
            hold = cluster.faults.add("hold", api="Produce")
            with pytest.raises(BlockingCallError, match=r"`await fault\.wait_async"):
                hold.wait()
            with a_produce(cluster):
                for wait in WAITS.values():
                    await wait(cluster, hold, 30)
            await cluster.clock.advance_async("1h")

    trio.run(main)


def test_serve_says_what_to_use_under_asyncio() -> None:
    async def main() -> None:
        async with mockbroker.serve(brokers=1):
            pass

    with pytest.raises(WrongEventLoopError, match=r"`async with mockbroker\.MockCluster"):
        asyncio.run(main())


def test_who_calls_a_cluster_that_ends_is_told(cluster: MockCluster) -> None:
    def stop(_: object) -> None:
        cluster._thread._ask_to_stop()
        raise SystemExit

    with pytest.raises(SystemExit):
        cluster.run(stop)
    thread = cluster._thread._thread
    assert thread is not None
    thread.join(30)
    with pytest.raises(RuntimeError, match="the cluster has ended"):
        cluster.stop_broker(1)
