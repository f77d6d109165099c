"""Brokers that are shut down, or killed, and come back: what the others tell, and when.

The tables are what real brokers answered: 2.8.2 with ZooKeeper, 3.9.2 and 4.4.0 with KRaft, where another
broker was the controller.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from mockbroker.cluster.processes import Processes
from mockbroker.protocol import record_batch
from mockbroker.protocol.errors import error_name
from mockbroker.protocol.messages.metadata import MetadataRequest
from mockbroker.rig.batches import batch

from ..driving.cluster import ClusterDriver, configured
from ..driving.partition import epoch_cache

DOWN = 2
SESSION_MS = 6000


class TopicsDriver(ClusterDriver):
    """Three topics: broker 2 has the only replica of one, leads another and follows in the third."""

    def __init__(
        self, kafka: str, config: Mapping[str, str] | None = None, policies: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(configured(kafka, 2, policies, {"log.retention.ms": -1, **(config or {})}))
        assignments = {"only": [DOWN], "leads": [DOWN, 1], "follows": [1, DOWN]}
        self.topics = {name: self.cluster.create_topic(name, [each]) for name, each in assignments.items()}

    def told(self) -> "list[Told]":
        """(error, leader, leader epoch, ISR, offline replicas) of each, as Metadata of broker 1 has it."""
        return [
            (error_name(p.error_code), p.leader_id, p.leader_epoch, list(p.isr_nodes), p.offline_replicas)
            for topic in self._metadata().topics
            for p in topic.partitions
        ]

    def brokers(self) -> list[int]:
        return [broker.node_id for broker in self._metadata().brokers]

    def _metadata(self) -> Any:
        return self.ask(MetadataRequest(topics=None), 8)


Told = tuple[str, int, int, list[int], list[int]]


def led(leader: int, epoch: int, isr: list[int], offline: list[int] | None = None) -> Told:
    return ("NONE", leader, epoch, isr, offline or [])


def nobody(epoch: int) -> Told:
    return ("LEADER_NOT_AVAILABLE", -1, epoch, [DOWN], [DOWN])


EPOCHS = [("2.8", 1), ("3.9", 0)]
"""By how much the leader epoch of a partition rises when a follower's broker goes."""


@pytest.mark.parametrize(("release", "lost"), EPOCHS)
def test_a_broker_that_is_shut_down_and_started(release: str, lost: int) -> None:
    driver = TopicsDriver(release)
    assert driver.told() == [led(2, 0, [2]), led(2, 0, [2, 1]), led(1, 0, [1, 2])]
    driver.stop_broker(DOWN)
    assert driver.told() == [nobody(1), led(1, 1, [1], [2]), led(1, lost, [1], [2])]
    assert driver.brokers() == [1]
    driver.start_broker(DOWN)
    assert driver.told() == [led(2, 2, [2]), led(1, 1, [1, 2]), led(1, lost, [1, 2])]
    assert driver.brokers() == [1, 2]


@pytest.mark.parametrize(("release", "lost"), EPOCHS)
def test_a_broker_that_is_killed_leads_on_until_its_session_is_over(release: str, lost: int) -> None:
    sessions = ("broker.session.timeout.ms", "zookeeper.session.timeout.ms")
    timeouts = dict.fromkeys(sessions, str(SESSION_MS))
    driver = TopicsDriver(release, timeouts)
    before = driver.told()
    driver.kill_broker(DOWN)
    driver.advance(SESSION_MS - 1)
    assert (driver.told(), driver.brokers()) == (before, [1, 2])
    driver.advance(1)
    assert driver.told() == [nobody(1), led(1, 1, [1], [2]), led(1, lost, [1], [2])]
    assert driver.brokers() == [1]
    driver.start_broker(DOWN)
    assert driver.told() == [led(2, 2, [2]), led(1, 1, [1, 2]), led(1, lost, [1, 2])]


@pytest.mark.parametrize(("release", "lost"), EPOCHS)
def test_a_broker_that_is_killed_and_started_at_once_waits_for_its_session(release: str, lost: int) -> None:
    driver = TopicsDriver(release)
    driver.kill_broker(DOWN)
    driver.start_broker(DOWN)
    assert not driver.cluster.brokers[DOWN].online
    driver.advance(60_000)
    assert driver.cluster.brokers[DOWN].online
    assert driver.told() == [led(2, 2, [2]), led(1, 1, [1, 2]), led(1, lost, [1, 2])]


def test_a_broker_killed_again_while_it_waits_stays_down() -> None:
    driver = TopicsDriver("4.4")
    driver.kill_broker(DOWN)
    driver.start_broker(DOWN)
    driver.kill_broker(DOWN)
    driver.advance(60_000)
    assert not driver.cluster.brokers[DOWN].online
    assert driver.brokers() == [1]


SESSIONS = [("0.11", 6000), ("2.4", 6000), ("2.5", 18_000), ("3.2", 18_000), ("3.3", 9000)]


@pytest.mark.parametrize(("release", "session_ms"), SESSIONS)
def test_sessions_last_as_long_as_by_default(release: str, session_ms: int) -> None:
    driver = TopicsDriver(release)
    driver.kill_broker(DOWN)
    driver.advance(session_ms - 1)
    assert driver.brokers() == [1, 2]
    driver.advance(1)
    assert driver.brokers() == [1]


LAGS = [("2.8", 0), ("3.3", 1), ("3.5", 1), ("3.6", 0), ("3.9", 0), ("4.4", 0)]


@pytest.mark.parametrize(("release", "epoch"), LAGS)
def test_a_follower_that_lags_makes_a_new_epoch_up_to_3_5_with_kraft(release: str, epoch: int) -> None:
    """As 3.9.2 and 4.4.0 answered, and as the controllers of 3.5.2 and 3.6.2 are written (KAFKA-15021)."""
    driver = TopicsDriver(
        release, {"zookeeper.session.timeout.ms": "600000"}, {"broker-session": "zookeeper"}
    )
    partition = driver.topics["follows"].partitions[0]
    driver.kill_broker(DOWN)
    append(driver, "follows", 1)
    driver.advance(120_000)
    assert (partition.isr, partition.leader_epoch) == ([1], epoch)


def append(driver: TopicsDriver, topic: str, count: int) -> None:
    partition = driver.topics[topic].partitions[0]
    made = bytearray(batch(count))
    base_offset = partition.log.end_offset
    record_batch.place(made, base_offset, partition.leader_epoch)
    partition.at_leader.append_as_leader(made, base_offset, count, driver.now_ms)


def test_the_isr_of_a_dead_leader_stays_as_it_is() -> None:
    driver = TopicsDriver("4.4", {"broker.session.timeout.ms": "600000"})
    partition = driver.topics["leads"].partitions[0]
    driver.kill_broker(1)
    append(driver, "leads", 1)
    driver.kill_broker(DOWN)
    driver.advance(120_000)
    assert (partition.leader, partition.isr) == (DOWN, [2, 1])


@pytest.mark.parametrize("end", [Processes.stop, Processes.kill])
def test_an_epoch_without_records_does_not_outlive_its_broker(end: Any) -> None:
    driver = TopicsDriver("4.4")
    partition = driver.topics["leads"].partitions[0]
    append(driver, "leads", 3)
    partition.lead(1)
    assert epoch_cache(partition.logs[1]) == [(0, 0), (1, 3)]
    end(driver.cluster.processes, 1)
    driver.advance(60_000)
    assert epoch_cache(partition.logs[DOWN]) == [(0, 0), (2, 3)]
    driver.start_broker(1)
    assert epoch_cache(partition.logs[1]) == [(0, 0)]
