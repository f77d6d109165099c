"""What happens between commands, by clients that are not the tools'.

> produce TOPIC:PARTITION COUNT [FIRST]   records with a key, an hour apart since FIRST (a date)
> join MEMBER GROUP PROTOCOL TOPIC…       a member (`classic` or `consumer`), until it has partitions
> read MEMBER COUNT                       it reads so many records, and commits
> stream MEMBER GROUP TOPIC               an instance of Kafka Streams that keeps state, until it has tasks
> leave MEMBER
> begin ID TOPIC:PARTITION COUNT          a transaction with records
> commit ID TOPIC:PARTITION              until its marker is there
> abort ID TOPIC:PARTITION
> file NAME TEXT                          writes a file that commands can name; \\n is a new line
> stop BROKER
> kill BROKER
> start BROKER
> in_sync TOPIC                           waits until all replicas are
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from confluent_kafka import Consumer, IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from mockbroker.rig.client import Client

from ..scenario import TIMEOUT

HOUR_MS = 3_600_000
_COMPACTED = {"key": "cleanup.policy", "value": "compact"}


class Cluster(Protocol):
    @property
    def bootstrap_servers(self) -> str: ...

    def stop_broker(self, node: int, /) -> None: ...

    def kill_broker(self, node: int, /) -> None: ...

    def start_broker(self, node: int, /) -> None: ...


class Instance:
    """A member of a streams group with a table of a topic, that sends no more heartbeats than it has to."""

    def __init__(self, bootstrap: str, name: str, group: str, topic: str) -> None:
        host, port = bootstrap.split(",")[0].rsplit(":", 1)
        with Client(host, int(port)) as client:

            def found() -> bool:
                asked = {"key_type": 0, "coordinator_keys": [group]}
                (self._found,) = client.call("find_coordinator", 4, asked)["coordinators"]
                return bool(self._found["error_code"] == "NONE")

            _until(found)
        self._client = Client(self._found["host"], self._found["port"], name)
        self._name, self._group = name, group
        changelog = {"name": f"{group}-table-changelog", "topic_configs": [_COMPACTED]}
        table = {"subtopology_id": "0", "source_topics": [topic], "state_changelog_topics": [changelog]}
        self._joining = {
            "rebalance_timeout": 300_000,
            "topology": {"epoch": 0, "subtopologies": [table]},
            "process_id": f"process of {name}",
            "client_tags": [],
            **{f"{kind}_tasks": [] for kind in ("active", "standby", "warmup")},
        }

    def beat(self) -> bool:
        """Whether it has tasks."""
        return bool(self._ask(0, **self._joining)["active_tasks"])

    def leave(self) -> None:
        assert self._ask(-1)["error_code"] == "NONE"
        self._client.close()

    def _ask(self, epoch: int, **fields: Any) -> dict[str, Any]:
        asked = {"group_id": self._group, "member_id": self._name, "member_epoch": epoch, **fields}
        return self._client.call("streams_group_heartbeat", 0, asked)


class Actions:
    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        self._members: dict[str, Consumer] = {}
        self._instances: dict[str, Instance] = {}
        self._producers: dict[str, Producer] = {}

    def __call__(self, line: str) -> None:
        name, *words = shlex.split(line)
        method: Callable[..., None] = getattr(self, name)
        method(*words)

    def close(self) -> None:
        for member in self._members.values():
            member.close()

    def produce(self, where: str, count: str, first: str = "") -> None:
        producer = self._producer()
        _write(producer, where, int(count), first)
        assert producer.flush(TIMEOUT) == 0

    def join(self, name: str, group: str, protocol: str, *topics: str) -> None:
        member = self._members[name] = Consumer(
            {
                "bootstrap.servers": self._cluster.bootstrap_servers,
                "client.id": name,
                "group.id": group,
                "group.protocol": protocol,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        member.subscribe(list(topics))
        _until(lambda: member.poll(0.1) is None and bool(member.assignment()))

    def read(self, name: str, count: str) -> None:
        member = self._members[name]
        read = 0
        end = time.monotonic() + TIMEOUT
        while read < int(count):
            assert time.monotonic() < end, f"{read} of {count} records"
            message = member.poll(0.1)
            read += message is not None and message.error() is None
        member.commit(asynchronous=False)

    def stream(self, name: str, group: str, topic: str) -> None:
        instance = self._instances[name] = Instance(self._cluster.bootstrap_servers, name, group, topic)
        _until(instance.beat)

    def leave(self, name: str) -> None:
        if (instance := self._instances.pop(name, None)) is not None:
            instance.leave()
        else:
            self._members.pop(name).close()

    def begin(self, transaction: str, where: str, count: str) -> None:
        producer = self._producers.get(transaction)
        if producer is None:
            producer = self._producers[transaction] = self._producer(transaction)
            producer.init_transactions(TIMEOUT)
        producer.begin_transaction()
        _write(producer, where, int(count), "")
        producer.flush(TIMEOUT)

    def commit(self, transaction: str, where: str) -> None:
        self._producers[transaction].commit_transaction(TIMEOUT)
        self._ended(where)

    def abort(self, transaction: str, where: str) -> None:
        self._producers[transaction].abort_transaction(TIMEOUT)
        self._ended(where)

    def _ended(self, where: str) -> None:
        """The coordinator answers before it writes markers."""
        topic, _, partition = where.rpartition(":")
        asked = TopicPartition(topic, int(partition))

        def latest(level: IsolationLevel) -> object:
            newest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
            return (
                self._admin.list_offsets({asked: newest}, isolation_level=level)[asked].result(TIMEOUT).offset
            )

        _until(lambda: latest(IsolationLevel.READ_COMMITTED) == latest(IsolationLevel.READ_UNCOMMITTED))

    def file(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text.replace("\\n", "\n"))

    def stop(self, broker: str) -> None:
        self._cluster.stop_broker(int(broker))

    def kill(self, broker: str) -> None:
        self._cluster.kill_broker(int(broker))

    def start(self, broker: str) -> None:
        self._cluster.start_broker(int(broker))

    def in_sync(self, topic: str, replicas: str = "") -> None:
        def full() -> bool:
            partitions = self._admin.list_topics(topic, timeout=TIMEOUT).topics[topic].partitions.values()
            return all(
                set(each.replicas) == set(each.isrs) and len(each.isrs) == int(replicas or len(each.isrs))
                for each in partitions
            )

        _until(full)

    def _producer(self, transaction: str = "") -> Producer:
        config = {"bootstrap.servers": self._cluster.bootstrap_servers, "linger.ms": "50", "log_level": "0"}
        if transaction:
            config |= {"transactional.id": transaction, "transaction.timeout.ms": "600000"}
        return Producer(config)


def _write(producer: Producer, where: str, count: int, first: str) -> None:
    topic, _, partition = where.rpartition(":")
    began = datetime.fromisoformat(first).replace(tzinfo=UTC).timestamp() * 1000 if first else 0
    for number in range(count):
        stamp = int(began) + number * HOUR_MS if first else 0
        producer.produce(topic, f"value {number}", f"key {number}", int(partition), timestamp=stamp)


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not holds():
        assert time.monotonic() < end
