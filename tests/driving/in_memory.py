"""A raw client whose bytes reach a broker without a socket."""

import struct

from mockbroker.cluster.cluster import Cluster
from mockbroker.faults import Faults
from mockbroker.rig.client import Client, DisconnectedError
from mockbroker.server.connection import Connection
from mockbroker.server.observer import SilentObserver

from .connections import written


class InMemoryClient(Client):
    """Asks a broker in any version, through its codecs; the answer has to come at once."""

    def __init__(self, cluster: Cluster, broker_id: int, faults: Faults | None = None) -> None:
        broker = cluster.brokers[broker_id]
        super().__init__(broker.endpoint.host, broker.endpoint.port)
        self._connection = Connection(
            cluster, broker, "test", "/127.0.0.1", SilentObserver(), lambda _: None, faults
        )

    def send_frame(self, frame: bytes) -> None:
        self._connection.receive(memoryview(struct.pack(">i", len(frame)) + frame).toreadonly())

    def read_frame(self) -> bytes:
        if self._connection.wants_close:
            raise DisconnectedError("closed by the broker")
        answer = written(self._connection)
        (size,) = struct.unpack_from(">i", answer)
        assert len(answer) == 4 + size, "one answer to one request"
        return answer[4:]
