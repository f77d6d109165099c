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
