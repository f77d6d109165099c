"""Real clients as members of consumer groups (KIP-848): each record is read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import trio

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
NOTHING_TO_COMMIT = "_NO_OFFSET"
MOVING = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
CLIENTS = [
    "confluent-kafka",
    *(
        pytest.param(name, marks=[pytest.mark.needs(*SHIPPED[name].needs), pytest.mark.timeout(900)])
        for name in ("java", "franz-go")
    ),
]


class Members:
    """Members of one group, and what they have read, by partition and offset."""

    def __init__(self, driver: Driver, served: ServedCluster) -> None:
        self._driver, self._served = driver, served
        self.names: list[str] = []
        self.read: Counter[tuple[int, int]] = Counter()

    async def join(self, name: str, topics: Sequence[str] = (TOPIC,), **config: Any) -> None:
        given = {
            "bootstrap.servers": self._served.bootstrap_servers,
            "client.id": name,
            "group.id": GROUP,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **config,
        }
        ok(await self._driver.call("open", name, kind="consumer", config=given))
        ok(await self._driver.call("subscribe", name, topics=list(topics)))
        self.names.append(name)

    async def leave(self, name: str) -> None:
        self.names.remove(name)
        ok(await self._driver.call("close", name, LIMIT_MS))

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
        """Polls until so many records were read, and commits them."""
        with trio.fail_after(LIMIT_S):
            while self.read.total() < count:
                await self._poll()
            for name in self.names:
                await self._commit(name)

    async def _commit(self, name: str) -> None:
        """Some clients have to be asked again while their coordinator moves."""
        while True:
            answer = await self._driver.call("commit", name, LIMIT_MS)
            if answer.error is None or answer.error.name == NOTHING_TO_COMMIT:
                return
            assert answer.error.code in MOVING, answer.error
            await self._poll()

    async def _poll(self) -> None:
        for name in self.names:
            for each in ok(await self._driver.call("poll", name, 50))["records"]:
                self.read[each["partition"], each["offset"]] += 1

    def described(self) -> GroupDescription:
        return self._served.group(GROUP)


def ok(answer: Answer) -> Mapping[str, Any]:
    assert answer.error is None, answer.error
    assert answer.ok is not None
    return answer.ok


async def write(served: ServedCluster, count: int) -> None:
    for number in range(count):
        await served.produce_async(TOPIC, f"order {number}", partition=number % PARTITIONS)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.trio
async def test_each_record_is_read_once(client: str) -> None:
    """By members that join and leave, on a coordinator that moves and dies."""
    async with (
        serve(kafka="4.4", topics={TOPIC: PARTITIONS}, config=CONFIG) as served,
        open_driver(command_for(client)) as driver,
    ):
        members = Members(driver, served)
        await write(served, 40)
        await members.join("a")
        await members.read_until(40)
        await members.join("b")
        await members.share()
        await write(served, 40)
        await members.read_until(80)
        served.move_coordinator(group=GROUP)
        await write(served, 20)
        await members.read_until(100)
        group = members.described()
        assert (group.type, len(group.members)) == ("consumer", 2)
        killed = group.coordinator
        assert killed is not None
        served.kill_broker(killed)
        await members.poll_until(lambda group: group.coordinator not in (None, killed))
        await write(served, 20)
        await members.read_until(120)
        await members.leave("a")
        await members.share()
        await write(served, 20)
        await members.read_until(140)
        assert set(members.read.values()) == {1}
        committed = served.committed(GROUP)
        assert sum(each.offset for each in committed.values()) == 140


@pytest.mark.parametrize("client", CLIENTS[:2])
@pytest.mark.trio
async def test_a_static_member_comes_back_to_what_it_had(client: str) -> None:
    """Under another member id, and without an epoch for the others."""
    async with (
        serve(kafka="4.4", topics={TOPIC: PARTITIONS}, config=CONFIG) as served,
        open_driver(command_for(client)) as driver,
    ):
        members = Members(driver, served)
        await write(served, 40)
        for name in ("a", "b"):
            await members.join(name, **{"group.instance.id": f"instance-{name}"})
        await members.share()
        await members.read_until(40)
        before = members.described()
        await members.leave("b")
        await members.join("b", **{"group.instance.id": "instance-b"})
        await members.share()
        after = members.described()
        assert after.generation == before.generation
        assert _by_instance(after) == _by_instance(before)
        assert {each.member_id for each in after.members} != {each.member_id for each in before.members}
        await write(served, 20)
        await members.read_until(60)
        assert set(members.read.values()) == {1}


def _by_instance(group: GroupDescription) -> dict[str | None, object]:
    return {each.group_instance_id: each.assignment for each in group.members}


@pytest.mark.trio
async def test_a_regular_expression_finds_topics_that_are_made_later() -> None:
    async with (
        serve(kafka="4.4", topics={TOPIC: PARTITIONS}, config=CONFIG) as served,
        open_driver(command_for("confluent-kafka")) as driver,
    ):
        members = Members(driver, served)
        await write(served, 20)
        await members.join("a", topics=["^orders.*"])
        await members.read_until(20)
        served.create_topic("orders-of-today")
        served.clock.advance("11s")  # the coordinator looks every ten seconds at most
        await members.poll_until(lambda group: len(group.members[0].assignment or ()) == PARTITIONS + 1)
