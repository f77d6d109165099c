"""Real clients as members of consumer groups (KIP-848): each record is read once."""

from __future__ import annotations

import pytest

from mockbroker.clients.drivers import command_for, open_driver
from mockbroker.contents.values import GroupDescription

from ..turns import in_turn
from .consumer_members import CLIENTS, CONFIG, GROUP, PARTITIONS, playing, write

SHORT_SESSIONS = {
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "5000",
}
RECORDS = 4_000


@pytest.mark.parametrize("client", in_turn(CLIENTS, 2))
@pytest.mark.trio
async def test_each_record_is_read_once(client: str) -> None:
    """By members that join, leave and are killed with more to read, on a coordinator that moves and dies."""
    async with (
        playing(client, config=CONFIG | SHORT_SESSIONS) as (served, driver, members),
        open_driver(command_for(client)) as another,
    ):
        await write(served, 800)
        await members.join(driver, "a")
        await members.read_until(200)
        await members.join(driver, "b")
        await members.share()
        await members.read_until(800)

        await write(served, 800)
        await members.read_until(1000)
        served.move_coordinator(group=GROUP)
        await members.read_until(1600)
        group = members.described()
        assert (group.type, len(group.members)) == ("consumer", 2)

        await write(served, 800)
        await members.read_until(1800)
        killed = group.coordinator
        assert killed is not None
        served.kill_broker(killed)
        await members.poll_until(lambda group: group.coordinator not in (None, killed))
        await members.read_until(2400)

        await members.join(another, "c")
        await write(served, 800)
        await members.read_until(2600)
        await members.leave("a")
        await members.share()
        await members.read_until(3200)

        await write(served, 800)
        await members.read_until(3400)
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
    async with playing(client) as (served, driver, members):
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
    async with playing(client) as (served, driver, members):
        await write(served, 20)
        await members.join(driver, "a", ["^orders.*"])
        await members.read_until(20)
        served.create_topic("orders-of-today")
        served.clock.advance("11s")  # the coordinator looks every ten seconds at most
        await members.poll_until(lambda group: len(group.members[0].assignment or ()) == PARTITIONS + 1)
