"""Peers in the same process: a call is all it takes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..replication.partition import Partition
from ..replication.peers import Asking, Fetching, HostedTopic
from . import controller

if TYPE_CHECKING:
    from .broker import Broker
    from .cluster import Cluster


class LocalPeers:
    """The way of `broker` to the others of its cluster (`Peers`)."""

    def __init__(self, cluster: "Cluster", broker: "Broker") -> None:
        self._cluster = cluster
        self._broker = broker

    def reaches(self, broker: int) -> bool:
        return broker not in self._broker.unreachable

    def leader_of(self, partition: Asking) -> Partition | None:
        leader = self._broker.reached(partition.leader)
        return None if leader is None else leader.replicas.find(partition.topic, partition.index)

    def is_used(self, topic: HostedTopic, index: int) -> bool:
        found = self._cluster.topics.get(topic.name)
        return found is topic and bool(found.partitions[index].hosted)

    def fetcher_of(self, partition: Asking, broker: int) -> Fetching | None:
        other = self._cluster.brokers[broker].replicas.find(partition.topic, partition.index)
        return None if other is None else other.fetcher

    def alter_isr(self, partition: Asking, isr: Sequence[int]) -> bool:
        return self._broker.hears_controller and controller.alter_isr(self._cluster, partition, isr)

    def leads(self, partition: Asking) -> None:
        for broker in partition.replicas:
            found = self._cluster.brokers[broker].replicas.find(partition.topic, partition.index)
            if found is None or found.fetcher is None or found.leader != partition.broker:
                continue
            if found.leader_epoch == partition.leader_epoch:
                found.fetcher.retry()

    def leadership_changed(self, partition: Asking) -> None:
        if partition.topic.internal:
            self._cluster.leadership_changed(self._broker, partition.topic.id, partition.index)

    def halt(self) -> None:
        broker = self._broker
        broker.environment.wait(0, lambda: controller.stop_broker(self._cluster, broker.id))
