"""Connections to a broker without sockets: bytes in, bytes out."""

from mockbroker.cluster.cluster import Cluster
from mockbroker.faults import Faults
from mockbroker.server.connection import Connection
from mockbroker.server.observer import ClientConnection, SilentObserver
from mockbroker.trace import Trace

from . import wire
from .cluster import ClusterDriver, a_cluster


class Heard(SilentObserver):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.identifications: list[str | None] = []
        self.refusals: list[str] = []
        self.errors: list[Exception] = []

    def identified(self, connection: ClientConnection) -> None:
        self.identifications.append(connection.client_id)

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        self.refusals.append(reason)

    def failed(self, connection: ClientConnection | None, error: Exception) -> None:
        self.errors.append(error)


class ConnectionDriver(ClusterDriver):
    """Connections to broker 1 of a cluster, one broker with topic `t` where none is given."""

    def __init__(
        self, cluster: Cluster | None = None, faults: Faults | None = None, trace: Trace | None = None
    ) -> None:
        super().__init__(cluster or a_cluster(brokers=1))
        if cluster is None:
            self.cluster.create_topic("t", [[1]])
        self.connection_faults = faults
        self.connection_trace = trace
        self.heard = Heard()

    def connect(self) -> Connection:
        hooks = self.connection_faults, self.connection_trace
        return Connection(
            self.cluster, self.cluster.brokers[1], "client", "/127.0.0.1", self.heard, lambda _: None, *hooks
        )

    def exchange(self, connection: Connection, data: bytes) -> list[tuple[int, bytes]]:
        """What is answered at once when the client writes so much."""
        connection.receive(memoryview(data).toreadonly())
        return wire.answers(written(connection))


def written(connection: Connection) -> bytes:
    """What went to the client since the last time."""
    data = b"".join(bytes(part) for part in connection.out)
    connection.out.clear()
    connection.out_bytes = 0
    return data


def answered(connection: Connection) -> list[tuple[int, bytes]]:
    """(correlation id, body) of each answer since the last time."""
    return wire.answers(written(connection))
