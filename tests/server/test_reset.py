"""How a connection ends when a fault ends it: by FIN or by RST, as the client's socket sees it."""

import socket
import struct
from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.faults.actions import When

from ..driving.clients import address

API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 7, -1)
LIMIT_S = 60


def read(cluster: MockCluster) -> bytes:
    """All that comes back for an ApiVersions request. ConnectionResetError."""
    with socket.create_connection(address(cluster), LIMIT_S) as client:
        client.sendall(API_VERSIONS)
        return client.makefile("rb").read()


@pytest.mark.parametrize("when", ["before", "after", "instead"])
def test_a_reset(when: When) -> None:
    with MockCluster(brokers=1) as cluster:
        fault = cluster.faults.add("reset", api="ApiVersions", when=when)
        with pytest.raises(ConnectionResetError):
            read(cluster)
        assert fault.hits == 1


@pytest.mark.parametrize(("do", "size"), [({"do": "disconnect"}, 0), ({"do": "half-answer", "bytes": 3}, 3)])
def test_an_end(do: dict[str, Any], size: int) -> None:
    with MockCluster(brokers=1) as cluster:
        cluster.faults.add(**do, api="ApiVersions")
        assert len(read(cluster)) == size
