"""What the judge of a share group knows: what the group was given of each partition, and what its brokers
have in memory."""

from typing import Final

from ..cluster.broker import Broker
from ..cluster.led_share import LedShare
from ..cluster.liveness import Liveness
from ..coordinators.share.group import ShareGroup
from ..protocol.share_state_log import SharePartitionKey
from .ledger import Place
from .scene import SHARERS, Scene
from .shared_records import SharedPlace

_STATES: Final = "__share_group_state"


class ShareView:
    """Of one group."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.cluster = scene, scene.cluster
        self.places: dict[Place, SharedPlace] = {}
        self._told: set[tuple[str, Place]] = set()

    def place(self, place: Place) -> SharedPlace:
        found = self.places.get(place)
        if found is None:
            found = self.places[place] = SharedPlace(began=not self.scene.plan.shares.latest)
        return found

    def known(self, broker: Broker, place: Place) -> LedShare | None:
        key = SharePartitionKey(SHARERS, self.cluster.topics[place[0]].id, place[1])
        return broker.shares.known(key)

    def leaders(self, place: Place) -> list[LedShare]:
        """What all brokers have read of the partition."""
        found = [self.known(each, place) for each in self.cluster.brokers.values()]
        return [each for each in found if each is not None]

    def awaits_state(self, place: Place) -> bool:
        """Whether the share coordinator was asked to make a state, and has not answered: it is asked again
        after longer than histories are quiet."""
        broker = self.cluster.coordinator(SHARERS)
        group = None if broker is None else broker.groups.groups.get(SHARERS)
        if not isinstance(group, ShareGroup):
            return False
        asked = group.initializing.get(self.cluster.topics[place[0]].id)
        return asked is not None and place[1] in asked.partitions

    def is_leader(self, broker: Broker, place: Place) -> bool:
        """Whether it is, by what the controller knows, and may hear of that."""
        return self.scene.partition(place).leader == broker.id and broker.hears_controller

    @property
    def states(self) -> tuple[int, int]:
        """The share coordinator, and since when."""
        partition = self.cluster.topics[_STATES].partitions[0]
        return partition.leader, partition.leader_epoch

    @property
    def is_healthy(self) -> bool:
        brokers = self.cluster.brokers.values()
        return all(each.liveness is Liveness.RUNNING and not each.unreachable for each in brokers)

    def excused(self, place: Place) -> bool:
        """Whether records were allowed to be lost, or nobody knows where the group was told to begin."""
        scene = self.scene
        return scene.plan.unclean or place in scene.ledger.real_loss or bool(self.place(place).altering)

    def violated(self, invariant: str, place: Place, text: str) -> None:
        """Tells it, the first time for each partition."""
        if (invariant, place) not in self._told:
            self._told.add((invariant, place))
            self.scene.violated(invariant, f"{SHARERS} {place[0]}-{place[1]}", text)
