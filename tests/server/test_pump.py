"""Many sockets at once: whose turn it is, by the order in which answers leave."""

import contextlib
import os
import resource
import socket
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing

from mockbroker.server import pump as pumps
from mockbroker.server.connection import Connection
from mockbroker.server.in_trio import pumped
from mockbroker.server.observer import ClientConnection, SilentObserver
from mockbroker.server.poller import Poller, new_poller
from mockbroker.server.pump import Pump
from mockbroker.server.reporting import Reporting

from ..driving import wire
from ..driving.cluster import a_cluster


class Order:
    """A capture that counts the bytes sent while a request waits for its answer, and all of them."""

    def __init__(self) -> None:
        self.most = self.all = 0
        self._waits: str | None = None
        self._since = 0

    def asks(self, name: str) -> None:
        self._waits, self._since = name, 0

    def opened(self, connection: ClientConnection) -> None: ...
    def closed(self, connection: ClientConnection) -> None: ...
    def received(self, connection: ClientConnection, data: bytes) -> None: ...

    def sent(self, connection: ClientConnection, data: bytes) -> None:
        self.all += len(data)
        if connection.name == self._waits:
            self.most = max(self.most, self._since)
            self._waits = None
        self._since += len(data)


class Ticking:
    """A clock that goes on by a tenth of a millisecond with each look at it."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        self._now += 0.0001
        return self._now


class Served:
    """A broker that listens, its topic `t`, and who was answered when."""

    def __init__(self) -> None:
        self.cluster = a_cluster(brokers=1)
        self.cluster.create_topic("t", [[1]])
        self.order = Order()
        self.pump = Pump(self.cluster, Reporting(SilentObserver()), monotonic=Ticking())
        self.pump.sockets.wire = self.order
        self.broker = self.cluster.brokers[1]
        self.broker.endpoint.host, self.broker.endpoint.port = "127.0.0.1", 0
        self.pump.listen(self.broker)
        self._sockets: list[socket.socket] = []

    def connect(self) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.broker.endpoint.port))
        sock.setblocking(False)
        self._sockets.append(sock)
        return sock

    def close(self) -> None:
        for sock in self._sockets:
            sock.close()
        self.pump.close()


def serving(test: Callable[[Served], Awaitable[None]]) -> Callable[[], None]:
    """Runs a test beside the pump."""

    def run() -> None:
        async def main() -> None:
            served = Served()
            try:
                with trio.fail_after(60):
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(pumped, served.pump)
                        await test(served)
                        nursery.cancel_scope.cancel()
            finally:
                served.close()

        trio.run(main)

    return run


async def answer(sock: socket.socket) -> bytes:
    """The next answer."""
    data = await exactly(sock, 4)
    return data + await exactly(sock, int.from_bytes(data))


async def exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        await trio.lowlevel.wait_readable(sock)
        more = sock.recv(size - len(data))
        assert more, "the broker closed the connection"
        data += more
    return bytes(data)


async def ask_in_turn(served: Served, sock: socket.socket, count: int) -> None:
    """One request after the other."""
    host, port = sock.getsockname()
    for number in range(count):
        served.order.asks(f"{host}:{port}")
        sock.send(wire.api_versions(correlation_id=number))
        [(correlation_id, _)] = wire.answers(await answer(sock))
        assert correlation_id == number


async def drain(sock: socket.socket) -> None:
    while True:
        await trio.lowlevel.wait_readable(sock)
        assert sock.recv(1 << 16), "the broker closed the connection"


def one_answer() -> int:
    """Bytes of an answer to ApiVersions."""
    cluster = a_cluster(brokers=1)
    connection = Connection(cluster, cluster.brokers[1], "x", "/x", SilentObserver(), lambda _: None)
    connection.receive(memoryview(wire.api_versions()))
    return connection.out_bytes


@serving
async def test_a_client_that_pipelines_holds_up_no_other(served: Served) -> None:
    greedy, good = served.connect(), served.connect()
    await ask_in_turn(served, good, 1)
    async with trio.open_nursery() as nursery:
        assert greedy.send(wire.api_versions() * 10_000) > 100_000
        nursery.start_soon(drain, greedy)
        await ask_in_turn(served, good, 20)
        await ask_in_turn(served, served.connect(), 1)
        nursery.cancel_scope.cancel()
    assert served.order.most <= 100 * one_answer()
    assert served.order.all <= 5000 * one_answer()


@serving
async def test_a_hundred_clients_that_park_hold_up_no_other(served: Served) -> None:
    """All are woken by one batch, and each then has hundreds of requests that are answered at once."""
    waiting = [served.connect() for _ in range(100)]
    for sock in waiting:
        sock.send(wire.fetch("t", 0, max_wait_ms=60_000) * 500)
    good = served.connect()
    await ask_in_turn(served, good, 1)
    served.connect().send(wire.produce("t", wire.batch([b"x"])))
    fetched = len(await answer(waiting[0]))
    async with trio.open_nursery() as nursery:
        for sock in waiting:
            nursery.start_soon(drain, sock)
        await ask_in_turn(served, good, 20)
        await ask_in_turn(served, served.connect(), 1)
        nursery.cancel_scope.cancel()
    assert served.order.most <= 400 * fetched
    assert served.order.all <= 100 * 150 * fetched


@serving
async def test_clients_that_do_not_read_hold_up_no_other(served: Served) -> None:
    for number in range(100):
        served.cluster.create_topic(f"topic-{number}", [[1]])
    good = served.connect()
    await ask_in_turn(served, good, 1)
    for _ in range(20):
        served.connect().send(wire.request(3, 1, (-1).to_bytes(4, signed=True)) * 3000)
    await ask_in_turn(served, good, 20)
    await ask_in_turn(served, served.connect(), 1)
    assert served.order.most <= 2**20
    assert served.order.all <= 20 * 2**20


@serving
async def test_a_request_that_takes_long_holds_up_no_other(served: Served) -> None:
    """Its answer comes when it is done, and what was sent behind it comes after it."""
    long, good = served.connect(), served.connect()
    await ask_in_turn(served, good, 1)
    names = b"".join(wire.text(f"topic-{number}") for number in range(80_000))
    ask = wire.request(3, 4, (80_000).to_bytes(4) + names + b"\0", correlation_id=1)
    data = memoryview(ask + wire.api_versions(correlation_id=2))
    while data:
        await trio.lowlevel.wait_writable(long)
        data = data[long.send(data) :]
    while not served.cluster.work:
        await trio.lowlevel.checkpoint()
    await ask_in_turn(served, good, 3)
    assert served.cluster.work
    for expected in (1, 2):
        assert int.from_bytes((await answer(long))[4:8]) == expected


def all_descriptors() -> list[int]:
    """Takes every file descriptor that is left below a limit of its own."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.open(os.devnull, os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (taken[0] + 20, most))
    with contextlib.suppress(OSError):
        while True:
            taken.append(os.dup(taken[0]))
    return taken


