"""The cluster on real sockets: in trio, in a thread, and what happens when it can't or should stop."""

import contextlib
import socket
import struct
import threading
import time
from typing import Any

import pytest
import trio

import mockbroker
from mockbroker.policies import UnknownPolicyError
from mockbroker.protocol.releases import UnknownReleaseError
from mockbroker.server.listening import PortInUseError

from ..driving import wire


def addresses(bootstrap_servers: str) -> list[tuple[str, int]]:
    pairs = (address.rsplit(":", 1) for address in bootstrap_servers.split(","))
    return [(host, int(port)) for host, port in pairs]


async def ask(stream: trio.SocketStream, data: bytes, count: int = 1) -> list[tuple[int, bytes]]:
    await stream.send_all(data)
    return await read(stream, count)


async def read(stream: trio.SocketStream, count: int = 1) -> list[tuple[int, bytes]]:
    """The next `count` answers."""
    data = b""
    while True:
        whole, position = 0, 0
        while position + 4 <= len(data):
            position += 4 + struct.unpack_from(">i", data, position)[0]
            whole += position <= len(data)
        if whole >= count:
            return wire.answers(data)
        part = await stream.receive_some(65536)
        assert part, "the server closed the connection"
        data += part


@pytest.mark.trio
async def test_requests_are_pipelined_and_answered_in_order() -> None:
    async with mockbroker.serve(brokers=1, topics={"t": 1}) as served:
        stream = await trio.open_tcp_stream(*addresses(served.bootstrap_servers)[0])
        requests = b"".join(wire.produce("t", wire.batch([b"x"]), correlation_id=i) for i in range(200))
        found = await ask(stream, requests, 200)
        assert [(i, wire.produced(body, "t")) for i, body in found] == [(i, (0, i)) for i in range(200)]
        await stream.aclose()


@pytest.mark.trio
async def test_a_request_of_a_megabyte_comes_back_whole() -> None:
    async with mockbroker.serve(brokers=1, topics={"t": 1}) as served:
        stream = await trio.open_tcp_stream(*addresses(served.bootstrap_servers)[0])
        batch = wire.batch([bytes([i % 256]) * 1000 for i in range(1000)])
        [(_, body)] = await ask(stream, wire.produce("t", batch))
        assert wire.produced(body, "t") == (0, 0)
        [(_, body)] = await ask(stream, wire.fetch("t", 500))
        error, high_watermark, records = wire.fetched(body, "t")
        assert (error, high_watermark, records[61:]) == (0, 1000, batch[61:])
        await stream.aclose()


@pytest.mark.trio
async def test_a_waiting_fetch_is_woken_through_another_connection() -> None:
    async with mockbroker.serve(brokers=1, topics={"t": 1}) as served:
        address = addresses(served.bootstrap_servers)[0]
        waiting, other = await trio.open_tcp_stream(*address), await trio.open_tcp_stream(*address)
        await waiting.send_all(wire.fetch("t", 0, max_wait_ms=60_000))
        partition = served.cluster.topics["t"].partitions[0].at_leader
        while not partition.waiting:
            await trio.lowlevel.checkpoint()
        await ask(other, wire.produce("t", wire.batch([b"x"])))
        with trio.fail_after(60):
            [(_, body)] = await read(waiting)
        assert wire.fetched(body, "t")[1] == 1
        await waiting.aclose()
        await other.aclose()


@pytest.mark.trio
async def test_a_waiting_fetch_is_answered_by_the_clock() -> None:
    async with mockbroker.serve(brokers=1, topics={"t": 1}) as served:
        stream = await trio.open_tcp_stream(*addresses(served.bootstrap_servers)[0])
        with trio.fail_after(60):
            [(_, body)] = await ask(stream, wire.fetch("t", 0, max_wait_ms=20))
        assert wire.fetched(body, "t") == (0, 0, b"")
        await stream.aclose()


