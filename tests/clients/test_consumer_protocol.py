"""Real clients as members of consumer groups (KIP-848): each record is read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
import trio
from confluent_kafka import Producer

from mockbroker.conformance.drivers import SHIPPED, Answer, Driver, command_for, open_driver
from mockbroker.contents.values import GroupDescription
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
SHORT_SESSIONS = {
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "5000",
}
RECORDS = 10_000
NOTHING_TO_COMMIT = "_NO_OFFSET"
MOVING = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR, None}
"""Without a code the client could not reach its coordinator."""
CLIENTS = [
    "confluent-kafka",
    *(
        pytest.param(name, marks=[pytest.mark.needs(*SHIPPED[name].needs), pytest.mark.timeout(900)])
        for name in ("java", "franz-go")
    ),
]


Heard = Callable[[str, Mapping[str, Any]], None]
Position = tuple[str, int, int]
"""Topic, partition, offset."""


class Members:
    """Members of one group. A record is read once a commit covers it: what a member has read of a partition
    and not committed is nobody's when the partition is taken away from it, or when it dies."""

    def __init__(self, served: ServedCluster) -> None:
        self._served = served
        self._drivers: dict[str, Driver] = {}
        self._owned: dict[str, set[tuple[str, int]]] = {}
        self._uncommitted: dict[str, list[Position]] = {}
        self.read: Counter[Position] = Counter()

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
        heard: Heard = lambda *_: None,
    ) -> None:
        """`heard` gets its events too."""

        def told(event: str, fields: Mapping[str, Any]) -> None:
            self._told(name, event, fields)
            heard(event, fields)

        given = {
            "bootstrap.servers": self._served.bootstrap_servers,
            "client.id": name,
            "group.id": GROUP,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **(config or {}),
        }
        driver.listen(name, told)
        self._owned[name], self._uncommitted[name] = set(), []
        ok(await driver.call("open", name, kind="consumer", config=given))
        ok(await driver.call("subscribe", name, topics=list(topics)))
        self._drivers[name] = driver

    async def leave(self, name: str) -> None:
        ok(await self._forget(name).call("close", name, LIMIT_MS))

    def kill(self, name: str) -> None:
        """Its process, with all others in it."""
        self._forget(name).kill()

    def _forget(self, name: str) -> Driver:
        del self._uncommitted[name]
        return self._drivers.pop(name)

    def _told(self, name: str, event: str, fields: Mapping[str, Any]) -> None:
        partitions = {(topic, index) for topic, index in fields.get("partitions", ())}
        if event == "assigned":
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
        """Some clients have to be asked again while their coordinator moves."""
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


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.trio
async def test_each_record_is_read_once(client: str) -> None:
    """By members that join, leave and are killed with more to read, on a coordinator that moves and dies."""
    async with (
        serve(kafka="4.4", topics={TOPIC: PARTITIONS}, config=CONFIG | SHORT_SESSIONS) as served,
        open_driver(command_for(client)) as driver,
        open_driver(command_for(client)) as another,
    ):
        members = Members(served)
        await write(served, 2000)
        await members.join(driver, "a")
        await members.read_until(500)
        await members.join(driver, "b")
        await members.share()
        await members.read_until(2000)

        await write(served, 2000)
        await members.read_until(2500)
        served.move_coordinator(group=GROUP)
        await members.read_until(4000)
        group = members.described()
        assert (group.type, len(group.members)) == ("consumer", 2)

        await write(served, 2000)
        await members.read_until(4500)
        killed = group.coordinator
        assert killed is not None
        served.kill_broker(killed)
        await members.poll_until(lambda group: group.coordinator not in (None, killed))
        await members.read_until(6000)

        await members.join(another, "c")
        await write(served, 2000)
        await members.read_until(6500)
        await members.leave("a")
        await members.share()
        await members.read_until(8000)

        await write(served, 2000)
        await members.read_until(8500)
        members.kill("c")
        await members.share()
        await members.read_until(RECORDS)
        assert set(members.read.values()) == {1}
        assert len(members.read) == RECORDS
        committed = served.committed(GROUP)
        assert sum(each.offset for each in committed.values()) == RECORDS


@pytest.mark.parametrize("client", CLIENTS[:2])
@pytest.mark.trio
async def test_a_static_member_comes_back_to_what_it_had(client: str) -> None:
    """Under another member id, and without an epoch for the others."""
    async with (
        serve(kafka="4.4", topics={TOPIC: PARTITIONS}, config=CONFIG) as served,
        open_driver(command_for(client)) as driver,
    ):
        members = Members(served)
        await write(served, 40)
        for name in ("a", "b"):
            await members.join(driver, name, config={"group.instance.id": f"instance-{name}"})
        await members.share()
        await members.read_until(40)
        before = members.described()
        await members.leave("b")
        await members.join(driver, "b", config={"group.instance.id": "instance-b"})
        await members.poll_until(lambda group: not _ids(before) >= _ids(group))
        await members.share()
        after = members.described()
        assert after.generation == before.generation
        assert _by_instance(after) == _by_instance(before)
        await write(served, 20)
        await members.read_until(60)
        assert set(members.read.values()) == {1}


def _by_instance(group: GroupDescription) -> dict[str | None, object]:
    return {each.group_instance_id: each.assignment for each in group.members}


def _ids(group: GroupDescription) -> set[str]:
    return {each.member_id for each in group.members}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.trio
async def test_a_regular_expression_finds_topics_that_are_made_later(client: str) -> None:
    async with (
        serve(kafka="4.4", topics={TOPIC: PARTITIONS}, config=CONFIG) as served,
        open_driver(command_for(client)) as driver,
    ):
        members = Members(served)
        await write(served, 20)
        await members.join(driver, "a", ["^orders.*"])
        await members.read_until(20)
        served.create_topic("orders-of-today")
        served.clock.advance("11s")  # the coordinator looks every ten seconds at most
        await members.poll_until(lambda group: len(group.members[0].assignment or ()) == PARTITIONS + 1)
