"""Real clients as members of one consumer group (KIP-848), and what they have read."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio
from confluent_kafka import Producer

from mockbroker.clients.drivers import SHIPPED, Answer, Driver, command_for, open_driver
from mockbroker.contents.values import GroupDescription
from mockbroker.names import Fault, ReleaseName
from mockbroker.protocol.errors import ErrorCode
from mockbroker.server.serving import ServedCluster, serve

LIMIT_S = 40
LIMIT_MS = 1000 * LIMIT_S
GROUP = "shop"
TOPIC = "orders"
PARTITIONS = 4
CONFIG = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "1",
    "broker.session.timeout.ms": "1000",
}
NOTHING_TO_COMMIT = "_NO_OFFSET"
MOVING = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.REBALANCE_IN_PROGRESS,
    None,
}
"""Without a code the client could not reach its coordinator. No broker answers REBALANCE_IN_PROGRESS in a
group of this protocol: franz-go says it of partitions that were taken away while it committed."""


def needing(client: str, *others: str) -> Any:
    """Parameters of a test of a client that is made of other things than Python packages."""
    marks = [pytest.mark.needs(*SHIPPED[client].needs), pytest.mark.timeout(900)]
    return pytest.param(client, *others, marks=marks)


CLIENTS = ["confluent-kafka", needing("java"), needing("franz-go")]
Position = tuple[str, int, int]
"""Topic, partition, offset."""


class Members:
    """Members of one group. A record is read once a commit covers it: what a member has read of a partition
    and not committed is nobody's when the partition is taken away from it, or when it dies.

    `twice` are partitions that one said it has while another still had them.
    """

    def __init__(self, served: ServedCluster) -> None:
        self._served = served
        self._drivers: dict[str, Driver] = {}
        self._owned: dict[str, set[tuple[str, int]]] = {}
        self._uncommitted: dict[str, list[Position]] = {}
        self.read: Counter[Position] = Counter()
        self.twice: list[str] = []

    @property
    def names(self) -> list[str]:
        return list(self._drivers)

    @property
    def unread(self) -> int:
        """How many records members have got and not committed."""
        return sum(map(len, self._uncommitted.values()))

    async def join(
        self,
        driver: Driver,
        name: str,
        topics: Sequence[str] = (TOPIC,),
        config: Mapping[str, Any] | None = None,
    ) -> None:
        given = {
            "bootstrap.servers": self._served.bootstrap_servers,
            "client.id": name,
            "group.id": GROUP,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **(config or {}),
        }
        driver.listen(name, partial(self._told, name))
        self._owned[name], self._uncommitted[name] = set(), []
        ok(await driver.call("open", name, kind="consumer", config=given))
        ok(await driver.call("subscribe", name, topics=list(topics)))
        self._drivers[name] = driver

    async def leave(self, name: str) -> None:
        ok(await self._forget(name).call("close", name, LIMIT_MS))
        del self._owned[name]

    def kill(self, name: str) -> None:
        """Its process, with all others in it."""
        self._forget(name).kill()
        del self._owned[name]

    def _forget(self, name: str) -> Driver:
        del self._uncommitted[name]
        return self._drivers.pop(name)

    @property
    def owners(self) -> set[str]:
        """Who has partitions, as the clients themselves say."""
        return {name for name, owned in self._owned.items() if owned}

    def _told(self, name: str, event: str, fields: Mapping[str, Any]) -> None:
        partitions = {(topic, index) for topic, index in fields.get("partitions", ())}
        if event == "assigned":
            for other, owned in self._owned.items():
                if other != name and owned & partitions:
                    self.twice.append(f"{owned & partitions} were {other}'s when {name} got them")
            self._owned[name] |= partitions
        elif event in ("revoked", "lost"):
            self._owned[name] -= partitions
            self._give_up(name, partitions)

    def _give_up(self, name: str, partitions: set[tuple[str, int]]) -> None:
        """The news may come before the answer to a commit that went well."""
        gone = [each for each in self._uncommitted.get(name, ()) if each[:2] in partitions]
        if gone:
            committed = self._served.committed(GROUP)
            self.read.update(
                each for each in gone if each[:2] in committed and each[2] < committed[each[:2]].offset
            )
            self._uncommitted[name] = [each for each in self._uncommitted[name] if each not in gone]

    async def share(self) -> None:
        """Polls until all partitions are shared evenly."""
        each = PARTITIONS // len(self.names)

        def shared(group: GroupDescription) -> bool:
            shares = [len(member.assignment or ()) for member in group.members]
            return group.state == "Stable" and shares == [each] * len(self.names)

        await self.poll_until(shared)

    async def poll_until(self, check: Callable[[GroupDescription], bool]) -> None:
        with trio.fail_after(LIMIT_S):
            while (group := self._served.groups().get(GROUP)) is None or not check(group):
                await self._poll()

    async def read_until(self, count: int) -> None:
        """Polls and commits until so many records are read."""
        with trio.fail_after(LIMIT_S):
            while self.read.total() < count:
                await self._poll()
                if self.read.total() + self.unread >= count:
                    for name in self.names:
                        await self._commit(name)

    async def _commit(self, name: str) -> None:
        """Some clients have to be asked again while their coordinator or their partitions move."""
        while True:
            answer = await self._drivers[name].call("commit", name, LIMIT_MS, partial(self._answered, name))
            if answer.error is None or answer.error.name == NOTHING_TO_COMMIT:
                return
            assert answer.error.code in MOVING, answer.error
            await self._poll()

    def _answered(self, name: str, answer: Answer) -> None:
        if answer.error is None:
            self.read.update(self._uncommitted[name])
            self._uncommitted[name] = []

    async def _poll(self) -> None:
        for name, driver in self._drivers.items():
            for each in ok(await driver.call("poll", name, 50))["records"]:
                if (each["topic"], each["partition"]) in self._owned[name]:
                    self._uncommitted[name].append((each["topic"], each["partition"], each["offset"]))

    def described(self) -> GroupDescription:
        return self._served.group(GROUP)


def ok(answer: Answer) -> Mapping[str, Any]:
    assert answer.error is None, answer.error
    assert answer.ok is not None
    return answer.ok


async def write(served: ServedCluster, count: int, topic: str = TOPIC) -> None:
    """Records in turn to the partitions that a topic has at first."""
    producer = Producer({"bootstrap.servers": served.bootstrap_servers, "linger.ms": 20})
    for number in range(count):
        producer.produce(topic, f"order {number}", partition=number % PARTITIONS)
    assert await trio.to_thread.run_sync(producer.flush, LIMIT_S) == 0


@asynccontextmanager
async def playing(
    client: str,
    *,
    kafka: ReleaseName = "4.4",
    config: Mapping[str, str] = CONFIG,
    faults: Sequence[Fault] = (),
) -> AsyncIterator[tuple[ServedCluster, Driver, Members]]:
    """A cluster with a topic, a driver of the client, and a group without members yet."""
    async with (
        serve(kafka=kafka, topics={TOPIC: PARTITIONS}, config=config, faults=faults) as served,
        open_driver(command_for(client)) as driver,
    ):
        yield served, driver, Members(served)
