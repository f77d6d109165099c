"""A client that shuts its writing side is answered first, and then let go: as 3.9.2 and 4.4.0 do it."""

import itertools
import socket
from collections.abc import Iterator

import pytest

from mockbroker import MockCluster

from ..driving import wire
from ..driving.clients import address

SECONDS = 30


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(brokers=1, topics={"t": 1}) as cluster:
        yield cluster


def connect(cluster: MockCluster) -> socket.socket:
    return socket.create_connection(address(cluster), SECONDS)


def until_closed(sock: socket.socket) -> list[tuple[int, bytes]]:
    """All answers; that the broker closes ends them."""
    return wire.answers(b"".join(iter(lambda: sock.recv(1 << 16), b"")))


def asked(name: str, correlation_id: int) -> bytes:
    match name:
        case "versions":
            return wire.api_versions(correlation_id=correlation_id)
        case "produce":
            return wire.produce("t", wire.batch([b"x"]), correlation_id=correlation_id)
        case _:
            return wire.fetch("t", 100, max_wait_ms=50, correlation_id=correlation_id)


NAMES = ["versions", "produce", "fetch at the end"]
ORDERS = [order for count in (0, 1, 2, 3) for order in itertools.permutations(NAMES, count)]


@pytest.mark.parametrize("rest", [b"", b"\0\0", b"\0\0\0\7\0"], ids=["whole", "size", "part"])
def test_what_was_asked_is_answered_in_order(cluster: MockCluster, rest: bytes) -> None:
    for order in ORDERS:
        data = b"".join(asked(name, number) for number, name in enumerate(order)) + rest
        with connect(cluster) as sock:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            assert [number for number, _ in until_closed(sock)] == list(range(len(order))), order


def test_a_fetch_that_waits_is_answered_by_a_produce_after_the_end(cluster: MockCluster) -> None:
    with connect(cluster) as waiting, connect(cluster) as other:
        waiting.sendall(wire.fetch("t", 0, max_wait_ms=SECONDS * 1000))
        waiting.shutdown(socket.SHUT_WR)
        other.sendall(wire.produce("t", wire.batch([b"x"])))
        other.shutdown(socket.SHUT_WR)
        assert len(until_closed(other)) == 1
        [(_, body)] = until_closed(waiting)
        assert wire.fetched(body, "t")[:2] == (0, 1)


def test_large_answers_are_read_to_the_end(cluster: MockCluster) -> None:
    """Larger than what the sockets hold."""
    with connect(cluster) as sock:
        records = wire.batch([b"x" * 900_000])
        for _ in range(20):
            sock.sendall(wire.produce("t", records))
            assert sock.recv(1 << 16)
        sock.sendall(b"".join(wire.fetch("t", 0, correlation_id=number) for number in range(4)))
        sock.shutdown(socket.SHUT_WR)
        assert [number for number, _ in until_closed(sock)] == [0, 1, 2, 3]


def test_who_would_never_be_answered_is_let_go(cluster: MockCluster) -> None:
    fault = cluster.faults.add("silence", api="Heartbeat")
    for early in (True, False):
        with connect(cluster) as sock:
            sock.sendall(wire.request(12, 0, wire.text("g") + b"\0\0\0\0" + wire.text("m")))
            if not early:
                fault.wait(hits=2)
            sock.shutdown(socket.SHUT_WR)
            assert until_closed(sock) == []
