"""What brokers tell the controller, and what it decides (`QuorumController.java`,
`ReplicationControlManager.java`, `ClusterControlManager.java`)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from ..acls import Acl
from ..environment import Environment, Timer
from ..metadata.log import MetadataLog
from ..metadata.records import (
    NO_LEADER,
    AccessControlEntryRecord,
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    PartitionRecord,
    Record,
    RegisterBrokerRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)
from ..policies.controller.broker_session import broker_session
from ..policies.epochs.isr_shrink_epoch import isr_shrink_epoch
from . import client_quotas, eligible, reassignments, scram
from .active_controller import ActiveController
from .client_quotas import Alteration, Outcomes
from .delegation_tokens import DelegationTokens
from .partition import ControlledPartition, partitions_on
from .partition_change import PartitionChange
from .scram import Deletion, Upsertion
from .state import ControllerState, Publish

_FIRST: Final[Mapping[int, int]] = {}


class AlterPartition(NamedTuple):
    """A leader's request for another ISR (KIP-497), with what the leader knows about the partition."""

    topic_id: UUID
    partition: int
    broker: int
    leader_epoch: int
    partition_epoch: int
    isr: Sequence[int]


class Controller(ControllerState):
    """`session_over` is called with each broker that was fenced because it was silent for too long."""

    def __init__(
        self,
        environment: Environment,
        metadata: MetadataLog,
        cluster_id: str,
        publish: Publish,
        session_over: Callable[[int], None],
    ) -> None:
        super().__init__(environment, metadata, publish)
        self.active = ActiveController(self, cluster_id)
        self.tokens = DelegationTokens(self)
        self.on_client_quotas: list[Callable[[], None]] = []
        """Called whenever client quotas were set."""
        self._session_over = session_over
        self._sessions: dict[int, Timer] = {}
        self._racks: dict[int, str | None] = {}
        self._producer_ids = 0

    def producer_id_seen(self, producer_id: int) -> None:
        """A log has records of this producer: nobody else is to get its id."""
        self._producer_ids = max(self._producer_ids, producer_id + 1)

    def new_producer_id(self) -> int:
        producer_id = self._producer_ids
        self._producer_ids += 1
        return producer_id

    # -- brokers

    def register(self, broker: int, rack: str | None) -> None:
        """A broker registers for the first time."""
        self._racks[broker] = rack
        self.write(RegisterBrokerRecord(broker, rack))

    def shut_down(self, broker: int) -> None:
        """A broker is about to stop: where an in-sync replica can, it takes over as leader
        (ControlledShutdown)."""
        for partition in partitions_on(self, broker):
            registered = partition.registered
            others = [each for each in registered.isr if each != broker]
            if registered.leader == broker and any(map(self.may_lead, others)):
                _leave(partition, broker)

    def lose_contact(self, broker: int, why: str) -> None:
        """The controller no longer hears from a broker, which it fences once the session has timed out; `why`
        is for people."""
        self.silence(broker)
        if broker not in self._sessions and not self.is_fenced(broker):
            session_ms = self.environment.configs.broker_int(self.environment.policies[broker_session])
            because = f"{self.reasons.told(why)}, and its session timed out"
            self._sessions[broker] = self.environment.after(
                session_ms, lambda: self._end_session(broker, because)
            )

    def silence(self, broker: int) -> None:
        """The controller can't hear a broker for now."""
        self.silent.add(broker)

    def _end_session(self, broker: int, why: str) -> None:
        with self.reasons.because(why):
            self.fence(broker)
        self._session_over(broker)

    def fence(self, broker: int) -> None:
        """Removes a broker as leader, and from ISRs."""
        self._register_as(broker, fenced=True)
        self._forget_session(broker)
        self.active.fenced(broker)
        self._out_of_all(broker)

    def unregister(self, broker: int) -> None:
        """Forgets a registered broker, which is like fencing it. One that runs does not register again: it
        only sends heartbeats, which are refused (STALE_BROKER_EPOCH)."""
        self._register_as(broker, fenced=True)
        with self.reasons.because(f"broker {broker} was unregistered"):
            self._out_of_all(broker)
        self.write(UnregisterBrokerRecord(broker))
        if broker in self._sessions:
            # Another process that has the id may register now.
            self._forget_session(broker)
            self._session_over(broker)

    def _out_of_all(self, broker: int) -> None:
        for partition in partitions_on(self, broker):
            registered = partition.registered
            if broker in registered.isr or broker == registered.leader:
                _leave(partition, broker)

    def unfence(self, broker: int) -> None:
        """The controller hears from a broker again; `elections` elects leaders then."""
        self.silent.discard(broker)
        self._forget_session(broker)
        self._register_as(broker, fenced=False)
        self.active.appear()

    def _register_as(self, broker: int, *, fenced: bool) -> None:
        if not self.is_registered(broker):
            if not fenced:
                self.write(RegisterBrokerRecord(broker, self._racks[broker]))
        elif self.is_fenced(broker) is not fenced:
            self.write(BrokerRegistrationChangeRecord(broker, fenced=fenced))

    def _forget_session(self, broker: int) -> None:
        if (session := self._sessions.pop(broker, None)) is not None:
            session.cancel()

    def killed(self, broker: int) -> None:
        """A broker that registers again had been killed: it may have lost records, and is no longer eligible
        to lead (KIP-966)."""
        for partition in partitions_on(self, broker):
            if eligible.tracked(partition) and broker in (
                *partition.isr,
                *partition.eligible_leader_replicas,
            ):
                change = _without(partition, broker)
                change.unclean_shutdown = broker
                with self.reasons.because(f"broker {broker} registers again after it was killed"):
                    change.make()

    # -- partitions

    def partition(self, topic_id: UUID, index: int) -> ControlledPartition:
        """A partition of an existing topic."""
        return ControlledPartition(self, topic_id, index)

    def alter_isr(self, asked: AlterPartition) -> bool:
        """False if the asking broker is no longer the leader, or has not learned the partition's present
        state (`ReplicationControlManager.validateAlterPartitionData`)."""
        registered = self.image.partition(asked.topic_id, asked.partition)
        if registered is None:
            return False
        if registered.leader != asked.broker or registered.leader_epoch != asked.leader_epoch:
            return False
        if registered.partition_epoch != asked.partition_epoch:
            return False
        partition = self.partition(asked.topic_id, asked.partition)
        change = PartitionChange(partition)
        change.isr = asked.isr
        change.shrink_bumps_epoch = change.policies[isr_shrink_epoch].lagging
        if not set(asked.isr) <= set(registered.isr) and reassignments.under_way(partition):
            # A reassignment must not end now: the leader may change then, while the follower is in the middle
            # of its fetch.
            change.completes = False
            self.environment.wait(0, lambda: reassignments.complete(partition), owned=False)
        with self.reasons.because("the leader asked for another ISR"):
            change.make()
        return True

    # -- topics

    def create_topic(
        self,
        name: str,
        assignment: Sequence[Sequence[int]],
        overrides: Mapping[str, str],
        topic_id: UUID | None = None,
        leader_epochs: Mapping[int, int] = _FIRST,
    ) -> UUID:
        """Creates a topic that does not exist; `assignment` lists the replicas of each partition,
        `leader_epochs` has those in which partitions begin, if not 0. ConfigError if a value is invalid."""
        self.environment.configs.topic_settings(overrides)
        topic_id = topic_id or self.environment.new_uuid()
        configs = [ConfigRecord(name, *each) for each in overrides.items()]
        self.colliding_names.add(name)
        partitions = self._new_partitions(topic_id, 0, assignment, leader_epochs)
        self.write(TopicRecord(name, topic_id), *configs, *partitions)
        return topic_id

    def add_partitions(self, topic_id: UUID, assignment: Sequence[Sequence[int]]) -> None:
        """Adds one partition for each list of replicas."""
        present = len(self.image.topic_ids[topic_id].partitions)
        self.write(*self._new_partitions(topic_id, present, assignment))

    def _new_partitions(
        self,
        topic_id: UUID,
        present: int,
        assignment: Sequence[Sequence[int]],
        leader_epochs: Mapping[int, int] = _FIRST,
    ) -> list[Record]:
        """The new partitions, in which fenced brokers neither lead nor are in sync."""
        records: list[Record] = []
        in_sync = {
            id(replicas): [broker for broker in replicas if not self.is_fenced(broker)]
            for replicas in {id(each): each for each in assignment}.values()
        }
        for index, replicas in enumerate(assignment, present):
            isr = in_sync[id(replicas)]
            leader, epoch = isr[0] if isr else NO_LEADER, leader_epochs.get(index, 0)
            records.append(PartitionRecord(topic_id, index, replicas, isr or replicas, leader, epoch))
        return records

    def configure_topic(self, topic_id: UUID, overrides: Mapping[str, str]) -> None:
        """Sets the topic's own configuration as a whole. ConfigError if a value is invalid."""
        configs, topic = self.environment.configs, self.image.topic_ids[topic_id]
        before, after = configs.topic_settings(topic.overrides), configs.topic_settings(overrides)
        if before.min_insync_replicas != after.min_insync_replicas:
            self.min_insync_replicas_set(topic_id)
        names = dict.fromkeys((*topic.overrides, *overrides))
        changed = [name for name in names if topic.overrides.get(name) != overrides.get(name)]
        self.write(*(ConfigRecord(topic.name, name, overrides.get(name)) for name in changed))

    def alter_client_quotas(
        self, alterations: Iterable[Alteration], outcomes: Outcomes, *, validate_only: bool
    ) -> None:
        """Sets client quotas; adds to the outcomes of the request, which may name each entity once."""
        records = client_quotas.altered(self.image, self.environment.policies, alterations, outcomes)
        if not validate_only:
            self.write(*records)
            for tell in self.on_client_quotas:
                tell()

    def alter_scram_credential(self, asked: Deletion | Upsertion) -> None:
        """Sets what a user logs in with. ApiError."""
        self.write(scram.record(self.image, asked))

    def create_acl(self, acl: Acl) -> None:
        """Creates a valid ACL, unless it exists."""
        if acl not in self.image.acls:
            self.write(AccessControlEntryRecord(acl))

    def delete_acls(self, acls: Iterable[Acl]) -> None:
        """Deletes those that exist."""
        self.write(*(RemoveAccessControlEntryRecord(each) for each in acls if each in self.image.acls))

    def min_insync_replicas_set(self, topic_id: UUID) -> None:
        """A topic's `min.insync.replicas` was set: forgets which replicas were eligible to lead."""
        count = len(self.image.topic_ids[topic_id].partitions)
        eligible.forget(self.partition(topic_id, index) for index in range(count))

    def delete_topics(self, topic_ids: Collection[UUID]) -> None:
        for topic_id in topic_ids:
            self.colliding_names.discard(self.image.topic_ids[topic_id].name)
        self.write(*map(RemoveTopicRecord, topic_ids))
        self.reasons.forget(topic_ids)


def _leave(partition: ControlledPartition, broker: int) -> None:
    """A broker no longer leads, and is no longer in sync."""
    change = _without(partition, broker)
    change.shrink_bumps_epoch = change.policies[isr_shrink_epoch].offline
    change.make()


def _without(partition: ControlledPartition, broker: int) -> PartitionChange:
    """The partition with a broker out of its ISR."""
    change = PartitionChange(partition)
    change.isr = [each for each in change.isr if each != broker]
    return change
