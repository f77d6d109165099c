"""Everything in a history: its scene, and the model clients."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from ..cluster.cluster import Cluster
from . import share_setting
from .consumer import ModelConsumer
from .consumer_setting import Reset
from .consumption import Consumption
from .idempotent_producer import IdempotentProducer
from .ledger import Place
from .member import ModelMember
from .ownership import Ownership
from .plan import Plan
from .producer import ModelProducer
from .producer_setting import Generation, ProducerSetting
from .production import Production, Writer
from .purger import Purger
from .scene import GROUP, MEMBERS, TOPIC, Scene, spread_of
from .share_admin import ShareAdmin
from .share_member import ModelShareMember
from .sharing import Sharing
from .transactional_producer import TransactionalProducer

_FEEDER: Final = ProducerSetting(Generation.V2_5)
_RESTART_MS: Final = 400
"""An application whose producer has ended starts another after this time."""


class World(Scene):
    """The state of a running history."""

    def __init__(self, plan: Plan, recording: bool = False, cluster: Cluster | None = None) -> None:
        super().__init__(plan, recording, cluster)
        self.purger = Purger(self, "purger") if plan.purges else None
        self.consumption = Consumption(self, self.purger.purge if self.purger else None)
        self.production = Production(self, self._ended)
        self.consumers = [
            ModelConsumer(self, self.consumption, f"consumer-{i + 1}", GROUP, (TOPIC, 0), plan.consumer)
            for i in range(plan.consumers)
        ]
        self.newest: dict[str, TransactionalProducer] = {}
        """The latest instance of each transactional id."""
        self.producers: list[ModelProducer] = []
        for i, setting in enumerate(plan.producers):
            self.producers.append(self._producer(f"producer-{i + 1}", setting, f"transactions-{i + 1}"))
        self.owner: ModelConsumer | None = None
        self.ownership = Ownership(self, MEMBERS)
        self.members = self._members()
        self.feeders = [
            IdempotentProducer(self, self.production, f"feeder-{topic}-{index}", (topic, index), _FEEDER)
            for topic, index in self.assigned
        ]
        """The producers of the partitions that a coordinator assigns."""
        self._begin_share_group()

    def _begin_share_group(self) -> None:
        shares = self.plan.shares
        self.sharing = Sharing(self) if shares.members else None
        """What brokers give to the share group."""
        self.network.witness = self.sharing
        self.share_admin = ShareAdmin(self, "administrator") if shares.members else None
        self.sharers = [ModelShareMember(self, f"sharer-{i + 1}", shares) for i in range(shares.members)]
        self.share_feeders = [self._share_feeder(place) for place in self.shared]

    def _share_feeder(self, place: Place) -> IdempotentProducer:
        return IdempotentProducer(self, self.production, f"feeder-{place[0]}-{place[1]}", place, _FEEDER)

    def add_share_partition(self) -> None:
        """The topic of the share group is given another partition, with a producer."""
        if self.sharing is not None and len(self.shared) < share_setting.MOST:
            topic = self.cluster.topics[share_setting.TOPIC]
            self.cluster.controller.add_partitions(topic.id, [spread_of(len(self.shared))])
            place = self.shared[-1]
            self.sharing.added(place)
            self.share_feeders.append(self._share_feeder(place))

    def _members(self) -> list[ModelMember]:
        group, setting = self.plan.group, replace(self.plan.consumer, read_committed=False)
        if setting.reset is Reset.NONE:
            setting = replace(setting, reset=Reset.EARLIEST)
        return [
            ModelMember(
                self,
                self.consumption,
                self.ownership,
                f"member-{i + 1}",
                setting,
                group.assignors[i] if i < len(group.assignors) else "",
                f"instance-{i + 1}" if group.static else None,
            )
            for i in range(group.members)
        ]

    def _producer(self, name: str, setting: ProducerSetting, transactional_id: str) -> ModelProducer:
        if setting.transactional:
            made = TransactionalProducer(self, self.production, name, (TOPIC, 0), setting, transactional_id)
            self.newest[transactional_id] = made
            return made
        kind = ModelProducer if setting.generation is Generation.PLAIN else IdempotentProducer
        return kind(self, self.production, name, (TOPIC, 0), setting)

    @property
    def clients(self) -> list[ModelProducer | ModelConsumer | ModelMember]:
        """All clients, in the order in which steps number them."""
        first = len(self.plan.producers)
        return [*self.producers[:first], *self.consumers, *self.members, *self.producers[first:]]

    # -- instances of a transactional id

    def new_instance(self, transactional_id: str) -> None:
        """Starts another instance, whatever the previous one is doing."""
        newest = self.newest[transactional_id]
        name = f"{newest.name.partition('/')[0]}/{len(self.producers) + 1}"
        made = self._producer(name, newest.setting, transactional_id)
        assert isinstance(made, TransactionalProducer)
        self.producers.append(made)
        self.tell(name, f"starts as another instance of {transactional_id}")
        made.start()

    def _ended(self, producer: Writer) -> None:
        """A producer can't continue: its application starts another, if it is the latest of its instances."""
        transactional_id = producer.transactional_id
        if transactional_id is None or self.newest[transactional_id] is not producer:
            return

        def restart() -> None:
            if self.newest[transactional_id] is producer:
                self.new_instance(transactional_id)

        self.cluster.environment.after(_RESTART_MS, restart)

    def finish_transactions(self) -> None:
        """Producers commit their open transactions."""
        for producer in self.producers:
            if isinstance(producer, TransactionalProducer):
                producer.end(commit=True)

    # -- the owner of the group's partition

    def stop_owner(self) -> None:
        """The owner commits and stops; until the next rebalance there is no other."""
        if self.owner is not None:
            self.tell(self.owner.name, "stops")
            owner, self.owner = self.owner, None
            owner.stop(True, lambda: None)

    def hand_over(self, commit: bool, then: Callable[[], None] | None = None) -> None:
        """A rebalance: the partition goes from its owner to the next consumer."""
        owner = self.owner
        following = self.consumers[(self.consumers.index(owner) + 1) % len(self.consumers) if owner else 0]

        def start() -> None:
            if self.owner is None:
                self.owner = following
                self.tell(following.name, "is given the partition")
                following.start()
            if then is not None:
                then()

        self.owner = None
        if owner is None:
            start()
            return
        self.tell(owner.name, "gives the partition up" if commit else "dies")
        owner.stop(commit, start)
