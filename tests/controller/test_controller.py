"""A controller without any broker: what it is told, and the records that it writes."""

from typing import Any
from uuid import UUID

import pytest

from mockbroker.controller.controller import AlterPartition, Controller
from mockbroker.controller.elections import elect_where_none_leads, move_leader, next_leader
from mockbroker.controller.partition import ControlledPartition
from mockbroker.environment import Environment
from mockbroker.metadata.image import MetadataImage
from mockbroker.metadata.log import MetadataLog
from mockbroker.metadata.records import (
    NO_CONTROLLER,
    NO_LEADER,
    ActiveControllerRecord,
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    PartitionRecord,
    Record,
    TopicRecord,
)
from mockbroker.protocol.releases import parse
from mockbroker.seeded import streams

SESSION_MS = 9_000


class ControllerDriver:
    """A controller to which brokers 1, 2 and 3 have registered."""

    def __init__(self, kafka: str = "4.4", config: dict[str, str] | None = None) -> None:
        names = ("broker.session.timeout.ms", "zookeeper.session.timeout.ms")
        session = dict.fromkeys(names, str(SESSION_MS))
        self.environment = Environment(parse(kafka), streams(0), config={**session, **(config or {})})
        self.written: list[tuple[Record, ...]] = []
        """What was written together, in its order."""
        self.over: list[int] = []
        """Brokers whose session is over."""
        self.controller = Controller(
            self.environment,
            MetadataLog(),
            "id",
            lambda records: self.written.append(tuple(records)),
            self.over.append,
        )
        for broker in (1, 2, 3):
            self.controller.register(broker, None)
        self.controller.active.become(1)
        self.written.clear()

    def topic(self, name: str = "t", **overrides: str) -> ControlledPartition:
        configs = {key.replace("_", "."): value for key, value in overrides.items()}
        return self.controller.partition(self.controller.create_topic(name, [[1, 2, 3]], configs), 0)

    def advance(self, ms: int) -> None:
        self.environment.advance(self.environment.now_ms + ms)


def test_a_topic_is_created_by_records_that_are_written_together(driver: ControllerDriver) -> None:
    partition = driver.topic(retention_ms="5")
    assert driver.written == [
        (
            TopicRecord("t", partition.topic_id),
            ConfigRecord("t", "retention.ms", "5"),
            PartitionRecord(partition.topic_id, 0, [1, 2, 3], [1, 2, 3], 1),
        )
    ]
    assert partition.settings.retention_ms == 5


def test_only_values_that_change_are_written(driver: ControllerDriver) -> None:
    partition = driver.topic(retention_ms="5", segment_ms="7")
    driver.written.clear()
    driver.controller.configure_topic(partition.topic_id, {"segment.ms": "7", "segment.index.bytes": "100"})
    assert driver.written == [
        (ConfigRecord("t", "retention.ms", None), ConfigRecord("t", "segment.index.bytes", "100"))
    ]
    assert driver.controller.image.topics["t"].overrides == {"segment.ms": "7", "segment.index.bytes": "100"}


def test_the_records_alone_give_the_same_image(driver: ControllerDriver) -> None:
    replayed = MetadataImage()
    for each in (1, 2, 3):
        replayed.brokers[each] = driver.controller.image.brokers[each]
    replayed.controller = 1
    partition = driver.topic(min_insync_replicas="2")
    driver.controller.lose_contact(1, "")
    driver.advance(SESSION_MS)
    driver.controller.shut_down(2)
    driver.controller.fence(2)
    driver.controller.configure_topic(partition.topic_id, {})
    driver.controller.unfence(1)
    driver.controller.add_partitions(partition.topic_id, [[3, 2, 1]])
    for record in (record for records in driver.written for record in records):
        replayed.apply(record)
    there, again = driver.controller.image.topics["t"], replayed.topics["t"]
    assert (again.partitions, again.overrides) == (there.partitions, there.overrides)
    assert (replayed.brokers, replayed.controller) == (
        driver.controller.image.brokers,
        driver.controller.image.controller,
    )


