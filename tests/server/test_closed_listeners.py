"""Listeners that are closed while their brokers go on."""

from __future__ import annotations

import socket

import pytest

from mockbroker import ConflictError, MockCluster, NotThereError, Security

from ..driving.real_clients import LIMIT_S, a_producer

SECURITY = Security(listeners={"INSIDE": "PLAINTEXT", "OUTSIDE": "PLAINTEXT"})


def address(cluster: MockCluster, broker: int, listener: str) -> tuple[str, int]:
    [found] = [
        each for each in cluster.listener_states() if (each["broker"], each["listener"]) == (broker, listener)
    ]
    return found["host"], found["port"]


def refused(where: tuple[str, int]) -> bool:
    try:
        socket.create_connection(where, LIMIT_S).close()
    except ConnectionRefusedError:
        return True
    return False


def ended(sock: socket.socket) -> bool:
    """One that the broker has not accepted yet is reset."""
    sock.settimeout(LIMIT_S)
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def test_clients_of_a_closed_listener_lose_it_and_others_go_on() -> None:
    with MockCluster(security=SECURITY, brokers=2, topics={"t": 1}) as cluster:
        leader = cluster.run(lambda core: core.topics["t"].partitions[0].leader)
        outside = a_producer(cluster, **cluster.client_settings("confluent-kafka", listener="OUTSIDE"))
        inside = a_producer(cluster, **cluster.client_settings("confluent-kafka", listener="INSIDE"))
        outside.produce("t", b"1")
        assert outside.flush(LIMIT_S) == 0
        with socket.create_connection(address(cluster, leader, "OUTSIDE"), LIMIT_S) as idle:
            cluster.close_listener(leader, "OUTSIDE")
            assert ended(idle)
        assert refused(address(cluster, leader, "OUTSIDE"))
        assert not refused(address(cluster, 3 - leader, "OUTSIDE"))
        assert cluster.hints() == [f"the listener OUTSIDE of broker {leader} is closed until open_listener()"]
        outside.produce("t", b"2")
        inside.produce("t", b"3")
        assert inside.flush(LIMIT_S) == 0
        assert [each.value for each in cluster.records("t")] == [b"1", b"3"]
        assert cluster.run(lambda core: core.topics["t"].partitions[0].leader) == leader
        cluster.open_listener(leader, "OUTSIDE")
        assert outside.flush(LIMIT_S) == 0
        assert [each.value for each in cluster.records("t")] == [b"1", b"3", b"2"]


def test_it_stays_closed_when_its_broker_starts_again_and_keeps_its_port() -> None:
    with MockCluster(security=SECURITY, brokers=1) as cluster:
        where = address(cluster, 1, "OUTSIDE")
        cluster.close_listener(1, "OUTSIDE")
        cluster.stop_broker(1)
        assert refused(address(cluster, 1, "INSIDE"))
        cluster.start_broker(1)
        assert not refused(address(cluster, 1, "INSIDE"))
        assert refused(where)
        cluster.open_listener(1, "OUTSIDE")
        assert address(cluster, 1, "OUTSIDE") == where
        assert not refused(where)


def test_a_fault_closes_the_listener_by_which_the_client_came() -> None:
    with MockCluster(security=SECURITY, brokers=1, topics={"t": 1}) as cluster:
        fault = cluster.faults.add("close-listener", api="Produce", listener="OUTSIDE", nth=2)
        outside = a_producer(cluster, **cluster.client_settings("confluent-kafka", listener="OUTSIDE"))
        for value in (b"1", b"2"):
            outside.produce("t", value)
            outside.flush(0 if fault.hits else LIMIT_S)
        fault.wait()
        assert {each["listener"]: each["open"] for each in cluster.listener_states()} == {
            "INSIDE": True,
            "OUTSIDE": False,
        }
        cluster.open_listener(1, "OUTSIDE")
        assert outside.flush(LIMIT_S) == 0
        assert [each.value for each in cluster.records("t")] == [b"1", b"2"]


def test_what_is_not_there() -> None:
    with MockCluster(brokers=1) as cluster:
        with pytest.raises(
            NotThereError, match="broker 1 has no listener 'OUTSIDE': choose one of PLAINTEXT"
        ):
            cluster.close_listener(1, "OUTSIDE")
        with pytest.raises(ConflictError, match="listener PLAINTEXT of broker 1 is open already"):
            cluster.open_listener(1, "PLAINTEXT")
