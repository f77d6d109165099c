"""`python -m benchmarks.week`: a week of all kinds of traffic, in the cluster's time, and what is kept of it.

Every hour topics, groups, producers, transactions, sessions, connections, faults and configurations come and
go, and brokers restart. What the cluster keeps is counted at the end of each day: what grows from day to day
is a leak.
"""

import argparse
import struct
import sys
from collections import Counter
from random import Random
from typing import Any, Final

from benchmarks.kept import ALL, kept
from mockbroker.cluster import connectivity, controller
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.follower import FollowerState
from mockbroker.conformance.batches import TRANSACTIONAL, Record, batch, records
from mockbroker.conformance.client import Client, DisconnectedError
from mockbroker.environment import Environment
from mockbroker.faults import Faults
from mockbroker.protocol.releases import parse
from mockbroker.seeded import streams
from mockbroker.server.connection import Connection
from mockbroker.server.observer import SilentObserver
from mockbroker.trace import Trace

HOUR_MS: Final = 3600 * 1000
START_MS: Final = 1_700_006_400_000
_LONG_MS: Final = 1 << 30
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

    def __init__(self, week: "Week", broker: int, client_id: str | None = "week") -> None:
        super().__init__("memory", 0, client_id)
        self.connection = Connection(
            week.cluster.brokers[broker],
            f"client {next(week.numbers)}",
            "/127.0.0.1",
            SilentObserver(),
            lambda _: None,
            week.faults,
            week.trace,
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


class Week:
    """The cluster, and what goes on in it hour by hour."""

    def __init__(
        self, kafka: str = "4.4", seed: int = 1, *, traced: bool = True, step_hours: int = 1
    ) -> None:
        release = parse(kafka)
        self.random = Random(seed)
        self.cluster = Cluster(Environment(release, streams(seed), config=CONFIG, now_ms=START_MS))
        self.faults = Faults(self.cluster)
        self.trace = Trace(self.cluster, kept=100)
        if traced:
            self.trace.start()
        self.numbers = iter(range(1 << 60))
        self.requests = 0
        self.hour = 0
        """How many steps were played; each is an hour long, or `step_hours`."""
        self._step_ms = step_hours * HOUR_MS
        for topic in ("orders", "payments"):
            self.cluster.create_topic(topic, [[1, 2, 3], [2, 3, 1], [3, 1, 2]])
        self.cluster.create_topic("table", [[1, 2, 3]], {"cleanup.policy": "compact", "segment.ms": "60000"})

    def kept(self) -> Counter[str]:
        return kept(self.cluster, self.faults, self.trace)

    def play(self, hours: int) -> None:
        """So many hours go by."""
        for _ in range(hours * HOUR_MS // self._step_ms):
            self._play_step()

    def _play_step(self) -> None:
        end_ms = START_MS + (self.hour + 1) * self._step_ms
        for happens in (
            self.produce,
            self.transactions,
            self.groups,
            self.topics,
            self.sessions,
            self.connections,
            self.configurations,
            self.what_goes_wrong,
            self.brokers,
        ):
            happens()
            self.pass_ms(60_000)
        self.hour += 1
        self.cluster.advance(end_ms)

    def pass_ms(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)

    def ask(self, broker: int, api: str, version: int, fields: dict[str, Any]) -> dict[str, Any]:
        self.requests += 1
        return InMemory(self, broker).call(api, version, fields)

    def leader(self, topic: str, index: int = 0) -> int:
        return self.cluster.topics[topic].partitions[index].leader

    # -- what happens

    def write(
        self, topic: str, index: int, data: bytes, transactional_id: str | None = None, acks: int = -1
    ) -> Any:
        fields = {
            "transactional_id": transactional_id,
            "acks": acks,
            "timeout": 30_000,
            "topic_data": [{"name": topic, "partition_data": [{"index": index, "records": data}]}],
        }
        answer = self.ask(self.leader(topic, index), "produce", 11, fields)
        return answer["responses"][0]["partition_responses"][0]

    def batch(self, producer_id: int = -1, epoch: int = -1, sequence: int = -1, attributes: int = 0) -> bytes:
        return batch(
            records(2, self.cluster.now_ms, size=20),
            producer_id=producer_id,
            producer_epoch=epoch,
            sequence=sequence,
            attributes=attributes,
        )

    def produce(self) -> None:
        """A new producer each hour, and deleted records."""
        producer_id = self.ask(1, "init_producer_id", 4, {"transactional_id": None})["producer_id"]
        for index in range(3):
            self.write("orders", index, self.batch(producer_id, 0, 0))
            self.write("table", 0, batch([Record(b"v", f"k{index}".encode(), self.cluster.now_ms)]))
        offset = self.cluster.topics["orders"].partitions[0].log.high_watermark // 2
        partitions = [{"partition_index": 0, "offset": offset}]
        self.ask(
            self.leader("orders"),
            "delete_records",
            2,
            {"topics": [{"name": "orders", "partitions": partitions}], "timeout": 1000},
        )

    def transactions(self) -> None:
        """Committed, aborted, left open until they time out, and never begun; ids change every other hour."""
        for number in range(3):
            name = f"tx-{self.hour // 2}-{number}"
            coordinator = self.cluster.transaction_partition(name).leader
            given = self.ask(
                coordinator,
                "init_producer_id",
                4,
                {"transactional_id": name, "transaction_timeout": 60_000},
            )
            if given["error_code"] != "NONE":
                continue
            producer = {"producer_id": given["producer_id"], "producer_epoch": given["producer_epoch"]}
            whole = {"v3_and_below_" + key: value for key, value in producer.items()}
            self.write(
                "payments",
                1,
                self.batch(given["producer_id"], given["producer_epoch"], 0, TRANSACTIONAL),
                name,
            )
            topics = [{"name": "payments", "partitions": [0]}]
            self.ask(
                coordinator,
                "add_partitions_to_txn",
                3,
                {"v3_and_below_transactional_id": name, "v3_and_below_topics": topics, **whole},
            )
            self.write(
                "payments",
                0,
                self.batch(given["producer_id"], given["producer_epoch"], 0, TRANSACTIONAL),
                name,
            )
            group = f"billing-{self.hour % 4}"
            self.ask(
                coordinator,
                "add_offsets_to_txn",
                3,
                {"transactional_id": name, "group_id": group, **producer},
            )
            partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
            self.ask(
                self.cluster.offsets_partition(group).leader,
                "txn_offset_commit",
                3,
                {
                    "transactional_id": name,
                    "group_id": group,
                    "generation_id": -1,
                    "topics": [{"name": "payments", "partitions": [partition]}],
                    **producer,
                },
            )
            if number < 2:
                self.ask(
                    coordinator,
                    "end_txn",
                    3,
                    {"transactional_id": name, "committed": bool(number), **producer},
                )

    def groups(self) -> None:
        """A group of its own each hour, and one that rebalances with other protocols each time."""
        for group in (f"group-{self.hour}", "steady"):
            coordinator = self.cluster.offsets_partition(group).leader
            join = {
                "group_id": group,
                "session_timeout": 10_000,
                "rebalance_timeout": 20_000,
                "member_id": "",
                "protocol_type": "consumer",
                "protocols": [{"name": f"range-{self.hour}", "metadata": b""}],
            }
            first = self.ask(coordinator, "join_group", 5, join)["member_id"]
            joined = self.ask(coordinator, "join_group", 5, {**join, "member_id": first})
            sync = {"group_id": group, "generation_id": joined["generation_id"], "member_id": first}
            assignments = [{"member_id": first, "assignment": b"a"}]
            self.ask(coordinator, "sync_group", 3, {**sync, "assignments": assignments})
            offset = {"partition_index": 0, "committed_offset": self.hour, "committed_metadata": ""}
            commit = {"group_id": group, "generation_id_or_member_epoch": sync["generation_id"]}
            self.ask(
                coordinator,
                "offset_commit",
                7,
                {**commit, "member_id": first, "topics": [{"name": "orders", "partitions": [offset]}]},
            )
            # One waits for its rebalance, and its client goes away.
            InMemory(self, coordinator).send("join_group", 3, {**join, "member_id": ""})
            self.pass_ms(1_000)
            if self.hour % 2:
                leaving = {"group_id": group, "members": [{"member_id": first}]}
                self.ask(coordinator, "leave_group", 3, leaving)

    def topics(self) -> None:
        """Made, written to, read, committed to, and deleted; some while a follower lags."""
        name = f"topic.{self.hour}"
        self.ask(1, "metadata", 8, {"topics": [{"name": name}], "allow_auto_topic_creation": True})
        partition = self.cluster.topics[name].partitions[0]
        self.write(name, 0, self.batch())
        follower = next(iter(partition.followers))
        partition.set_follower(follower, FollowerState.PAUSED)
        if self.hour % 3:
            InMemory(self, partition.leader).send(
                "produce",
                9,
                {
                    "acks": -1,
                    "timeout": _LONG_MS,
                    "topic_data": [{"name": name, "partition_data": [{"index": 0, "records": self.batch()}]}],
                },
            )
        self.cluster.policies.set("undefined-epoch", "log-end-offset", topic=name)
        self.write(name, 0, self.batch(), acks=1)
        self.cluster.policies.reset("undefined-epoch", topic=name)
        group = f"group-{self.hour}"
        commit = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
        self.ask(
            self.cluster.offsets_partition(group).leader,
            "offset_commit",
            7,
            {
                "group_id": group,
                "generation_id_or_member_epoch": -1,
                "topics": [{"name": name, "partitions": [commit]}],
            },
        )
        self._fetch(partition.leader, [name], max_wait=_LONG_MS, min_bytes=1 << 30)
        self.ask(1, "delete_topics", 5, {"topic_names": [name], "timeout": 1000})

    def _fetch(
        self, broker: int, topics: list[str], *, epoch: int = 0, max_wait: int = 0, min_bytes: int = 0
    ) -> InMemory:
        client = InMemory(self, broker)
        self.requests += 1
        asked = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}]
        client.send(
            "fetch",
            11,
            {
                "replica_id": -1,
                "max_wait": max_wait,
                "min_bytes": min_bytes,
                "max_bytes": 10_000,
                "isolation_level": self.hour % 2,
                "session_epoch": epoch,
                "topics": [{"topic": name, "partitions": asked} for name in topics],
            },
        )
        return client

    def sessions(self) -> None:
        """More sessions than there is room for."""
        for broker in self.cluster.brokers:
            for _ in range(4):
                self._fetch(broker, ["orders", "payments", f"missing-{self.hour}"])

    def connections(self) -> None:
        """With other client ids, in many versions; halves of requests, and what is no request."""
        for client_id in (None, "", f"client-{self.hour}"):
            client = InMemory(self, 1, client_id)
            for api, versions in (("metadata", (1, 5, 8)), ("api_versions", (0, 2))):
                for version in versions:
                    client.call(api, version, {"topics": [{"name": "orders"}]} if api == "metadata" else {})
                    self.requests += 1
            client.connection.receive(memoryview(b"\0\0\1\0half"))
            InMemory(self, 2, client_id).connection.receive(memoryview(b"\0\0\0\4\x7f\x7f\0\0"))
            self._fetch(3, ["table"], max_wait=60_000, min_bytes=1 << 30)

    def configurations(self) -> None:
        """Of groups, subscriptions, topics and brokers, set and taken back."""
        for value in ("60000", None):
            operation = 0 if value else 1
            for kind, name, config in (
                (2, "orders", "retention.ms"),
                (4, "1", "log.cleaner.threads"),
                (4, "", "log.retention.ms"),
                (16, f"metrics-{self.hour}", "interval.ms"),
                (32, f"group-{self.hour}", "consumer.session.timeout.ms"),
            ):
                given = "2" if config.endswith("threads") and value else value
                change = {"name": config, "config_operation": operation, "value": given}
                resource = {"resource_type": kind, "resource_name": name, "configs": [change]}
                self.ask(1, "incremental_alter_configs", 1, {"resources": [resource]})
        for kind, name in ((2, "orders"), (4, "1"), (32, f"group-{self.hour}")):
            asked = {"resource_type": kind, "resource_name": name, "configuration_keys": None}
            self.ask(1, "describe_configs", 4, {"resources": [asked], "include_synonyms": True})

    def what_goes_wrong(self) -> None:
        """Faults that hit and are removed, or need not hit."""
        for _ in range(4):
            self.faults.add("delay", ms=10, api="Metadata")
            self.faults.add("error", error=3, api="Metadata", times=1, topic="nowhere", optional=True)
            InMemory(self, 1).send("metadata", 8, {"topics": []})
            self.pass_ms(20)
            for fault in list(self.faults.rules):
                self.faults.remove(fault)

    def brokers(self) -> None:
        """One is stopped, killed or cut off, and comes back."""
        broker = self.hour % 3 + 1
        match self.hour % 5:
            case 0:
                controller.stop_broker(self.cluster, broker)
            case 1:
                controller.kill_broker(self.cluster, broker)
            case 2:
                others = [each for each in self.cluster.brokers if each != broker]
                connectivity.cut_off(self.cluster, broker, others, from_controller=True)
                self.write("orders", 0, self.batch(), acks=1)
                self.ask(
                    1, "metadata", 8, {"topics": [{"name": "cut.off"}], "allow_auto_topic_creation": True}
                )
                self.ask(1, "delete_topics", 5, {"topic_names": ["cut.off"], "timeout": 1000})
            case _:
                for partition in list(self.cluster.partitions()):
                    controller.move_leader(self.cluster, partition)
        self.pass_ms(60_000)
        controller.start_broker(self.cluster, broker)
        connectivity.rejoin(self.cluster, broker)
        self.pass_ms(60_000)
        for partition in self.cluster.partitions():
            if partition.leader != partition.replicas[0]:
                controller.move_leader(self.cluster, partition, partition.replicas[0])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--kafka", default="4.4")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--step-hours", type=int, default=1, help="less often, with longer pauses")
    parser.add_argument("--no-trace", dest="traced", action="store_false")
    given = parser.parse_args()
    week = Week(given.kafka, given.seed, traced=given.traced, step_hours=given.step_hours)
    days: list[Counter[str]] = []
    for day in range(given.days):
        week.play(24)
        days.append(week.kept())
        sys.stderr.write(f"day {day + 1}: {week.requests:,} requests, {days[-1][ALL]:,} objects\n")
    names = sorted({name for day in days for name in day}, key=lambda name: -days[-1][name])
    sys.stdout.write(
        f"{'kept at the end of day':45}" + "".join(f"{i + 1:8}" for i in range(len(days))) + "\n"
    )
    for name in names:
        counts = [day[name] for day in days]
        if max(counts) > 1:
            sys.stdout.write(f"{name:45}" + "".join(f"{count:8,}" for count in counts) + "\n")


if __name__ == "__main__":
    main()
