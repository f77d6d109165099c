"""A connection to a broker with faults, or with a trace too: requests by name, and what is on the wire."""

from typing import Any

from mockbroker.cluster.cluster import Cluster
from mockbroker.faults import Faults
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import decode, encode
from mockbroker.trace import Trace

from .cluster import a_cluster, create
from .connections import ConnectionDriver, answered, written
from .wire import request

VERSIONS = {
    "metadata": 8,
    "produce": 8,
    "fetch": 11,
    "heartbeat": 3,
    "end_txn": 1,
    "find_coordinator": 2,
    "list_groups": 2,
}
"""Of each API the newest with a header of version 1."""


def named_request(api: str, version: int, fields: dict[str, Any], correlation_id: int) -> bytes:
    return request(ApiKey[api.upper()], version, encode(api, version, fields), correlation_id)


class FaultyDriver(ConnectionDriver):
    """A cluster with topic `t` of two partitions, its faults, and a connection to broker 1."""

    def __init__(self, brokers: int = 3, kafka: str = "4.4") -> None:
        cluster = a_cluster(kafka, brokers)
        create(cluster, "t", 2, brokers)
        self.begin(cluster, None)

    def begin(self, cluster: Cluster, trace: Trace | None) -> None:
        self.faults = Faults(cluster)
        super().__init__(cluster, self.faults, trace)
        self.connection = self.connect()

    def send(self, api: str, correlation_id: int = 7, version: int | None = None, **fields: Any) -> None:
        version = VERSIONS[api] if version is None else version
        self.receive(named_request(api, version, fields, correlation_id))

    def receive(self, frame: bytes) -> None:
        """The broker gets it."""
        self.connection.receive(memoryview(frame).toreadonly())

    def sent(self) -> bytes:
        """What is on the wire since the last time."""
        return written(self.connection)

    def answers(self) -> list[int]:
        """The correlation ids of the answers on the wire."""
        return [correlation_id for correlation_id, _ in answered(self.connection)]

    def call(self, api: str, **fields: Any) -> dict[str, Any]:
        self.send(api, **fields)
        return decode(api, VERSIONS[api], self.sent()[4:])

    def produce(self, partition: int = 0, **fields: Any) -> None:
        data = [{"index": partition, "records": batch([Record(timestamp=0)])}]
        self.send("produce", acks=1, topic_data=[{"name": "t", "partition_data": data}], **fields)

    def log_end_offset(self, partition: int = 0) -> int:
        return self.cluster.topics["t"].partitions[partition].log.end_offset

    def fetch(self) -> bytes:
        """The records of partition 0."""
        partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
        topics = [{"topic": "t", "partitions": [partition]}]
        answer = self.call("fetch", replica_id=-1, max_bytes=1 << 20, topics=topics)
        (found,) = answer["responses"][0]["partitions"]
        return bytes(found["records"])


class TracedDriver(FaultyDriver):
    """One broker with topic `t` of one partition, and a trace, which is on unless told."""

    def __init__(self, *, on: bool = True, bodies: bool = True, kept: int | None = None) -> None:
        cluster = a_cluster(brokers=1)
        cluster.create_topic("t", [[1]])
        self.trace = Trace(cluster, kept)
        self.begin(cluster, self.trace)
        if on:
            self.trace.start(bodies=bodies)
