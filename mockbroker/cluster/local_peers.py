"""Peers in the same process: a call is all it takes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import controller

if TYPE_CHECKING:
    from .broker import Broker
    from .cluster import Cluster
    from .fetcher import Fetcher
    from .partition import Partition


class LocalPeers:
    """The way of `broker` to the others of its cluster (`Peers`)."""

    def __init__(self, cluster: "Cluster", broker: "Broker") -> None:
        self._cluster = cluster
        self._broker = broker

    def reaches(self, broker: int) -> bool:
        return broker not in self._broker.unreachable

    def leader_of(self, partition: "Partition") -> "Partition | None":
        leader = self._cluster.brokers.get(partition.leader)
        if leader is None or not leader.online or not self.reaches(leader.id):
            return None
        return leader.replicas.find(partition.topic, partition.index)

    def fetcher_of(self, partition: "Partition", broker: int) -> "Fetcher | None":
        other = self._cluster.brokers[broker].replicas.find(partition.topic, partition.index)
        return None if other is None else other.fetcher

    def alter_isr(self, partition: "Partition", isr: Sequence[int]) -> bool:
        return self._broker.hears_controller and controller.alter_isr(self._cluster, partition, isr)

    def leads(self, partition: "Partition") -> None:
        for broker in partition.replicas:
            fetcher = None if broker == partition.broker else self.fetcher_of(partition, broker)
            if fetcher is not None and fetcher.partition.leader == partition.broker:
                fetcher.retry()

    def leadership_changed(self, partition: "Partition") -> None:
        self._cluster.leadership_changed(partition)

    def halt(self) -> None:
        broker = self._broker
        broker.environment.wait(0, lambda: controller.stop_broker(self._cluster, broker.id))
