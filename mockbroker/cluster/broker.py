"""One broker of the cluster: its address, and what only it knows."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from ..controller.controller import Controller
from ..metadata.image import MetadataImage, TopicImage
from ..metadata.records import NO_CONTROLLER
from ..outcome import Asked, Steps
from ..policies import Policies
from ..policies.controller.active_controller import active_controller
from ..replication.replica_manager import ReplicaManager
from .endpoint import PLAINTEXT, Endpoint
from .internal_topics import InternalTopics
from .liveness import Liveness
from .topic import Topic
from .work import Work

if TYPE_CHECKING:
    from ..coordinators.groups import GroupCoordinator
    from ..coordinators.share.states import ShareStates
    from ..coordinators.transactions import TransactionCoordinator
    from ..protocol.share_state_log import SharePartitionKey
    from ..replication.partition import Partition
    from .client_quotas import ClientQuotas
    from .client_telemetry import ClientTelemetry
    from .fetch_sessions import FetchSessions
    from .share_leader import ShareLeader
    from .share_persister import SharePersister
    from .streams_topics import StreamsTopics


class Broker:
    """A broker. `endpoints` are its listeners, by name; the shell sets their addresses before it serves.
    `brokers` and `topics` are those of the whole cluster."""

    def __init__(
        self,
        broker_id: int,
        rack: str | None,
        controller: Controller,
        replicas: ReplicaManager,
        brokers: "Mapping[int, Broker]",
        topics: Mapping[str, Topic],
        internal_topics: InternalTopics,
        work: Work,
    ) -> None:
        self.environment = controller.environment
        self.id = broker_id
        self.endpoints = {PLAINTEXT: Endpoint(PLAINTEXT, PLAINTEXT, "127.0.0.1", 9091 + broker_id)}
        self.liveness = Liveness.RUNNING
        self.closed_logs = True
        """Whether it closed its logs when it last went down."""
        self.hears_controller = True
        """False while it is cut off from the controller: it then continues with the leaders that it knew."""
        self.unreachable: set[int] = set()
        """The brokers from which it is cut off."""
        self.metadata_delay_ms = 0
        """How long after the controller has written a metadata record the broker learns of it."""
        self.news_planned = False
        """Whether it is going to learn of a record."""
        self.rack = rack
        self.replicas = replicas
        self._controller = controller
        self._brokers = brokers
        self._topics = topics
        self._internal_topics = internal_topics
        self._work = work

    @property
    def endpoint(self) -> Endpoint:
        """Its first listener."""
        return next(iter(self.endpoints.values()))

    def told_at(self, listener: str) -> Endpoint:
        """What clients are told who came by a listener; without a name, or with one that it does not have, by
        the first."""
        return self.endpoints.get(listener) or self.endpoint

    @property
    def image(self) -> MetadataImage:
        """The cluster as the broker knows it, which is what it tells clients."""
        return self._controller.metadata.image_of(self.id)

    @property
    def listed(self) -> "list[Broker]":
        """The brokers that it tells clients about."""
        brokers = self._brokers
        return [brokers[each.id] for each in self.image.brokers.values() if not each.fenced]

    @property
    def named_controller(self) -> int:
        """The controller that it tells clients: the one that it knows or, with KRaft, any broker that it
        knows and that is not fenced."""
        if self.policies[active_controller] == "one-broker":
            return self.image.controller
        listed = [each.id for each in self.image.brokers.values() if not each.fenced]
        return self._controller.active.drawn(listed) if listed else NO_CONTROLLER

    @property
    def is_not_controller(self) -> bool:
        """Whether it answers NOT_CONTROLLER to requests that only the controller carries out."""
        return self.policies[active_controller] == "one-broker" and (
            self.id != self._controller.active.id or not self.hears_controller
        )

    def leader_of(self, topic: str, index: int) -> "Partition | None":
        """A partition on the broker that leads it, as far as this one knows; None if that can't be reached,
        or has not learned of the partition."""
        leader = self.reached(self.image.topics[topic].partitions[index].leader)
        found = self._topics.get(topic)
        return None if leader is None or found is None else leader.replicas.find(found, index)

    def reached(self, broker: int) -> "Broker | None":
        """Another broker; None if it is down, cut off from this one, or does not exist."""
        found = self._brokers.get(broker)
        return None if found is None or not found.online or broker in self.unreachable else found

    def leader_id(self, topic: str, index: int) -> int | None:
        """The broker that leads a partition, as far as this broker knows: `NO_LEADER` if none does, None if
        it has not learned of the partition."""
        known = self.image.topics.get(topic)
        if known is None or not 0 <= index < len(known.partitions):
            return None
        return known.partitions[index].leader

    # -- what its coordinators ask

    @property
    def features(self) -> Mapping[str, int]:
        """The finalized levels that it has learned of (KIP-584)."""
        return self.image.features

    def known_topics(self) -> Mapping[str, TopicImage]:
        """The topics that it has learned of, by name."""
        return self.image.topics

    def in_parts(self, asked: Asked, steps: Steps) -> object:
        """Does something that takes long in parts, so that others are served in between."""
        return self._work.begin(asked, steps)

    def offsets_index(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that holds the group."""
        return self._internal_topics.offsets_partition(group_id).index

    def offsets_partition(self, group_id: str) -> "Partition | None":
        """That partition on this broker, None if there is no replica of it."""
        return self._internal_topics.offsets_partition(group_id).at(self.id)

    def transaction_partition(self, transactional_id: str) -> "Partition | None":
        """The partition of `__transaction_state` that holds the id, on this broker; None if it has no
        replica."""
        return self._internal_topics.transaction_partition(transactional_id).at(self.id)

    def share_state_partition(self, key: str) -> "Partition | None":
        """The partition of `__share_group_state` that holds a share partition, on this broker; None if it has
        no replica."""
        return self._internal_topics.share_state_partition(key).at(self.id)

    def racks(self) -> Mapping[int, str]:
        """Of the brokers that it has learned of, those that have one."""
        return {each.id: each.rack for each in self.image.brokers.values() if each.rack is not None}

    def known_topic_ids(self) -> Mapping[UUID, TopicImage]:
        """The topics that it has learned of, by id."""
        return self.image.topic_ids

    def new_producer_id(self) -> int:
        return self._controller.new_producer_id()

    def complete_offsets(self, broker: int, partition: int, producer_id: int, committed: bool) -> None:
        """A marker is in a partition of `__consumer_offsets` on its leader: offsets that waited for it become
        valid there, or are dropped."""
        self._brokers[broker].groups.complete_transaction(partition, producer_id, committed)

    # -- whether it is there

    @property
    def fenced(self) -> bool:
        """Whether the controller considers it gone."""
        return self._controller.is_fenced(self.id)

    @property
    def policies(self) -> Policies:
        """The answers in force on this broker."""
        policies = self.environment.policies
        return policies.at(broker=self.id) if policies.scoped else policies

    @property
    def online(self) -> bool:
        return self.liveness is Liveness.RUNNING

    def forget_sessions(self) -> None:
        """Fetch sessions end with the broker's process, and what it knows of clients is forgotten."""
        if (sessions := self.__dict__.pop("sessions", None)) is not None:
            sessions.clear()
        self.__dict__.pop("quotas", None)
        self.__dict__.pop("telemetry", None)
        self.__dict__.pop("shares", None)
        self.__dict__.pop("streams_topics", None)

    def halt_shares(self) -> None:
        """It goes down: its share partitions and their states are for others."""
        for name in ("shares", "share_states"):
            if (found := self.__dict__.get(name)) is not None:
                found.halt()

    # Made when first used, because most of their code is not needed at the start.

    @cached_property
    def sessions(self) -> "FetchSessions":
        from .fetch_sessions import FetchSessions

        return FetchSessions(self.environment)

    @cached_property
    def quotas(self) -> "ClientQuotas":
        from .client_quotas import ClientQuotas

        return ClientQuotas(self.environment, self.id, lambda: self.image)

    @cached_property
    def telemetry(self) -> "ClientTelemetry":
        from .client_telemetry import ClientTelemetry

        return ClientTelemetry(self.environment, self.id)

    @cached_property
    def groups(self) -> "GroupCoordinator":
        from ..coordinators.groups import GroupCoordinator

        return GroupCoordinator(self)

    @cached_property
    def share_states(self) -> "ShareStates":
        from ..coordinators.share.states import ShareStates

        return ShareStates(self)

    @cached_property
    def shares(self) -> "ShareLeader":
        from .dead_letters import DeadLetters
        from .share_leader import ShareLeader

        return ShareLeader(self.persister, DeadLetters(self, self._controller), self.in_parts)

    @cached_property
    def streams_topics(self) -> "StreamsTopics":
        from .streams_topics import StreamsTopics

        return StreamsTopics(self.environment, self._controller)

    @cached_property
    def persister(self) -> "SharePersister":
        from .share_persister import SharePersister

        return SharePersister(self._share_states_of)

    def _share_states_of(self, key: "SharePartitionKey") -> "ShareStates | None":
        """The share coordinator of a share partition; None if it can't be reached."""
        partition = self._internal_topics.share_state_partition(key.coordinator_key)
        leader = self.leader_id(partition.topic.name, partition.index)
        broker = None if leader is None else self.reached(leader)
        return None if broker is None else broker.share_states

    @cached_property
    def transactions(self) -> "TransactionCoordinator":
        from ..coordinators.transactions import TransactionCoordinator

        return TransactionCoordinator(self)
