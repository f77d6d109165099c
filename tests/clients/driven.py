"""Any client that has a driver, in the scenario."""

from __future__ import annotations

import base64
import concurrent.futures
import itertools
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final

from mockbroker.clients.drivers import Answer
from mockbroker.clients.drivers.in_thread import Client as Driven
from mockbroker.clients.drivers.in_thread import taken

from . import scenario
from .scenario import BATCH, PARTITIONS, SESSION_MS, TIMEOUT, Plan, Record

LIMIT_MS: Final = int(1000 * TIMEOUT)
POLL_MS: Final = 200
_NUMBERS: Final = itertools.count(1)
COMMITS_ITSELF: Final = ("kafka-python", "KafkaJS")
"""These commit when a rebalance begins, and can't be told to commit then."""
NOTHING_READ: Final = "_NO_OFFSET"


def handle(what: str) -> str:
    """A name for a handle that no other has."""
    return f"{what}-{next(_NUMBERS)}"


class Client:
    """`config` is for all of its handles."""

    def __init__(self, driven: Driven, bootstrap: str, config: Mapping[str, Any] | None = None) -> None:
        self.driven = driven
        self.config = {"bootstrap.servers": bootstrap, **(config or {})}

    def open(self, kind: str, config: Mapping[str, Any], name: str | None = None) -> str:
        name = handle(kind) if name is None else name
        whole = {"client.id": name, **self.config, **config}
        given = {setting: value for setting, value in whole.items() if value is not None}
        self.driven.call("open", name, LIMIT_MS, kind=kind, config=given)
        return name

    def close(self, name: str) -> None:
        self.driven.call("close", name, LIMIT_MS)

    def create(self, topic: str, partitions: int = PARTITIONS) -> None:
        admin = self.open("admin", {})
        shape = {"partitions": partitions, "replication_factor": 3}
        self.driven.call("create-topic", admin, LIMIT_MS, topic=topic, **shape)
        self.close(admin)

    def send(
        self, producer: str, topic: str, value: bytes, key: bytes | None = None, partition: int | None = None
    ) -> Future[Answer]:
        """Gives a record to a producer."""
        where = {"topic": topic, "partition": partition}
        return self.driven.send("produce", producer, None, **where, key=key, value=value)

    def produce(self, plan: Plan, indexes: range) -> None:
        config = {
            "compression.type": plan.codec,
            "enable.idempotence": plan.idempotent,
            "acks": "all",
            "linger.ms": 20,
        }
        producer = self.open("producer", config)
        records = [
            {
                "topic": plan.topic,
                "partition": i % PARTITIONS,
                "key": scenario.key(i),
                "value": scenario.value(i),
            }
            for i in indexes
        ]
        # KafkaJS keeps no order among records that it is given at once.
        width = PARTITIONS if self.driven.name.startswith("KafkaJS") else len(records)
        for first in range(0, len(records), width):
            self.driven.produce(producer, records[first : first + width], LIMIT_MS)
        self.close(producer)

    def member(self, plan: Plan, instance: str) -> Member:
        config = {
            "group.id": plan.group,
            "partition.assignment.strategy": plan.assignor,
            "auto.offset.reset": "earliest",
            "heartbeat.interval.ms": 200,
            "session.timeout.ms": SESSION_MS,
            "fetch.max.wait.ms": 100,
            "max.poll.records": BATCH,
        }
        if self.driven.name.startswith("KafkaJS"):  # whose polls return what came with a Fetch
            config["max.partition.fetch.bytes"] = 10_000
        if self.driven.name.startswith(COMMITS_ITSELF):
            config["auto.commit.interval.ms"] = 600_000
        else:
            config["enable.auto.commit"] = False
        if plan.static:
            config["group.instance.id"] = f"{plan.group}-{instance}"
        return Member(self, self.open("consumer", config), plan.topic)


class Member:
    """A consumer that polls unless it makes other calls. It commits when partitions are taken from it."""

    def __init__(self, client: Client, name: str, topic: str) -> None:
        self._client, self._name = client, name
        self._polling: Future[Answer] | None = None
        self._closing = False
        self._read: list[Record] = []
        self._assigned: frozenset[tuple[str, int]] = frozenset()
        commits = not client.driven.name.startswith(COMMITS_ITSELF)
        client.driven.listen(name, self._heard)
        stops_at = {"stops_at": ["revoked"]} if commits else {}
        self._call("subscribe", None, topics=[topic], **stops_at)
        if client.driven.name.startswith("kafka-python"):
            # A consumer that joins before it knows the topic to which it subscribed joins again when it does,
            # and 3.0.12 forgets to finish that second rebalance when a poll times out in the midst of it.
            self._call("partitions", topic=topic)

    def _call(self, verb: str, timeout_ms: int | None = LIMIT_MS, **fields: Any) -> Mapping[str, Any]:
        self._settle()
        return self._client.driven.call(verb, self._name, timeout_ms, **fields)

    def _heard(self, event: str, line: Mapping[str, Any]) -> None:
        """In the driver's thread."""
        if event == "error":
            return
        partitions = frozenset((topic, partition) for topic, partition in line["partitions"])
        if event == "assigned":
            self._assigned |= partitions
            return
        self._assigned -= partitions
        if event == "revoked" and not self._client.driven.name.startswith(COMMITS_ITSELF):
            self._client.driven.begin(self._commit_and_go_on if partitions else self._go_on)

    async def _commit_and_go_on(self) -> None:
        answer = await self._client.driven.driver.call("commit", self._name, LIMIT_MS)
        # What is taken from a member that is being closed may be asked for too late to be committed.
        assert self._closing or answer.error is None or answer.error.name == NOTHING_READ, answer.error
        await self._go_on()

    async def _go_on(self) -> None:
        await self._client.driven.driver.call("go-on", self._name)

    @property
    def assigned(self) -> frozenset[int]:
        return frozenset(partition for _, partition in self._assigned)

    @property
    def partitions(self) -> list[list[Any]]:
        return sorted([topic, partition] for topic, partition in self._assigned)

    def poll(self) -> list[Record]:
        if self._polling is None:
            self._polling = self._client.driven.send("poll", self._name, POLL_MS)
        if concurrent.futures.wait([self._polling], 0.05).done:
            self._settle()
        found, self._read = self._read, []
        return found

    def _settle(self) -> None:
        """Waits for the poll that is under way."""
        if self._polling is not None:
            polled = taken(self._polling.result(TIMEOUT))
            self._polling = None
            assert not polled.get("errors"), polled["errors"]
            self._read += [
                Record(
                    each["partition"],
                    each["offset"],
                    base64.b64decode(each["key"]),
                    base64.b64decode(each["value"]),
                )
                for each in polled["records"]
            ]

    def hold(self) -> None:
        self._call("pause", None, partitions=self.partitions)

    def release(self) -> None:
        self._call("resume", None, partitions=self.partitions)

    def commit(self) -> None:
        self._call("commit")

    def committed(self) -> dict[int, int]:
        found = self._call("committed", partitions=self.partitions)["offsets"]
        return {partition: offset for _, partition, offset in found}

    def close(self) -> None:
        self._closing = True
        self._call("close")
