"""One task that reads the sockets of all connections."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from math import inf

import pytest
import trio
import trio.testing

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
