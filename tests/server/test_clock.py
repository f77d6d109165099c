"""Time that stands still, jumps and goes on, on sockets."""

import functools
from datetime import timedelta

import pytest
import trio

import mockbroker
from mockbroker import ClockName, unchecked
from mockbroker.duration import milliseconds

from ..driving import wire
from .test_serving import addresses, ask, read

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        ("7d", 7 * DAY_MS),
        ("1h30m", 5_400_000),
        ("250ms", 250),
        ("90s", 90_000),
        (0, 0),
        (1500, 1500),
        (timedelta(hours=2), 7_200_000),
    ],
)
def test_a_duration_is_a_text_milliseconds_or_a_timedelta(
    duration: str | int | timedelta, expected: int
) -> None:
    assert milliseconds(duration) == expected


@pytest.mark.parametrize("duration", ["7 days", "", "d", "5", "7d ", "-1s", 1.5, True, None])
def test_what_is_no_duration_is_refused_with_one_that_is(duration: object) -> None:
    with pytest.raises(ValueError, match="give '7d', '1h30m'"):
        milliseconds(duration)  # type: ignore[arg-type]


@pytest.mark.parametrize("duration", [-1, timedelta(seconds=-1)])
def test_time_does_not_go_back(duration: int | timedelta) -> None:
    with pytest.raises(ValueError, match="does not go back"):
        milliseconds(duration)


def test_an_unknown_clock_is_refused() -> None:
    with pytest.raises(ValueError, match="no clock 'sun': choose one of manual, wall"):
        mockbroker.MockCluster(clock=unchecked("sun")).start()


@pytest.mark.trio
async def test_a_manual_clock_moves_only_when_it_is_told_to() -> None:
    async with mockbroker.serve(brokers=1, clock="manual", topics={"t": 1}) as served:
        began = served.clock.now_ms
        stream = await trio.open_tcp_stream(*addresses(served.bootstrap_servers)[0])
        await ask(stream, wire.fetch("t", 0, max_wait_ms=50))
        assert served.clock.now_ms == began
        served.clock.advance("1d")
        assert served.clock.now_ms == began + DAY_MS
        await stream.aclose()


@pytest.mark.trio
@pytest.mark.parametrize("clock", ["wall", "manual"])
async def test_what_waits_is_answered_by_an_advance_in_order_of_the_deadlines(clock: ClockName) -> None:
    async with mockbroker.serve(brokers=1, clock=clock, topics={"t": 1}) as served:
        address = addresses(served.bootstrap_servers)[0]
        late, soon, never = [await trio.open_tcp_stream(*address) for _ in range(3)]
        partition = served.cluster.topics["t"].partitions[0].at_leader
        order: list[int] = []
        for stream, minutes in ((late, 20), (soon, 10), (never, 60)):
            before = len(partition.waiting)
            await stream.send_all(wire.fetch("t", 0, max_wait_ms=minutes * 60_000, correlation_id=minutes))
            while len(partition.waiting) == before:
                await trio.lowlevel.checkpoint()
            served.cluster.environment.after(minutes * 60_000, functools.partial(order.append, minutes))
        served.clock.advance("30m")
        with trio.fail_after(60):
            assert [(await read(stream))[0][0] for stream in (late, soon)] == [20, 10]
        assert order == [10, 20]
        assert len(partition.waiting) == 1
        for stream in (late, soon, never):
            await stream.aclose()


def test_the_wall_clock_goes_on_from_where_it_was_moved_to() -> None:
    with mockbroker.MockCluster(brokers=1) as cluster:
        began = cluster.clock.now_ms
        cluster.clock.advance("7d")
        moved = cluster.clock.now_ms
        assert moved >= began + 7 * DAY_MS
        wait_until_later(cluster, moved)
        cluster.run(lambda core: core.advance(core.now_ms + DAY_MS))
        moved = cluster.clock.now_ms
        assert moved >= began + 8 * DAY_MS
        wait_until_later(cluster, moved)


def wait_until_later(cluster: mockbroker.MockCluster, than_ms: int) -> None:
    for _ in range(100_000):
        if cluster.clock.now_ms > than_ms:
            return
    raise AssertionError("the clock stands still")


@pytest.mark.trio
async def test_a_cluster_in_a_thread_can_be_told_things_from_trio() -> None:
    with mockbroker.MockCluster(brokers=1, clock="manual") as cluster:
        began = cluster.clock.now_ms
        cluster.clock.advance("1s")
        assert cluster.clock.now_ms == began + 1000
        with pytest.raises(KeyError):
            cluster.stop_broker(7)


def test_calls_may_be_made_in_the_clusters_own_thread() -> None:
    with mockbroker.MockCluster(topics={"t": 1}) as cluster:
        leader = cluster.run(lambda _: cluster.move_leader("t", 0, to=2))
        cluster.run(lambda _: cluster.stop_broker(1))
        assert (leader, cluster.run(lambda core: core.topics["t"].partitions[0].at_leader.isr)) == (2, [2, 3])
        with pytest.raises(mockbroker.BlockingCallError, match="wait for itself"):
            cluster.run(lambda _: cluster.trace.wait("request"))
        with pytest.raises(RuntimeError, match="own thread: stop the cluster from another"):
            cluster.run(lambda _: cluster.stop())
