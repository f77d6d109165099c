"""The partitions of which one broker has a replica (`ReplicaManager.scala`)."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

from ..configs import TopicSettings
from ..environment import Environment
from ..metadata.image import NO_OVERRIDES, PartitionRegistration
from ..metadata.log import MetadataLog
from ..policies import Policies
from .cleanup import Cleanup
from .peers import HostedTopic, Peers
from .producer_expiry import ProducerExpiry
from .states import FollowerEvent
from .topic_stats import BrokerTopicStats

if TYPE_CHECKING:
    from ..log.log import Log
    from ..log.stored import StoredLog
    from .partition import Partition

_NONE: "Final[Mapping[int, Partition]]" = {}


class ReplicaManager:
    """The replicas of `broker`, which knows the cluster from `metadata`; `online` says whether it runs;
    `appear` is called with each new replica, `disappear` with those that are gone.

    A partition is set up on all its brokers when the first of them is asked about it: most never are.
    """

    def __init__(
        self,
        broker: int,
        environment: Environment,
        peers: Peers,
        cleanup: Cleanup,
        metadata: MetadataLog,
        appear: "Callable[[Partition], None]",
        disappear: "Callable[[Partition], None]",
    ) -> None:
        self.broker = broker
        self.environment = environment
        self.peers = peers
        self.cleanup = cleanup
        self.online = True
        self.stats = BrokerTopicStats()
        self.fetches = True
        """Whether its followers fetch: no longer once it is about to go down."""
        self.dead_fetchers: dict[int, str] = {}
        """Why a fetcher thread died, by the broker from which it fetched."""
        self.stored: dict[tuple[UUID, int], StoredLog] = {}
        """What is on its disks of partitions that are not set up yet."""
        self._metadata = metadata
        self._appear = appear
        self._disappear = disappear
        self._topics: dict[HostedTopic, dict[int, Partition]] = {}
        self._expiry = ProducerExpiry(environment, lambda: (partition.log for partition in self))

    def __iter__(self) -> "Iterator[Partition]":
        for partitions in list(self._topics.values()):
            yield from list(partitions.values())

    def find(self, topic: HostedTopic, index: int) -> "Partition | None":
        """None if there is no replica here, or the broker has not learned of it."""
        try:
            return self._topics[topic][index]
        except KeyError:
            registered = self._registered(topic, index)
            if registered is None or self.broker not in registered.replicas:
                return None
            return self._begin(topic, index, registered)

    def _registered(self, topic: HostedTopic, index: int) -> PartitionRegistration | None:
        """The partition, as this broker knows it."""
        known = self._metadata.image_of(self.broker).topics.get(topic.name)
        if known is None or known.id != topic.id or not 0 <= index < len(known.partitions):
            return None
        return known.partitions[index]

    def _begin(self, topic: HostedTopic, index: int, registered: PartitionRegistration) -> "Partition":
        found = self._new(topic, index, registered)
        self._topics.setdefault(topic, {})[index] = found
        self._appear(found)
        stored = self.stored.pop((topic.id, index), None)
        if stored is not None:
            stored.fill(found.log, self.environment.now_ms)
            self.cleanup.returned(found)
        found.begin()
        return found

    def is_fenced(self, broker: int) -> bool:
        """Whether the controller considers a broker gone, as far as this one knows."""
        return self._metadata.image_of(self.broker).is_fenced(broker)

    def rack_of(self, broker: int) -> str | None:
        """None also for a broker that is not registered."""
        found = self._metadata.image_of(self.broker).brokers.get(broker)
        return found and found.rack

    def new_log(self, topic: HostedTopic) -> "Log":
        """An empty log for one of the partitions."""
        from ..log.log import Log
        from ..log.producer_state import ProducerStates
        from ..log.segments import Segments

        environment = self.environment

        def policies() -> Policies:
            # The cluster's policies are replaced when it is traced.
            policies = environment.policies
            return policies.at(topic.name, self.broker) if policies.scoped else policies

        segments = Segments(self._settings(topic), environment.random("segments"), environment.now_ms)
        return Log(ProducerStates(policies, self._expiry.plan), segments)

    def _settings(self, topic: HostedTopic) -> TopicSettings:
        """A topic's effective configuration, as this broker knows it."""
        known = self._metadata.image_of(self.broker).topics.get(topic.name)
        overrides = NO_OVERRIDES if known is None or known.id != topic.id else known.overrides
        return self.environment.configs.settings_of(overrides)

    def elsewhere(self, topic: HostedTopic, index: int) -> "Partition | None":
        """A partition of which the broker has no replica, None if it does not know the partition."""
        registered = self._registered(topic, index)
        return None if registered is None else self._new(topic, index, registered)

    def _new(self, topic: HostedTopic, index: int, registered: PartitionRegistration) -> "Partition":
        # Imported with the first partition: a cluster may begin without.
        from .partition import Partition

        return Partition(self, topic, index, registered)

    # -- what the controller has decided

    def update(self, topic: HostedTopic, index: int, registered: PartitionRegistration) -> None:
        """The broker learns the present state of a partition."""
        found = self._topics.get(topic, _NONE).get(index)
        if self.broker not in registered.replicas:
            if found is not None:
                del self._topics[topic][index]
                if not self._topics[topic]:
                    self.stats.remove(topic)
                self._disappear(found)
                found.leave(registered)
        elif found is not None:
            found.update(registered)
        elif self.peers.is_used(topic, index) or self._has_to_begin(topic, registered):
            self._begin(topic, index, registered)

    def _has_to_begin(self, topic: HostedTopic, registered: PartitionRegistration) -> bool:
        """Whether the partition has to be set up now: to fetch and join the ISR, or to get what another
        coordinator held. In the first leader epoch there is nothing to get."""
        if len(registered.isr) < len(registered.replicas):
            return True
        return topic.internal and registered.leader == self.broker and registered.leader_epoch > 0

    def configure(self, topic: HostedTopic) -> None:
        """The broker hears of a topic's configuration, or of what topics inherit."""
        partitions = self._topics.get(topic)
        if not partitions:
            return
        settings = self._settings(topic)
        for partition in partitions.values():
            if partition.settings is not settings:
                partition.configure(settings)
                self.cleanup.reconfigured(partition)

    def delete(self, topic: HostedTopic) -> None:
        """The broker learns that a topic was deleted."""
        self.stats.remove(topic)
        for partition in self._topics.pop(topic, _NONE).values():
            self._disappear(partition)
            partition.delete()

    def ask_again(self) -> None:
        """A broker is back: leaders may add its replicas to their ISRs."""
        for partition in self:
            if partition.leads:
                partition.ask_again()

    def retry(self) -> None:
        """The broker reaches other brokers or the controller again: what waited for that continues."""
        for partition in self:
            if partition.fetcher is not None:
                partition.fetcher.retry()
            elif self.online:
                partition.ask_again()

    # -- the life of the broker

    def stop_fetching(self) -> None:
        """The broker is about to go down."""
        self.fetches = False
        for partition in self:
            if partition.fetcher is not None:
                partition.fetcher.on(FollowerEvent.STOP)

    def close(self) -> None:
        """The broker goes down."""
        for partition in self:
            if partition.leads:
                partition.tell_followers()
        self.stop_fetching()
        self.stats.clear()
        self.online = False

    def reopen(self, *, clean: bool) -> None:
        """The broker starts with its logs, which it had closed properly (`clean`) or not."""
        self.online = self.fetches = True
        self.dead_fetchers.clear()
        for partition in self:
            partition.log.reopen(clean=clean)
            self.cleanup.returned(partition)
