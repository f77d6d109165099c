"""What a client leaves behind when it goes."""

import gc
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from mockbroker import MockCluster
from mockbroker.protocol.messages.produce import PartitionProduceData

from ..driving import wire
from ..driving.clients import address

PARTITIONS = 100


NULL_RECORDS = struct.pack(">hhii", -1, 1, 5000, 1) + wire.text("t") + struct.pack(">i", PARTITIONS)
NULL_RECORDS += b"".join(struct.pack(">ii", index, -1) for index in range(PARTITIONS))


def test_nothing_is_kept_of_requests_that_are_never_answered() -> None:
    """A Produce of null records is not answered, nor are requests after it."""
    with connected() as (cluster, client):
        client.sendall(wire.request(0, 7, NULL_RECORDS) + wire.request(0, 7, NULL_RECORDS))
        gc.collect()
        gc.disable()
        try:
            client.sendall(wire.request(0, 7, NULL_RECORDS) * 1000)
            client.shutdown(socket.SHUT_WR)
            # It gives the connection up once it has read all of it.
            assert client.recv(1) == b""
            assert kept(cluster) == 0
        finally:
            gc.enable()


def test_a_client_gets_the_answers_to_what_it_asked_before() -> None:
    with connected() as (_, client):
        client.sendall(wire.api_versions() + wire.request(0, 7, NULL_RECORDS))
        client.shutdown(socket.SHUT_WR)
        (size,) = struct.unpack(">i", client.recv(4, socket.MSG_WAITALL))
        assert len(client.recv(size, socket.MSG_WAITALL)) == size
        assert client.recv(1) == b""


@contextmanager
def connected() -> Iterator[tuple[MockCluster, socket.socket]]:
    with (
        MockCluster(brokers=1, topics={"t": PARTITIONS}) as cluster,
        socket.create_connection(address(cluster), timeout=60) as client,
    ):
        yield cluster, client


def kept(cluster: MockCluster) -> int:
    """How many partitions of Produce requests there are, once its thread has done what it does."""
    cluster.run(lambda _: None)
    return sum(type(each) is PartitionProduceData for each in gc.get_objects())