@pytest.mark.trio
async def test_a_client_that_does_not_read_holds_up_nobody_and_loses_nothing() -> None:
    # The records are old: on a busy machine they could be deleted meanwhile.
    kept = {"log.retention.ms": "-1"}
    async with mockbroker.serve(brokers=1, topics={"t": 1}, config=kept) as served:
        address = addresses(served.bootstrap_servers)[0]
        lazy, other = await trio.open_tcp_stream(*address), await trio.open_tcp_stream(*address)
        await ask(other, wire.produce("t", wire.batch([b"x" * 500_000])))
        async with trio.open_nursery() as nursery:
            requests = b"".join(wire.fetch("t", 0, correlation_id=i) for i in range(60))
            nursery.start_soon(lazy.send_all, requests)
            for _ in range(100):
                await ask(other, wire.fetch("t", 1))
            found = await read(lazy, 60)
        assert [i for i, _ in found] == list(range(60))
        assert {len(wire.fetched(body, "t")[2]) for _, body in found} == {len(wire.batch([b"x" * 500_000]))}
        await lazy.aclose()
        await other.aclose()


@pytest.mark.trio
async def test_bad_input_closes_one_connection_and_harms_no_other() -> None:
    async with mockbroker.serve(brokers=1, topics={"t": 1}) as served:
        address = addresses(served.bootstrap_servers)[0]
        good = await trio.open_tcp_stream(*address)
        for data in (struct.pack(">i", 2**31 - 1), struct.pack(">i", -5), b"GET / HTTP/1.1\r\n\r\n"):
            bad = await trio.open_tcp_stream(*address)
            await bad.send_all(data)
            with trio.fail_after(60):
                assert await bad.receive_some(1) == b""
            await bad.aclose()
            [(_, body)] = await ask(good, wire.produce("t", wire.batch([b"x"])))
            assert wire.produced(body, "t")[0] == 0
        await good.aclose()


@pytest.mark.trio
async def test_brokers_listen_on_consecutive_ports_and_a_taken_one_is_named() -> None:
    async with mockbroker.serve(brokers=1) as served:
        [(host, port)] = addresses(served.bootstrap_servers)
        with pytest.raises(PortInUseError, match=f"{host}:{port}.*Choose another port"):
            async with mockbroker.serve(brokers=1, port=port):
                pass


def test_a_cluster_in_a_thread_serves_synchronous_code() -> None:
    with mockbroker.MockCluster(kafka="3.9", brokers=2, topics={"t": 2}) as cluster:
        assert len(addresses(cluster.bootstrap_servers)) == 2
        with socket.create_connection(addresses(cluster.bootstrap_servers)[0]) as sock:
            sock.sendall(wire.produce("t", wire.batch([b"x"])))
            assert sock.recv(65536)
        assert cluster.run(lambda core: core.topics["t"].partitions[0].log.end_offset) == 1
    assert not any(thread.name == "mockbroker" for thread in threading.enumerate())
    with pytest.raises(RuntimeError, match="is not running"):
        _ = cluster.bootstrap_servers


def test_a_killed_broker_hangs_up_without_an_answer_and_comes_back_by_itself() -> None:
    config = {"broker.session.timeout.ms": "300"}
    with mockbroker.MockCluster(kafka="4.4", brokers=2, config=config, topics={"t": 2}) as cluster:
        first = addresses(cluster.bootstrap_servers)[0]
        with socket.create_connection(first) as sock:
            sock.sendall(wire.fetch("t", 0, max_wait_ms=60_000))
            cluster.kill_broker(1)
            sock.settimeout(60)
            with contextlib.suppress(ConnectionResetError):
                assert sock.recv(65536) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(first)
        cluster.start_broker(1)
        with connect_when_it_listens(first) as sock:
            sock.sendall(wire.api_versions())
            assert sock.recv(65536)


def connect_when_it_listens(address: tuple[str, int]) -> socket.socket:
    for _ in range(2000):
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection(address)
        time.sleep(0.01)
    raise AssertionError("it does not come back")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kafka": "1.9"}, UnknownReleaseError, "did you mean '1.1'"),
        ({"policies": {"nonsense": "x"}}, UnknownPolicyError, "choose one of .*duplicate-window"),
        ({"policies": {"undefined-epoch": "x"}}, UnknownPolicyError, "choose one of log-end-offset, undef"),
        ({"brokers": 0}, ValueError, "at least one"),
        ({"port": 65536}, ValueError, "choose 0"),
    ],
)
def test_wrong_options_say_what_to_do(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        mockbroker.MockCluster(**options).start()


def test_a_change_from_outside_happens_at_the_present_time() -> None:
    with mockbroker.MockCluster(brokers=1) as cluster:
        first = cluster.run(lambda core: core.now_ms)
        end = time.monotonic() + 0.05
        while time.monotonic() < end:
            pass
        assert cluster.run(lambda core: core.now_ms) >= first + 49
