"""A cluster in time of its own, and connections to it that need no socket."""

import struct
from typing import Any, Final

from mockbroker.cluster.cluster import Cluster
from mockbroker.environment import Environment
from mockbroker.faults import Faults
from mockbroker.protocol.releases import parse
from mockbroker.rig.batches import batch, records
from mockbroker.rig.client import Client, DisconnectedError
from mockbroker.seeded import streams
from mockbroker.server.connection import Connection
from mockbroker.server.observer import SilentObserver
from mockbroker.trace import Trace

START_MS: Final = 1_700_006_400_000
LONG_MS: Final = 1 << 30
CONFIG: Final = {
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.min.cleanable.ratio": "0.1",
    "log.retention.hours": "12",
    "log.roll.hours": "1",
    "max.incremental.fetch.session.cache.slots": "8",
    "offsets.retention.minutes": "600",
    "offsets.topic.num.partitions": "2",
    "producer.id.expiration.ms": "43200000",
    "transaction.state.log.num.partitions": "2",
    "transactional.id.expiration.ms": "43200000",
}
"""Half a day, so that a day has seen all that there will be."""


class InMemory(Client):
    """A connection without a socket; `gone` leaves it as one whose client went away."""

    def __init__(self, stage: "WeekCluster", broker: int, client_id: str | None = "week") -> None:
        super().__init__("memory", 0, client_id)
        self.connection = Connection(
            stage.cluster,
            stage.cluster.brokers[broker],
            f"client {next(stage.numbers)}",
            "/127.0.0.1",
            SilentObserver(),
            lambda _: None,
            stage.faults,
            stage.trace,
        )

    def send_frame(self, frame: bytes) -> None:
        self.connection.receive(memoryview(struct.pack(">i", len(frame)) + frame).toreadonly())

    def read_frame(self) -> bytes:
        answer = b"".join(bytes(part) for part in self.connection.out)
        if not answer:
            raise DisconnectedError("no answer")
        self.connection.out.clear()
        self.connection.out_bytes = 0
        return answer[4:]


class WeekCluster:
    """The cluster, and clients of it that need no socket."""

    def __init__(self, kafka: str = "4.4", seed: int = 1, *, traced: bool = True) -> None:
        release = parse(kafka)
        self.cluster = Cluster(Environment(release, streams(seed), config=CONFIG, now_ms=START_MS))
        self.faults = Faults(self.cluster)
        self.trace = Trace(self.cluster, kept=100)
        if traced:
            self.trace.start()
        self.numbers = iter(range(1 << 60))
        self.requests = 0
        self.hour = 0
        """How many steps of the week were played."""
        for topic in ("orders", "payments"):
            self.cluster.create_topic(topic, [[1, 2, 3], [2, 3, 1], [3, 1, 2]])
        self.cluster.create_topic("table", [[1, 2, 3]], {"cleanup.policy": "compact", "segment.ms": "60000"})

    def pass_ms(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)

    def ask(self, broker: int, api: str, version: int, /, **fields: Any) -> dict[str, Any]:
        self.requests += 1
        return InMemory(self, broker).call(api, version, fields)

    def leader(self, topic: str, index: int = 0) -> int:
        return self.cluster.topics[topic].partitions[index].leader

    def write(
        self, topic: str, index: int, data: bytes, transactional_id: str | None = None, acks: int = -1
    ) -> Any:
        wanted = {"transactional_id": transactional_id, "acks": acks, "timeout": 30_000}
        topic_data = [{"name": topic, "partition_data": [{"index": index, "records": data}]}]
        answer = self.ask(self.leader(topic, index), "produce", 11, topic_data=topic_data, **wanted)
        return answer["responses"][0]["partition_responses"][0]

    def batch(self, **of_producer: Any) -> bytes:
        """Two records; the fields are those of `rig.batches.batch`."""
        return batch(records(2, self.cluster.now_ms, size=20), **of_producer)

    def fetch(
        self, broker: int, topics: list[str], *, epoch: int = 0, max_wait: int = 0, min_bytes: int = 0
    ) -> InMemory:
        client = InMemory(self, broker)
        self.requests += 1
        asked = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}]
        limits = {"max_wait": max_wait, "min_bytes": min_bytes, "max_bytes": 10_000}
        reader = {"replica_id": -1, "isolation_level": self.hour % 2, "session_epoch": epoch}
        named = [{"topic": name, "partitions": asked} for name in topics]
        client.send("fetch", 11, {**limits, **reader, "topics": named})
        return client
