"""Connections on which nothing happens for `connections.max.idle.ms` are closed."""

import socket

import pytest

from mockbroker import MockCluster

from ..driving import wire
from ..driving.clients import address

SECONDS = 30
LIMIT_MS = 300
CONFIG = {"connections.max.idle.ms": str(LIMIT_MS)}


def connect(cluster: MockCluster) -> socket.socket:
    return socket.create_connection(address(cluster), SECONDS)


@pytest.mark.parametrize("clock", ["wall", "manual"])
def test_an_idle_connection_is_closed_and_the_next_one_works(clock: str) -> None:
    with MockCluster(brokers=1, config=CONFIG, clock=clock) as cluster:  # type: ignore[arg-type]
        for _ in range(2):
            with connect(cluster) as sock:
                sock.sendall(wire.api_versions())
                answer = sock.recv(1 << 16)
                while more := sock.recv(1 << 16):
                    answer += more
                assert len(wire.answers(answer)) == 1


def test_each_connection_has_its_own_time() -> None:
    with MockCluster(brokers=1, config=CONFIG) as cluster, connect(cluster) as idle, connect(cluster) as busy:
        idle.settimeout(LIMIT_MS / 10_000)
        asked = 0
        while True:
            busy.sendall(wire.api_versions())
            assert busy.recv(1 << 16)
            asked += 1
            try:
                assert idle.recv(1) == b""
                break
            except TimeoutError:
                pass
        assert asked > 1
        busy.sendall(wire.api_versions())
        assert busy.recv(1 << 16)


def test_moving_the_time_ahead_closes_none() -> None:
    with MockCluster(brokers=1) as cluster, connect(cluster) as sock:
        cluster.clock.advance("7d")
        sock.sendall(wire.api_versions())
        assert sock.recv(1 << 16)


def test_a_negative_limit_closes_none() -> None:
    config = {"connections.max.idle.ms": "-1"}
    with MockCluster(brokers=1, config=config) as cluster, connect(cluster) as sock:
        for _ in range(50):
            sock.sendall(wire.api_versions())
            assert sock.recv(1 << 16)
