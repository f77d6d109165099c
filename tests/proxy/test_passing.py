"""Bytes that pass as they come, with a broker and clients that are bare sockets."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import pytest
import trio
import trio.testing

from mockbroker import MockCluster, MockProxy
from mockbroker.addresses import given, joined
from mockbroker.outcome import Client
from mockbroker.protocol.answers import answer_codec
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.headers import MAX_FRAME_BYTES
from mockbroker.protocol.messages.metadata import MetadataResponse
from mockbroker.protocol.messages.produce import ProduceResponse
from mockbroker.proxying import Proxy, ProxyOptions
from mockbroker.proxying.connection import Connection
from mockbroker.proxying.framing import Outlet
from mockbroker.proxying.session import UNSENT_BYTES, Session

from .between import Between, large, request

PATIENCE_SECONDS = 60
LARGE = large(1 << 20, 7)
ASKED = request("metadata", 9, 8, topics=[])
PRODUCED = answer_codec(ApiKey.PRODUCE, 9).encode(7, ProduceResponse())
TOLD = answer_codec(ApiKey.METADATA, 9).encode(8, MetadataResponse())
HALF = 1 << 19


class Ends:
    """The two ends: `client` is connected to `proxy`, and `broker` is what the proxy has connected to, once
    the client has said something."""

    def __init__(self, proxy: MockProxy, client: socket.socket, listener: socket.socket) -> None:
        self.proxy = proxy
        self.client = client
        self._listener = listener

    @cached_property
    def broker(self) -> socket.socket:
        return self.accepted()

    def accepted(self) -> socket.socket:
        broker, _ = self._listener.accept()
        broker.settimeout(PATIENCE_SECONDS)
        return broker


@contextmanager
def ends(**options: Any) -> Iterator[Ends]:
    with (
        MockCluster(brokers=1) as cluster,
        socket.create_server(("127.0.0.1", 0)) as listener,
        MockProxy(
            cluster.bootstrap_servers,
            upstream_map={cluster.bootstrap_servers: joined(*listener.getsockname())},
            **options,
        ) as proxy,
        socket.create_connection(given(proxy.bootstrap_servers, "proxy"), PATIENCE_SECONDS) as client,
    ):
        listener.settimeout(PATIENCE_SECONDS)
        there = Ends(proxy, client, listener)
        yield there
        there.broker.close()


def received(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = sock.recv(size - len(data))
        assert part, f"it ended after {len(data)} of {size} bytes"
        data += part
    return bytes(data)


def rest(sock: socket.socket) -> bytes:
    """What comes until the other end closes the connection."""
    data = bytearray()
    try:
        while part := sock.recv(1 << 16):
            data += part
    except ConnectionError:
        pass
    return bytes(data)


def test_what_has_come_of_a_request_is_not_kept_until_the_rest_comes() -> None:
    with ends() as there:
        there.client.sendall(LARGE[:HALF])
        assert received(there.broker, HALF) == LARGE[:HALF]
        there.client.sendall(LARGE[HALF:] + ASKED)
        assert received(there.broker, len(LARGE) - HALF + len(ASKED)) == LARGE[HALF:] + ASKED
        there.broker.sendall(PRODUCED)
        assert received(there.client, len(PRODUCED)) == PRODUCED


def test_a_request_that_a_fault_delays_waits_until_the_one_that_passes_is_answered() -> None:
    with ends(faults=[{"do": "watch", "api": "Metadata"}]) as there:
        there.client.sendall(LARGE + ASKED + LARGE)
        assert received(there.broker, len(LARGE)) == LARGE
        there.broker.sendall(PRODUCED)
        assert received(there.broker, len(ASKED)) == ASKED
        there.broker.sendall(TOLD)
        assert received(there.broker, len(LARGE)) == LARGE
        assert received(there.client, len(PRODUCED + TOLD)) == PRODUCED + TOLD
        assert [each.hits for each in there.proxy.faults] == [1]


def test_a_request_that_a_fault_looks_at_does_not_pass_before_it_is_whole() -> None:
    with ends(faults=[{"do": "disconnect", "api": "Produce"}]) as there:
        there.client.sendall(ASKED + LARGE[:HALF])
        assert received(there.broker, len(ASKED)) == ASKED
        there.broker.sendall(TOLD)
        assert received(there.client, len(TOLD)) == TOLD
        there.client.sendall(LARGE[HALF:])
        assert rest(there.client) == rest(there.broker) == b""
        assert [each.hits for each in there.proxy.faults] == [1]


@pytest.mark.parametrize("resets", [False, True])
def test_a_client_that_goes_within_a_request_leaves_no_connection(resets: bool) -> None:
    with ends() as there:
        there.client.sendall(LARGE[:HALF])
        begun = received(there.broker, HALF)
        if resets:
            there.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        there.client.close()
        assert begun + rest(there.broker) == LARGE[:HALF]


def test_a_broker_that_goes_within_a_request_takes_the_connection_with_it() -> None:
    with ends() as there:
        there.client.sendall(LARGE[:HALF])
        received(there.broker, 1000)
        there.broker.close()
        with pytest.raises(ConnectionError):
            # More than sockets keep for somebody who does not read.
            there.client.sendall(LARGE * 100)
        assert not there.proxy.lines


def test_of_a_request_that_is_too_large_nothing_passes() -> None:
    with ends() as there:
        there.client.sendall((MAX_FRAME_BYTES + 1).to_bytes(4) + LARGE[4:HALF])
        assert rest(there.client) == rest(there.broker) == b""
        (line,) = there.proxy.lines
        assert line.endswith(f"closed, a frame of {MAX_FRAME_BYTES + 1} bytes")


def test_nobody_waits_for_an_answer_to_a_large_produce_without_one() -> None:
    with ends() as there:
        sent = large(1 << 20, 7, acks=0)
        there.client.sendall(sent + ASKED)
        assert received(there.broker, len(sent) + len(ASKED)) == sent + ASKED
        there.broker.sendall(TOLD)
        assert received(there.client, len(TOLD)) == TOLD


def test_who_says_nothing_costs_the_broker_no_connection() -> None:
    with ends() as there:
        with socket.create_connection(there.client.getpeername(), PATIENCE_SECONDS) as late:
            late.sendall(ASKED)
            with there.accepted() as broker:
                assert received(broker, len(ASKED)) == ASKED
        there.client.sendall(LARGE)
        assert received(there.broker, len(LARGE)) == LARGE


@pytest.mark.trio
async def test_who_says_nothing_for_long_is_not_waited_for(mock_clock: trio.testing.MockClock) -> None:
    with MockCluster(brokers=1) as cluster:
        options = ProxyOptions([given(cluster.bootstrap_servers, "upstream")])
        async with (
            Proxy(options).running() as proxy,
            await trio.open_tcp_stream(*given(proxy.bootstrap_servers, "proxy")) as client,
        ):
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(601)
            assert await client.receive_some() == b""


class Sending:
    """A side that always has something to send, and takes nothing."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.received = 0

    async def carry(self, take: Callable[[bytes], bool]) -> bool:
        goes_on = True
        while goes_on:
            await trio.lowlevel.checkpoint()
            self.received += len(self._data)
            goes_on = take(self._data)
        return False

    def send_now(self, data: bytes) -> int:
        return 0

    def write_now(self, outlet: Outlet) -> None: ...

    async def write(self, outlet: Outlet) -> None:
        await trio.sleep_forever()

    def end(self) -> None: ...

    async def close(self, *, resets: bool) -> None: ...


class Silent(Sending):
    """A side that has nothing to send, either."""

    async def carry(self, take: Callable[[bytes], bool]) -> bool:
        await trio.sleep_forever()
        raise AssertionError


@pytest.mark.trio
async def test_a_client_is_not_read_while_the_broker_takes_nothing() -> None:
    size = 1 << 18
    client = Sending(large(size, 7))
    upstream = Between().upstream
    connection = Connection(client, Silent(b""), lambda: None, lambda: None, lambda: None)
    session = Session(upstream, upstream.brokers[1], Client(), connection.poke, lambda _: None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connection.run, session, b"")
        await trio.testing.wait_all_tasks_blocked()
        assert UNSENT_BYTES < client.received < UNSENT_BYTES + 2 * size
        nursery.cancel_scope.cancel()