def test_a_silent_broker_leads_until_its_session_is_over_but_is_not_elected(driver: ControllerDriver) -> None:
    leads, follows = driver.topic("leads"), driver.topic("follows")
    follows.lead(2)
    driver.written.clear()
    driver.controller.lose_contact(1, "")
    assert next_leader(follows, 1) is None
    assert not move_leader(follows, 1)
    driver.advance(SESSION_MS - 1)
    assert (leads.leader, driver.written, driver.over) == (1, [], [])
    driver.advance(1)
    assert (leads.leader, list(leads.isr), list(follows.isr), driver.over) == (2, [2, 3], [2, 3], [1])
    assert driver.written[0] == (BrokerRegistrationChangeRecord(1, fenced=True),)


def test_a_broker_that_is_heard_in_time_keeps_its_place(driver: ControllerDriver) -> None:
    partition = driver.topic()
    driver.written.clear()
    driver.controller.lose_contact(1, "")
    driver.advance(SESSION_MS - 1)
    driver.controller.unfence(1)
    driver.advance(10 * SESSION_MS)
    assert (partition.leader, driver.written, driver.over) == (1, [], [])
    assert driver.environment.timers.next_deadline() is None


def test_with_zookeeper_another_broker_becomes_the_controller() -> None:
    driver = ControllerDriver("2.3")
    driver.controller.fence(1)
    written = [record for records in driver.written for record in records]
    assert ActiveControllerRecord(NO_CONTROLLER) in written
    assert driver.controller.active.id in (2, 3)


@pytest.mark.parametrize(
    ("field", "value"),
    [("broker", 2), ("leader_epoch", 7), ("partition_epoch", 7), ("topic_id", UUID(int=1)), ("partition", 1)],
)
def test_a_leader_that_is_behind_does_not_change_the_isr(field: str, value: Any) -> None:
    driver = ControllerDriver()
    partition = driver.topic()
    asked = AlterPartition(partition.topic_id, 0, 1, 0, 0, [1, 2])
    driver.written.clear()
    assert not driver.controller.alter_isr(asked._replace(**{field: value}))
    assert driver.written == []
    assert driver.controller.alter_isr(asked)
    assert list(partition.isr) == [1, 2]


def test_leaders_are_moved_within_the_isr(driver: ControllerDriver) -> None:
    partition = driver.topic()
    assert driver.controller.alter_isr(AlterPartition(partition.topic_id, 0, 1, 0, 0, [1, 3]))
    assert (next_leader(partition), next_leader(partition, 2), next_leader(partition, 3)) == (3, None, 3)
    assert not move_leader(partition, 2)
    assert move_leader(partition)
    assert partition.leader == 3


def test_nobody_leads_what_only_a_fenced_broker_had(driver: ControllerDriver) -> None:
    topic_id = driver.controller.create_topic("t", [[1]], {})
    driver.controller.fence(1)
    partition = driver.controller.partition(topic_id, 0)
    assert (partition.leader, partition.leader_epoch) == (NO_LEADER, 1)
    driver.controller.delete_topics([topic_id])
    assert partition.deleted


@pytest.mark.parametrize("driver", ["0.11", "4.4"], indirect=True)
def test_only_unclean_elections_are_counted(driver: ControllerDriver) -> None:
    driver.topic("clean")
    unclean = driver.topic("unclean", unclean_leader_election_enable="true")
    counts = []
    for broker in (1, 2, 3):
        driver.controller.fence(broker)
        counts.append(driver.controller.unclean_elections)
    assert (unclean.leader, counts) == (NO_LEADER, [0, 0, 0])
    driver.controller.unfence(2)
    elect_where_none_leads(driver.controller)
    assert (unclean.leader, unclean.isr, driver.controller.unclean_elections) == (2, [2], 1)
    driver.controller.fence(2)
    driver.controller.unfence(2)
    elect_where_none_leads(driver.controller)
    assert (unclean.leader, driver.controller.unclean_elections) == (2, 1)
