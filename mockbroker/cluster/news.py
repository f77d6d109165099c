"""When brokers learn what the controller wrote: at once, late, or only when they are connected again."""

import functools
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from ..controller.controller import Controller
from ..metadata.image import PartitionRegistration
from ..metadata.records import (
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ..replication.replica_manager import ReplicaManager
from .broker import Broker
from .topic import Topic, TopicPartition


class News:
    """Takes metadata records from the controller to the brokers, and to `topics` and `topic_ids`, which are
    always up to date. `lead` is called with each partition of an internal topic that a broker now leads, or
    no longer leads."""

    def __init__(
        self,
        controller: Controller,
        brokers: Mapping[int, Broker],
        managers: Mapping[int, ReplicaManager],
        topics: dict[str, Topic],
        topic_ids: dict[UUID, Topic],
        lead: Callable[[Broker, Topic, int], None],
    ) -> None:
        self._controller: Final = controller
        self._metadata: Final = controller.metadata
        self._environment: Final = controller.environment
        self._brokers = brokers
        self._managers = managers
        self._topics = topics
        self._topic_ids = topic_ids
        self._lead = lead
        self._telling = 0
        self._led: deque[tuple[int, UUID, int]] = deque()
        """What coordinators have not been told yet: broker, topic id, partition."""

    # -- at once

    def wrote(self, records: Sequence[Record]) -> None:
        """The controller has written these records: brokers from which nothing is withheld learn of them
        now."""
        self._telling += 1
        changed: dict[TopicPartition, PartitionRegistration | None] = {}
        configured: dict[Topic, None] = {}
        for record in records:
            match record:
                case PartitionChangeRecord():
                    partition = self._topic_ids[record.topic_id].partitions[record.partition_id]
                    changed.setdefault(partition, partition.registered)
                    partition.register()
                case PartitionRecord():
                    partition = self._topic_ids[record.topic_id].added()
                    if len(record.isr) < len(record.replicas) or record.leader_epoch:
                        changed[partition] = None
                    # Others need not be set up yet.
                case TopicRecord(name, topic_id):
                    topic = Topic(self._controller, self._managers, name, topic_id)
                    self._topics[name] = self._topic_ids[topic_id] = topic
                case ConfigRecord(name):
                    configured[self._topics[name]] = None
                case RemoveTopicRecord(topic_id):
                    topic = self._topic_ids.pop(topic_id)
                    del self._topics[topic.name]
                    for broker in self._hearing(self._brokers):
                        broker.replicas.delete(topic)
                case BrokerRegistrationChangeRecord(fenced=False) | RegisterBrokerRecord():
                    for broker in self._hearing(self._brokers):
                        broker.replicas.ask_again()
        for topic in configured:
            topic.configured()
            for broker in self._hearing(self._brokers):
                broker.replicas.configure(topic)
        for partition, before in changed.items():
            self._tell(partition, before)
        self._telling -= 1
        self.settle()
        if self._metadata.behind:
            self._plan()

    def _tell(self, partition: TopicPartition, before: PartitionRegistration | None) -> None:
        """Tells the old leader first, then the new one, because the others fetch from it."""
        now = partition.registered
        concerned = [now.leader, *now.replicas]
        if before is not None and (before.leader != now.leader or before.replicas is not now.replicas):
            concerned = [before.leader, *concerned, *before.replicas]
        topic, index = partition.topic, partition.index
        for broker in self._hearing(dict.fromkeys(concerned)):
            broker.replicas.update(topic, index, partition.registered)

    def _hearing(self, brokers: Iterable[int]) -> list[Broker]:
        """Those of `brokers` that learn at once what is written."""
        known, behind = self._brokers, self._metadata.behind
        return [
            broker for each in brokers if each >= 0 and each not in behind and (broker := known[each]).online
        ]

    # -- what coordinators hear

    def leadership_changed(self, broker: int, topic_id: UUID, index: int) -> None:
        """A broker now leads a partition, or no longer leads it: its coordinators are told once all brokers
        that learn at once have learned of it."""
        self._led.append((broker, topic_id, index))

    def settle(self) -> None:
        """Tells coordinators what their brokers lead now."""
        while self._led and not self._telling:
            broker, topic_id, index = self._led.popleft()
            if (topic := self._topic_ids.get(topic_id)) is not None:
                self._lead(self._brokers[broker], topic, index)

    # -- late

    def slow_metadata(self, broker: int, delay_ms: int) -> None:
        """From now on a broker learns of each metadata record `delay_ms` after it was written; with 0 at
        once, including those that it has missed. KeyError for a broker that does not exist.

        Until then it leads, follows and answers clients by what it knows. A broker that is cut off learns
        nothing, and one that starts has read everything.
        """
        one = self._brokers[broker]
        one.metadata_delay_ms = delay_ms
        if not one.hears_controller:
            return
        if delay_ms:
            self._metadata.fall_behind(broker)
        else:
            self.catch_up(broker)

    def catch_up(self, broker: int) -> None:
        """A broker learns everything; one whose metadata is slow falls behind again from here."""
        one = self._brokers[broker]
        self._metadata.behind.pop(broker, None)
        if one.metadata_delay_ms:
            self._metadata.fall_behind(broker)
        if one.online:
            self._read_image(one)
            one.replicas.ask_again()
            self.settle()

    def _read_image(self, one: Broker) -> None:
        """A broker compares its state with the image that it reads."""
        known = {partition.topic.id: partition.topic for partition in one.replicas}
        for topic_id, topic in known.items():
            if topic_id not in one.image.topic_ids:
                one.replicas.delete(topic)
        for topic in self._topics.values():
            one.replicas.configure(topic)
            for partition in topic.partitions:
                one.replicas.update(topic, partition.index, partition.registered)

    def _plan(self) -> None:
        """Records were written: brokers whose metadata is slow will learn of them later."""
        for broker, behind in self._metadata.behind.items():
            one, next_ms = self._brokers[broker], behind.next_ms
            if next_ms is not None and one.hears_controller and not one.news_planned:
                one.news_planned = True
                delay_ms = max(0, next_ms + one.metadata_delay_ms - self._environment.now_ms)
                self._environment.wait(delay_ms, functools.partial(self._due, one), owned=False)

    def _due(self, one: Broker) -> None:
        behind = self._metadata.behind.get(one.id)
        one.news_planned = False
        if behind is not None and one.online and one.hears_controller:
            self._hear(one, behind.hear(self._environment.now_ms - one.metadata_delay_ms))
            self.settle()
            self._plan()

    def _hear(self, one: Broker, records: Iterable[Record]) -> None:
        """A broker whose image has applied these records does what follows from them."""
        changed: dict[tuple[UUID, int], None] = {}
        configured: dict[str, None] = {}
        for record in records:
            match record:
                case PartitionRecord(topic_id, index) | PartitionChangeRecord(topic_id, index):
                    changed[topic_id, index] = None
                case ConfigRecord(name):
                    configured[name] = None
                case RemoveTopicRecord(topic_id):
                    for gone in {each.topic for each in one.replicas if each.topic.id == topic_id}:
                        one.replicas.delete(gone)
                case BrokerRegistrationChangeRecord(fenced=False) | RegisterBrokerRecord():
                    one.replicas.ask_again()
        for name in configured:
            if name in self._topics:
                one.replicas.configure(self._topics[name])
        for topic_id, index in changed:
            registered = one.image.partition(topic_id, index)
            topic = self._topic_ids.get(topic_id)
            if topic is not None and registered is not None:
                one.replicas.update(topic, index, registered)
