"""Real clients whose coordinator tells them another assignment than it keeps, or none (KIP-848)."""

from __future__ import annotations

from typing import Final

import pytest

from mockbroker.names import Fault

from .consumer_members import CLIENTS, GROUP, PARTITIONS, TOPIC, playing, write

HEARTBEAT: Final = "ConsumerGroupHeartbeat"


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.trio
async def test_a_member_that_is_not_told_does_not_read_what_it_was_given(client: str) -> None:
    """For the coordinator it has those partitions, so nobody reads them, until it joins again."""
    async with playing(client) as (served, driver, members):
        for name in ("a", "b"):
            await members.join(driver, name)
        await members.share()
        withheld = served.faults.add("withhold-assignment", client_id="a")
        await members.leave("b")
        await members.poll_until(lambda _: withheld.hits > 0)
        beats = served.faults.add("watch", api=HEARTBEAT, client_id="a")
        await write(served, 8)
        await members.read_until(4)
        await members.poll_until(lambda _: beats.hits >= 10)
        (member,) = members.described().members
        assert (len(member.assignment or ()), members.described().state) == (PARTITIONS, "Stable")
        assert (len(members.read), members.unread) == (4, 0)
        withheld.remove()
        served.evict_member(GROUP, member.member_id)
        await members.read_until(8)
        assert set(members.read.values()) == {1}


@pytest.mark.trio
async def test_librdkafka_asks_for_its_first_assignment_until_it_has_one() -> None:
    """It sends all its fields again, upon which the coordinator tells it again."""
    async with playing("confluent-kafka") as (served, driver, members):
        await write(served, 8)
        withheld = served.faults.add("withhold-assignment", times=3)
        await members.join(driver, "a")
        await members.read_until(8)
        assert withheld.hits == 3


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.trio
async def test_a_member_reads_what_it_is_told_to(client: str) -> None:
    """It believes the answer, whatever the coordinator keeps, and commits what it read."""
    wrong: Fault = {"do": "replace-assignment", "assignment": {TOPIC: [1]}, "client_id": "a"}
    async with playing(client, faults=[wrong]) as (served, driver, members):
        await write(served, 8)
        await members.join(driver, "a")
        await members.read_until(2)
        assert {partition for _, partition, _ in members.read} == {1}
        assert len(members.described().members[0].assignment or ()) == PARTITIONS


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.trio
async def test_two_members_that_are_told_the_same_read_it_twice(client: str) -> None:
    async with playing(client) as (served, driver, members):
        for name in ("a", "b"):
            await members.join(driver, name)
        await members.share()
        shared = served.faults.add("share-assignment", api=HEARTBEAT, client_id="b", member="a")
        await members.poll_until(lambda _: shared.hits >= 3)
        await write(served, 8)
        await members.read_until(12)
        assert len(members.read) == 8
        assert sorted(members.read.values()) == [1] * 4 + [2] * 4
        assert members.twice
