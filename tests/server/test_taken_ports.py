"""The port of a broker that is down is taken by another program."""

import socket
import sys

import pytest

from mockbroker import MockCluster
from mockbroker.cluster.liveness import Liveness
from mockbroker.errors import ConflictError
from mockbroker.rig.client import Client

from ..driving.clients import address


@pytest.mark.parametrize("brokers", [1, 2])
def test_a_broker_whose_port_is_taken_stays_down_until_it_is_free(brokers: int) -> None:
    with MockCluster(brokers=brokers, control=True) as cluster:
        host, port = address(cluster, broker=-1)
        cluster.stop_broker(brokers)
        with socket.create_server((host, port)):
            told = rf"broker {brokers} stays down until its port is free: can't listen on {host}:{port}: "
            for _ in range(2):
                with pytest.raises(ConflictError, match=told):
                    cluster.start_broker(brokers)
            assert cluster.run(lambda core: core.brokers[brokers].liveness) is Liveness.STOPPED
            assert len(cluster.failures) == 1
        while cluster.run(lambda core: core.brokers[brokers].liveness) is not Liveness.RUNNING:
            pass
        with Client(host, port) as client:
            assert client.call("metadata", 1)["brokers"]
        cluster.failures.clear()


def test_one_that_is_stopped_meanwhile_stays_so() -> None:
    with MockCluster(brokers=2) as cluster:
        cluster.stop_broker(2)
        with socket.create_server(address(cluster, broker=2)):
            with pytest.raises(ConflictError):
                cluster.start_broker(2)
            cluster.stop_broker(2)
        assert cluster.run(lambda core: core.brokers[2].liveness) is Liveness.STOPPED
        cluster.start_broker(2)
        cluster.failures.clear()


@pytest.mark.skipif(sys.platform != "linux", reason="how a system chooses free ports is its own affair")
def test_nobody_gets_the_port_of_a_broker_that_is_down_as_a_free_one() -> None:
    with MockCluster(brokers=1) as cluster:
        host, port = address(cluster)
        cluster.stop_broker(1)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, port))
        with socket.socket() as sock, pytest.raises(OSError, match="in use"):
            sock.bind((host, port))  # without SO_REUSEADDR: like those who ask for port 0
        cluster.start_broker(1)
        with Client(host, port) as client:
            assert client.call("metadata", 1)["brokers"]
