"""Waits until a group is as a test needs it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer
from typer.testing import CliRunner

from mockbroker import BlockingCallError, MockCluster, OptionError, WaitTimeoutError
from mockbroker.cli.ctl import app as ctl

from ..driving.polling import PollingConsumer

CONFIG = {"group.initial.rebalance.delay.ms": "0"}
SOON_S = 0.05


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 6}, config=CONFIG, control=True) as cluster:
        yield cluster


def test_until_members_have_all_partitions(cluster: MockCluster) -> None:
    members = [PollingConsumer(cluster, "billing"), PollingConsumer(cluster, "billing")]
    try:
        found = cluster.wait_for_group("billing", state="Stable", members=2, assigned=6)
        assert sorted(len(each.assignment or ()) for each in found.members) == [3, 3]
    finally:
        for each in members:
            each.leave()
    assert cluster.wait_for_group("billing", state="Empty").members == ()


def test_who_waits_in_vain_is_told_how_it_is(cluster: MockCluster) -> None:
    with pytest.raises(
        WaitTimeoutError, match=r"^within 0.05 s there was no group 'billing': nobody has joined"
    ):
        cluster.wait_for_group("billing", timeout=SOON_S)
    member = PollingConsumer(cluster, "billing")
    try:
        cluster.wait_for_group("billing", state="Stable", assigned=6)
        told = (
            "did not come to members 2, assigned 6 within 0.05 s: it has state Stable, members 1, assigned 6$"
        )
        with pytest.raises(WaitTimeoutError, match=told):
            cluster.wait_for_group("billing", members=2, assigned=6, timeout=SOON_S)
    finally:
        member.leave()


def test_states_that_no_group_has(cluster: MockCluster) -> None:
    with pytest.raises(OptionError, match="no group has the state 'stable': did you mean 'Stable'"):
        cluster.wait_for_group("billing", state="stable")


def test_from_a_shell(cluster: MockCluster) -> None:
    def said(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(ctl, ["--url", str(cluster.control_url), "groups", "wait", *arguments])
        return done.exit_code, done.output

    member = PollingConsumer(cluster, "billing")
    try:
        assert said("billing", "--state", "Stable", "--assigned", "6")[0] == 0
        code, output = said("billing", "--members", "2", "--timeout", str(SOON_S))
        assert (code, "did not come to members 2 within 0.05 s" in output) == (1, True), output
        code, output = said("billing", "--state", "Stabel")
        assert (code, "Stable" in output) == (2, True), output
    finally:
        member.leave()


def test_in_an_event_loop() -> None:
    async def main() -> None:
        async with MockCluster(topics={"orders": 6}, config=CONFIG) as cluster:
            with pytest.raises(BlockingCallError, match=r"`await cluster.wait_for_group_async\(\.\.\.\)`"):
                cluster.wait_for_group("billing")
            consumer = AIOKafkaConsumer(
                "orders", bootstrap_servers=cluster.bootstrap_servers, group_id="billing"
            )
            async with consumer:
                found = await cluster.wait_for_group_async("billing", state="Stable", assigned=6)
                assert len(found.members) == 1
            with pytest.raises(WaitTimeoutError, match="it has state Empty, members 0, assigned 0"):
                await cluster.wait_for_group_async("billing", members=1, timeout=SOON_S)

    asyncio.run(main())
