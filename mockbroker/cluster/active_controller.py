"""Which broker is the controller, or is named as one (`KafkaController.scala`, `KRaftMetadataCache.java`)."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..metadata.records import NO_CONTROLLER, ActiveControllerRecord
from ..policies.controller.active_controller import active_controller

if TYPE_CHECKING:
    from .broker import Broker
    from .cluster import Cluster


class ActiveController:
    """With ZooKeeper `id` is the broker that is the controller, NO_CONTROLLER while there is none.

    It draws by hashing the cluster id, so that asking for metadata changes no other random choice.
    """

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._draws = 0
        self._become(next(iter(cluster.brokers)))

    @property
    def id(self) -> int:
        return self._cluster.metadata.image.controller

    def _become(self, broker: int) -> None:
        self._cluster.write(ActiveControllerRecord(broker))

    def named_by(self, broker: "Broker") -> int:
        """What `broker` tells clients: the controller that it knows or, with KRaft, any broker it knows that
        is not fenced."""
        if broker.policies[active_controller] == "one-broker":
            return broker.image.controller
        listed = self._cluster.listed_by(broker)
        return self._drawn(listed).id if listed else NO_CONTROLLER

    def refuses(self, broker: "Broker") -> bool:
        """Whether `broker` answers NOT_CONTROLLER to what only the controller does."""
        return broker.policies[active_controller] == "one-broker" and (
            broker.id != self.id or not broker.hears_controller
        )

    def fenced(self, broker: int) -> None:
        """A broker is gone; if it was the controller, one of those that are left takes its place."""
        if broker == self.id:
            self._become(NO_CONTROLLER)
            self.appear()

    def appear(self) -> None:
        """Somebody becomes the controller where nobody is: whoever comes first, of those that may."""
        candidates = [each for each in self._cluster.brokers.values() if each.electable]
        if self.id == NO_CONTROLLER and candidates:
            self._become(self._drawn(candidates).id)

    def _drawn(self, among: Sequence["Broker"]) -> "Broker":
        self._draws += 1
        seed = f"{self._cluster.cluster_id}/{self._draws}".encode()
        return among[int.from_bytes(hashlib.blake2b(seed, digest_size=8).digest()) % len(among)]
