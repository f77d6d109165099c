"""One task that reads the sockets of all connections."""

import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from math import inf

import pytest
import trio
import trio.testing

from mockbroker.proxying import relay as module
from mockbroker.proxying.relay import Relay
from mockbroker.server.sockets import NO_LINGER

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    """Two connections, each as its client and the proxy have it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = []
        for _ in range(2):
            client = socket.create_connection(listener.getsockname())
            ours, _ = listener.accept()
            ours.setblocking(False)
            found.append((client, ours))
        yield found
        for pair in found:
            for each in pair:
                each.close()


@asynccontextmanager
async def running() -> AsyncIterator[Relay]:
    relay = Relay(lambda: inf)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(relay.run)
        yield relay
        nursery.cancel_scope.cancel()
    assert not relay.has_clients
    relay.close()


class Taking:
    """Takes what comes, until it has enough bytes."""

    def __init__(self, enough: float = inf) -> None:
        self.data = b""
        self._enough = enough

    def __call__(self, data: bytes) -> bool:
        self.data += data
        return len(self.data) < self._enough


@pytest.mark.trio
async def test_everything_is_handed_over_until_the_end(pairs: list[Pair]) -> None:
    (client, ours), _ = pairs
    data, taking = bytes(range(256)) * 4096, Taking()

    async def send() -> None:
        await trio.to_thread.run_sync(client.sendall, data)
        client.shutdown(socket.SHUT_WR)

    async with running() as relay, trio.open_nursery() as nursery:
        nursery.start_soon(send)
        assert await relay.carry(ours, taking)
    assert taking.data == data


@pytest.mark.trio
async def test_who_has_enough_is_given_no_more_until_it_asks(pairs: list[Pair]) -> None:
    (client, ours), _ = pairs
    first, then = Taking(enough=2), Taking(enough=3)
    async with running() as relay:
        client.sendall(b"ab")
        assert not await relay.carry(ours, first)
        client.sendall(b"cde")
        await trio.testing.wait_all_tasks_blocked()
        assert first.data == b"ab"
        assert not await relay.carry(ours, then)
    assert then.data == b"cde"


@pytest.mark.trio
async def test_what_goes_wrong_with_one_is_nothing_to_another(pairs: list[Pair]) -> None:
    (failing, first), (other, second) = pairs

    def fails(data: bytes) -> bool:
        raise ValueError(data)

    async with running() as relay:
        async with trio.open_nursery() as nursery:
            taking = Taking(enough=3)
            nursery.start_soon(relay.carry, second, taking)
            failing.sendall(b"bad")
            with pytest.raises(ValueError, match="bad"):
                await relay.carry(first, fails)
            other.sendall(b"abc")
        assert taking.data == b"abc"


@pytest.mark.trio
async def test_a_reset_is_an_oserror(pairs: list[Pair]) -> None:
    (client, ours), _ = pairs
    async with running() as relay:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        client.close()
        with pytest.raises(ConnectionResetError):
            await relay.carry(ours, Taking())


@pytest.mark.trio
async def test_who_is_cancelled_is_given_nothing_more(pairs: list[Pair]) -> None:
    (client, ours), _ = pairs
    taking = Taking()
    async with running() as relay:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relay.carry, ours, taking)
            await trio.testing.wait_all_tasks_blocked()
            assert relay.has_clients
            nursery.cancel_scope.cancel()
        client.sendall(b"late")
        await trio.testing.wait_all_tasks_blocked()
    assert taking.data == b""


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits far longer than a test lasts."""
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 600.0)


@pytest.mark.trio
@pytest.mark.usefixtures("patient")
async def test_who_is_woken_runs_before_it_waits(pairs: list[Pair]) -> None:
    (client, ours), _ = pairs
    woken = trio.Event()

    async with running() as relay, trio.open_nursery() as nursery:

        def take(data: bytes) -> bool:
            woken.set()
            relay.woke()
            return True

        nursery.start_soon(relay.carry, ours, take)
        client.sendall(b"a")
        await woken.wait()
        nursery.cancel_scope.cancel()


@pytest.mark.trio
@pytest.mark.usefixtures("patient")
async def test_it_does_not_wait_while_others_do(pairs: list[Pair]) -> None:
    (client, ours), (other, second) = pairs
    second.setblocking(False)
    taking = Taking()
    async with running() as relay, trio.open_nursery() as nursery:
        with relay.others():
            nursery.start_soon(relay.carry, ours, taking)
            client.sendall(b"a")
            await trio.testing.wait_all_tasks_blocked()
            assert taking.data == b"a"
            other.sendall(b"b")
            await trio.lowlevel.wait_readable(second)
        nursery.cancel_scope.cancel()


@pytest.mark.trio
@pytest.mark.usefixtures("patient")
async def test_one_socket_is_read_and_waited_for(pairs: list[Pair]) -> None:
    (client, ours), _ = pairs
    taking = Taking(enough=1)
    size = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            size += ours.send(bytes(1 << 20))
    async with running() as relay, trio.open_nursery() as nursery:
        nursery.start_soon(relay.writable, ours)
        await trio.testing.wait_all_tasks_blocked()
        client.sendall(b"a")
        assert not await relay.carry(ours, taking)
        while size:
            size -= len(await trio.to_thread.run_sync(client.recv, 1 << 20))


@pytest.mark.trio
@pytest.mark.usefixtures("patient")
async def test_who_connects_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        async with running() as relay, trio.open_nursery() as nursery:
            nursery.start_soon(relay.readable, listener)
            await trio.testing.wait_all_tasks_blocked()
            socket.create_connection(listener.getsockname()).close()
