"""A cluster that raw clients reach without sockets, and whose time goes by only while they wait."""

import itertools
import socket
from collections.abc import Callable

from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.endpoint import Endpoint
from mockbroker.faults import Faults
from mockbroker.rig import sasl_listener
from mockbroker.sasl.client import Logins
from mockbroker.server.connection import Connection
from mockbroker.server.sasl_connection import SaslConnection

from .connections import Heard, written

FIRST_PORT = 9092
SASL_PORTS = 1000
"""How much higher the ports of the listener with SASL are."""
FIRST_CLIENT_PORT = 40_000


class InMemoryNetwork:
    """`rig.network.Network` to the brokers of a cluster."""

    def __init__(self, cluster: Cluster, logins: Logins | None = None) -> None:
        """With `logins`, brokers also have the listener of `rig.sasl_listener`."""
        self.cluster = cluster
        self._logins = logins
        self.heard = Heard()
        self.faults = Faults(cluster)
        self._ports = itertools.count(FIRST_CLIENT_PORT)
        for port, broker in enumerate(cluster.brokers.values(), FIRST_PORT):
            broker.endpoint.host, broker.endpoint.port = "127.0.0.1", port
            if logins is not None:
                told = Endpoint(sasl_listener.NAME, "SASL_PLAINTEXT", "127.0.0.1", port + SASL_PORTS)
                broker.endpoints[sasl_listener.NAME] = told

    @property
    def bootstrap_servers(self) -> str:
        told = (each.endpoint for each in self.cluster.brokers.values())
        return ",".join(f"{each.host}:{each.port}" for each in told)

    def connect(self, host: str, port: int, timeout_s: float) -> "InMemoryStream":
        ((broker, endpoint),) = (
            (broker, each)
            for broker in self.cluster.brokers.values()
            for each in broker.endpoints.values()
            if (each.host, each.port) == (host, port)
        )
        name = f"127.0.0.1:{next(self._ports)}"
        of = self.cluster, broker, name, "/127.0.0.1", self.heard, Connection.resume, self.faults
        if endpoint.sasl:
            assert self._logins is not None
            connection: Connection = SaslConnection(*of, listener=endpoint.name, logins=self._logins)
        else:
            connection = Connection(*of)
        return InMemoryStream(self, connection, timeout_s)

    def now_s(self) -> float:
        return self.cluster.now_ms / 1000

    def sleep(self, seconds: float) -> None:
        self.wait(lambda: False, seconds)

    def wait(self, done: Callable[[], object], seconds: float) -> bool:
        """Lets time go by until it is so, or over."""
        end_ms = self.cluster.now_ms + round(seconds * 1000)
        while not done():
            if self.cluster.now_ms >= end_ms:
                return False
            due = self.cluster.next_deadline()
            self.cluster.advance(end_ms if due is None else min(max(due, self.cluster.now_ms), end_ms))
        return True


class InMemoryStream:
    def __init__(self, network: InMemoryNetwork, connection: Connection, timeout_s: float) -> None:
        self._network, self._connection, self._timeout_s = network, connection, timeout_s
        self._come = bytearray()
        self._finished = False

    def sendall(self, data: bytes, /) -> None:
        if self._connection.wants_close:
            raise BrokenPipeError
        self._connection.receive(memoryview(bytes(data)))

    def recv(self, count: int, /) -> bytes:
        if not self._network.wait(lambda: self._arrived() or self._over(), self._timeout_s):
            raise TimeoutError("timed out")
        taken = bytes(self._come[:count])
        del self._come[:count]
        return taken

    def shutdown(self, how: int, /) -> None:
        assert how == socket.SHUT_WR
        self._finished = True

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", 0

    def settimeout(self, seconds: float, /) -> None:
        self._timeout_s = seconds

    def close(self) -> None:
        self._connection.wants_close = True
        self._connection.client.closed()

    def _over(self) -> bool:
        return self._connection.wants_close or (self._finished and not self._connection.owes)

    def _arrived(self) -> bool:
        self._come += written(self._connection)
        return bool(self._come)
