"""Peers in the same process, which are simply called."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from ..controller.controller import AlterPartition, Controller
from ..replication.peers import Asking, Fetching, HostedTopic
from .broker import Broker
from .topic import Topic

if TYPE_CHECKING:
    from ..replication.partition import Partition


class LocalPeers:
    """How a broker reaches the others of its cluster (`Peers`).

    `led` is called with each partition of an internal topic that it now leads, or no longer leads; `halt`
    stops the broker.
    """

    def __init__(
        self,
        broker: int,
        brokers: Mapping[int, Broker],
        topics: Mapping[str, Topic],
        controller: Controller,
        led: Callable[[int, UUID, int], None],
        halt: Callable[[int], None],
    ) -> None:
        self._id = broker
        self._brokers = brokers
        self._topics = topics
        self._controller = controller
        self._led = led
        self._halt = halt

    @property
    def _broker(self) -> Broker:
        return self._brokers[self._id]

    def reaches(self, broker: int) -> bool:
        return broker not in self._broker.unreachable

    def leader_of(self, partition: Asking) -> "Partition | None":
        leader = self._broker.reached(partition.leader)
        return None if leader is None else leader.replicas.find(partition.topic, partition.index)

    def is_used(self, topic: HostedTopic, index: int) -> bool:
        found = self._topics.get(topic.name)
        return found is topic and bool(found.partitions[index].hosted)

    def fetcher_of(self, partition: Asking, broker: int) -> Fetching | None:
        other = self._brokers[broker].replicas.find(partition.topic, partition.index)
        return None if other is None else other.fetcher

    def alter_isr(self, partition: Asking, isr: Sequence[int]) -> bool:
        broker, topic, index = self._broker, partition.topic, partition.index
        epochs = partition.leader_epoch, partition.partition_epoch
        asked = AlterPartition(topic.id, index, self._id, *epochs, isr)
        if not broker.hears_controller or not self._controller.alter_isr(asked):
            return False
        # The answer has the present state of the partition, even for a broker that learns of records late.
        broker.replicas.update(topic, index, self._controller.image.topics[topic.name].partitions[index])
        return True

    def leads(self, partition: Asking) -> None:
        for broker in partition.replicas:
            found = self._brokers[broker].replicas.find(partition.topic, partition.index)
            if found is None or found.fetcher is None or found.leader != partition.broker:
                continue
            if found.leader_epoch == partition.leader_epoch:
                found.fetcher.retry()

    def leadership_changed(self, partition: Asking) -> None:
        if partition.topic.internal:
            self._led(self._id, partition.topic.id, partition.index)

    def halt(self) -> None:
        self._controller.environment.wait(0, lambda: self._halt(self._id))
