"""A group of real clients changes from the classic to the consumer protocol and back, while records are
produced (KIP-848)."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from mockbroker.contents.values import GroupDescription
from mockbroker.names import ReleaseName
from mockbroker.server.serving import ServedCluster

from .consumer_members import CONFIG, GROUP, LIMIT_S, PARTITIONS, TOPIC, needing, playing

QUICK: dict[str, Any] = {"heartbeat.interval.ms": 100, "session.timeout.ms": 6000}
CLIENTS = [
    ("confluent-kafka", "4.0"),
    ("confluent-kafka", "4.4"),
    needing("java", "4.4"),
    needing("franz-go", "4.4"),
]


async def produce(served: ServedCluster, written: list[int], enough: trio.Event) -> None:
    while not enough.is_set():
        await served.produce_async(TOPIC, f"order {len(written)}", partition=len(written) % PARTITIONS)
        written.append(len(written))
        await trio.sleep(0.005)


@pytest.mark.parametrize(("client", "kafka"), CLIENTS)
@pytest.mark.trio
async def test_a_group_changes_its_protocol_and_changes_back(client: str, kafka: ReleaseName) -> None:
    """One member after the other is replaced; all records are read, and no partition has two owners."""
    async with playing(client, kafka=kafka) as (served, driver, members):
        written, enough = list[int](), trio.Event()

        async def join(name: str, protocol: str) -> None:
            quick = QUICK if protocol == "classic" else {}
            config = {"group.protocol": protocol, **quick}
            await members.join(driver, name, config=config)
            await settled()

        def shared(group: GroupDescription) -> bool:
            shares = [len(each.assignment or ()) for each in group.members]
            return group.state == "Stable" and len(shares) == len(members.names) and sum(shares) == PARTITIONS

        async def leave(name: str) -> None:
            await members.leave(name)
            await settled()

        async def settled() -> None:
            await members.poll_until(shared)
            await members.read_until(members.read.total() + 20)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(produce, served, written, enough)
            await join("classic 1", "classic")
            await join("classic 2", "classic")
            assert served.group(GROUP).type == "classic"
            await join("consumer 1", "consumer")
            group = served.group(GROUP)
            assert group.type == "consumer"
            assert sorted(each.type for each in group.members) == ["classic", "classic", "consumer"]
            assert {each.epoch for each in group.members} == {group.generation}
            await leave("classic 1")
            await join("consumer 2", "consumer")
            await leave("classic 2")
            assert members.owners == {"consumer 1", "consumer 2"}
            await join("classic 3", "classic")
            await leave("consumer 1")
            assert served.group(GROUP).type == "consumer"
            await leave("consumer 2")
            assert served.group(GROUP).type == "classic"
            await join("classic 4", "classic")
            enough.set()
        await members.read_until(len(written))
        assert set(members.read.values()) == {1}
        assert members.twice == []
        assert sum(each.offset for each in served.committed(GROUP).values()) == len(written)


@pytest.mark.trio
async def test_a_consumer_that_joins_before_the_first_generation_is_useless() -> None:
    """As with real brokers of 4.0.1 and 4.4.0: librdkafka takes UNKNOWN_SERVER_ERROR for fatal."""
    slow = {**CONFIG, "group.initial.rebalance.delay.ms": "3000"}
    async with playing("confluent-kafka", config=slow) as (served, driver, members):
        await members.join(driver, "classic", config={"group.protocol": "classic", **QUICK})
        await members.poll_until(lambda group: bool(group.members))
        await members.join(driver, "consumer")
        with trio.fail_after(LIMIT_S):
            while True:
                answer = await driver.call("poll", "consumer", 50)
                told = answer.error or next(iter((answer.ok or {}).get("errors", ())), None)
                if told is not None:
                    break
        assert "ConsumerGroupHeartbeat fatal error" in str(told)
        assert served.group(GROUP).type == "classic"
