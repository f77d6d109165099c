"""What a client leaves behind when it goes."""

import gc
import socket
import struct

from mockbroker import MockCluster
from mockbroker.protocol.messages.produce import PartitionProduceData

from ..driving import wire

PARTITIONS = 100


def test_a_request_that_is_never_answered_goes_with_its_client() -> None:
    """A Produce of null records is not answered; only the end of its connection, here by a reset, ends it."""
    partitions = b"".join(struct.pack(">ii", index, -1) for index in range(PARTITIONS))
    body = struct.pack(">hhii", -1, 1, 5000, 1) + wire.text("t") + struct.pack(">i", PARTITIONS) + partitions
    with MockCluster(brokers=1, topics={"t": PARTITIONS}) as cluster:
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        gc.collect()
        gc.disable()
        try:
            with socket.create_connection((host, int(port))) as client:
                client.sendall(wire.request(0, 7, body))
                while len(kept()) < PARTITIONS:
                    cluster.run(lambda _: None)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            while kept():
                cluster.run(lambda _: None)
        finally:
            gc.enable()


def kept() -> list[PartitionProduceData]:
    return [each for each in gc.get_objects() if type(each) is PartitionProduceData]


def test_a_client_that_ended_is_dropped_once_it_was_idle_for_long() -> None:
    """As by Kafka, after `connections.max.idle.ms`."""
    body = struct.pack(">hhii", -1, 1, 5000, 1) + wire.text("t") + struct.pack(">iii", 1, 0, -1)
    with MockCluster(brokers=1, topics={"t": 1}, clock="manual") as cluster:
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(wire.api_versions() + wire.request(0, 7, body))
            client.shutdown(socket.SHUT_WR)
            (size,) = struct.unpack(">i", client.recv(4, socket.MSG_WAITALL))
            client.recv(size, socket.MSG_WAITALL)
            client.settimeout(0.2)
            while True:
                cluster.clock.advance("10m")
                try:
                    assert client.recv(1) == b""
                    break
                except TimeoutError:
                    # It has not noticed yet that the client sends no more.
                    continue
