"""Which broker is the controller, or is named as one (`KafkaController.scala`, `KRaftMetadataCache.java`)."""

import hashlib
from collections.abc import Sequence

from ..metadata.records import NO_CONTROLLER, ActiveControllerRecord
from .state import ControllerState


class ActiveController:
    """With ZooKeeper `id` is the broker that is the controller, NO_CONTROLLER if there is none.

    It chooses by hashing the cluster id, so that asking for metadata changes no other random choice.
    """

    def __init__(self, state: ControllerState, cluster_id: str) -> None:
        self._state = state
        self._cluster_id = cluster_id
        self._draws = 0

    @property
    def id(self) -> int:
        return self._state.image.controller

    def become(self, broker: int) -> None:
        """A broker is the controller now, or, with NO_CONTROLLER, none is."""
        self._state.write(ActiveControllerRecord(broker))

    def fenced(self, broker: int) -> None:
        """A broker is gone; if it was the controller, one of the others takes its place."""
        if broker == self.id:
            self.become(NO_CONTROLLER)
            self.appear()

    def appear(self) -> None:
        """If there is no controller, the first broker that may becomes the controller."""
        candidates = [broker for broker in self._state.image.brokers if self._state.may_lead(broker)]
        if self.id == NO_CONTROLLER and candidates:
            self.become(self.drawn(candidates))

    def drawn(self, among: Sequence[int]) -> int:
        """One of these brokers."""
        self._draws += 1
        seed = f"{self._cluster_id}/{self._draws}".encode()
        return among[int.from_bytes(hashlib.blake2b(seed, digest_size=8).digest()) % len(among)]