def test_clients_are_served_where_no_descriptor_is_free(caplog: pytest.LogCaptureFixture) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)

    @serving
    async def serve_and_wait(served: Served) -> None:
        good = served.connect()
        await ask_in_turn(served, good, 1)
        late = [served.connect() for _ in range(3)]
        taken = all_descriptors()
        try:
            await ask_in_turn(served, good, 5)
            # It does not look again and again at those that it can't accept.
            await trio.testing.wait_all_tasks_blocked()
            await ask_in_turn(served, good, 5)
        finally:
            for fd in taken:
                os.close(fd)
            resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        for sock in late:
            await ask_in_turn(served, sock, 1)

    serve_and_wait()
    [record] = caplog.records
    assert "no more clients are accepted for now" in record.getMessage()


def noting(all_waits: list[list[float]]) -> Poller:
    """A poller that adds a list of how long it was to wait."""
    poller = new_poller()
    poll, waits = poller.poll, list[float]()
    all_waits.append(waits)

    def noted(seconds: float, most: int) -> list[tuple[int, int]]:
        waits.append(seconds)
        return poll(seconds, most)

    vars(poller)["poll"] = noted
    return poller


def test_a_cluster_waits_for_more_unless_another_has_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[list[float]] = []
    monkeypatch.setattr(pumps, "new_poller", lambda: noting(waits))

    async def asked(served: Served, sock: socket.socket) -> set[float]:
        waits[0].clear()
        await ask_in_turn(served, sock, 5)
        return set(waits[0])

    @serving
    async def test(served: Served) -> None:
        other = Served()
        with contextlib.closing(other):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(pumped, other.pump)
                sock = served.connect()
                assert await asked(served, sock) == {pumps.PATIENCE_SECONDS}
                await ask_in_turn(other, other.connect(), 1)
                assert await asked(served, sock) == {0}
                nursery.cancel_scope.cancel()
        assert await asked(served, sock) == {pumps.PATIENCE_SECONDS}

    test()
