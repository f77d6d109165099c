"""The state of a whole cluster, and the only way for requests and time to reach it.

Sans-IO: a shell (server, simulator, test) moves time with `advance` and hands decoded requests, each in a
`Call`, to the handlers in `apis/`; the answer comes back at once or through the call's sink.
"""

import base64
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from ..configs import Configs
from ..environment import Environment
from ..java_hash import positive_hash
from ..metadata.image import PartitionRegistration
from ..metadata.log import MetadataLog
from ..metadata.records import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ..policies import Policies, UnknownPolicyError
from ..protocol.releases import Release
from ..replication.cleanup import Cleanup
from ..replication.partition import Partition
from . import news
from .active_controller import ActiveController
from .broker import Broker
from .notes import Notes
from .topic import Topic
from .topic_names import Colliding
from .topic_partition import TopicPartition
from .work import Work

if TYPE_CHECKING:
    from ..coordinators.group import ClassicGroup


class Cluster:
    """A cluster of `brokers` brokers (ids from 1) in an environment. `racks` overrides `broker.rack` by
    broker id. UnknownPolicyError when a policy is for no broker of these."""

    def __init__(
        self,
        environment: Environment,
        *,
        brokers: int = 3,
        racks: Mapping[int, str] | None = None,
    ) -> None:
        self.environment = environment
        self.work = Work(environment)
        self.cleanup = Cleanup(environment)
        self.cluster_id = base64.urlsafe_b64encode(environment.new_uuid().bytes).decode().rstrip("=")
        self.topics: dict[str, Topic] = {}
        self.topic_ids: dict[UUID, Topic] = {}
        self.most_topics = 0
        """How many the controller's table has made room for (`timeline_map`)."""
        self.colliding_names = Colliding()
        self.notes = Notes()
        rack = self.configs.broker_text("broker.rack")
        self.metadata = MetadataLog()
        self._writing = 0
        self._leadership: deque[tuple[Broker, UUID, int]] = deque()
        """What coordinators are yet to hear of: broker, topic id, partition."""
        self.brokers = {i: Broker(self, i, (racks or {}).get(i, rack)) for i in range(1, brokers + 1)}
        for broker in self.brokers.values():
            self.write(RegisterBrokerRecord(broker.id, broker.rack))
        for scope in self.policies.scopes:
            self.check_scope(scope.broker)
        self.active_controller = ActiveController(self)
        self.broker_changes = 0
        """How often a broker went down or came up: the shell has to follow with its listeners."""
        self._producer_ids = 0

    def write(self, *records: Record) -> None:
        """The controller writes metadata records. When all are written, those brokers hear of them from which
        nothing is withheld."""
        self._writing += 1
        changed: dict[TopicPartition, PartitionRegistration | None] = {}
        for record in records:
            self.metadata.write(record, self.environment.now_ms)
            match record:
                case PartitionRecord(topic_id, index) | PartitionChangeRecord(topic_id, index):
                    partition, before = self._register(self.topic_ids[topic_id], index)
                    changed.setdefault(partition, before)
                case RemoveTopicRecord(topic_id):
                    topic = self.topic_ids.pop(topic_id)
                    del self.topics[topic.name]
                    for broker in self._hearing(self.brokers):
                        broker.replicas.delete(topic)
                case BrokerRegistrationChangeRecord(fenced=False):
                    for broker in self._hearing(self.brokers):
                        broker.replicas.ask_again()
        for partition, before in changed.items():
            self._tell(partition, before)
        self._writing -= 1
        self.settle()
        if self.metadata.behind:
            news.plan(self)

    def _register(self, topic: Topic, index: int) -> tuple[TopicPartition, PartitionRegistration | None]:
        """The partition as it is now, and what it was, None when it is new."""
        registered = self.metadata.image.registered(topic.id, index)
        if index == len(topic.partitions):
            partition = TopicPartition(topic, index, registered)
            topic.partitions.append(partition)
            topic.most_partitions = max(topic.most_partitions, index + 1)
            return partition, None
        topic.most_partitions = max(topic.most_partitions, len(topic.partitions) + 1)
        partition = topic.partitions[index]
        before = partition.registered
        partition.register(registered)
        return partition, before

    def _tell(self, partition: TopicPartition, before: PartitionRegistration | None) -> None:
        """Tells the old leader first, then the new one, since the others fetch from it."""
        now = partition.registered
        concerned = [now.leader, *now.replicas]
        if before is not None:
            concerned = [before.leader, *concerned, *before.replicas]
        for broker in self._hearing(dict.fromkeys(concerned)):
            broker.replicas.update(partition.topic, partition.index, partition.registered)

    def _hearing(self, brokers: Iterable[int]) -> list[Broker]:
        """Those of `brokers` that hear at once of what is written."""
        behind = self.metadata.behind
        found = [self.brokers[each] for each in brokers if each >= 0 and each not in behind]
        return [each for each in found if each.online]

    def appear(self, replica: Partition) -> None:
        """A broker has a replica now."""
        if isinstance(replica.topic, Topic):
            replica.topic.partitions[replica.index].appear(replica)

    def disappear(self, replica: Partition) -> None:
        """A broker has none any more."""
        if isinstance(replica.topic, Topic):
            replica.topic.partitions[replica.index].disappear(replica)

    def leadership_changed(self, broker: Broker, topic_id: UUID, index: int) -> None:
        """A broker leads a partition now, or leads it no more: its coordinators hear of it once all brokers
        have heard that hear at once."""
        self._leadership.append((broker, topic_id, index))

    def settle(self) -> None:
        """Coordinators hear what they lead now."""
        while self._leadership and not self._writing:
            broker, topic_id, index = self._leadership.popleft()
            if (topic := self.topic_ids.get(topic_id)) is not None:
                self._coordinate(broker, topic, index)

    def check_scope(self, broker: int | None) -> None:
        """UnknownPolicyError when a policy is meant for a broker that is not there."""
        if broker is not None and broker not in self.brokers:
            there = ", ".join(map(str, self.brokers))
            raise UnknownPolicyError(f"no broker {broker} to give a policy to: choose one of {there}")

    @property
    def release(self) -> Release:
        return self.environment.release

    @property
    def configs(self) -> Configs:
        return self.environment.configs

    @property
    def now_ms(self) -> int:
        """Unix time."""
        return self.environment.now_ms

    @property
    def policies(self) -> Policies:
        """The answers in force."""
        return self.environment.policies

    @policies.setter
    def policies(self, policies: Policies) -> None:
        self.environment.policies = policies

    def advance(self, now_ms: int, waited_ms: int = 0) -> None:
        """Sets the time and fires what is due: `Environment.advance`."""
        self.environment.advance(now_ms, waited_ms)

    def next_deadline(self) -> int | None:
        """When `advance` has to be called next, None when nothing waits."""
        return self.environment.timers.next_deadline()

    def new_producer_id(self) -> int:
        producer_id = self._producer_ids
        self._producer_ids += 1
        return producer_id

    def partition(self, topic: str, index: int) -> TopicPartition | None:
        found = self.topics.get(topic)
        return found.partition(index) if found else None

    def partitions(self) -> Iterator[TopicPartition]:
        """Every partition there is."""
        for topic in self.topics.values():
            yield from topic.partitions

    def create_topic(
        self, name: str, assignment: list[list[int]], overrides: Mapping[str, str] | None = None
    ) -> Topic:
        """Creates a topic that does not exist; `assignment` lists the replicas of each partition."""
        topic_id = self.environment.new_uuid()
        topic = Topic(self, name, topic_id, overrides or {})
        self.topics[name] = self.topic_ids[topic_id] = topic
        self.most_topics = max(self.most_topics, len(self.topics))
        self.colliding_names.add(name)
        self.write(TopicRecord(name, topic_id))
        topic.add_partitions(assignment)
        return topic

    def delete_topics(self, topics: Collection[Topic]) -> None:
        """Deletes topics; requests that wait for them are answered."""
        for topic in topics:
            self.colliding_names.discard(topic.name)
            self.write(RemoveTopicRecord(topic.id))
        names = {topic.name for topic in topics}
        for broker in self.brokers.values():
            broker.groups.topics_deleted(names)
            if "__consumer_offsets" in names:
                broker.groups.resign(lambda _: True)

    def assign_replicas(self, partitions: int, replication_factor: int, first: int = 0) -> list[list[int]]:
        """Round robin over the brokers: partition i is led by the i-th, counted from `first`. Those that are
        fenced come last (`StripedReplicaPlacer.java`)."""
        active = [broker.id for broker in self.brokers.values() if not broker.fenced]
        fenced = [broker for broker in self.brokers if broker not in active]

        def placed(at: int) -> list[int]:
            turned = [active[(at + each) % len(active)] for each in range(len(active))]
            return [*turned, *fenced][:replication_factor]

        return [placed(first + index) for index in range(partitions)]

    def coordinator(self, group_id: str) -> Broker | None:
        """The broker that coordinates `group_id`: the leader of its partition of `__consumer_offsets`, None
        while it has none, or has one that does not know it yet."""
        partition = self.offsets_partition(group_id)
        knows = not self.metadata.behind or news.leader_knows(self, partition)
        return self.brokers.get(partition.registered.leader) if knows else None

    def offsets_partition(self, group_id: str) -> TopicPartition:
        """The partition of `__consumer_offsets` that holds the group."""
        topic = self.topics.get("__consumer_offsets") or self.create_offsets_topic()
        return topic.partitions[positive_hash(group_id) % len(topic.partitions)]

    def transaction_partition(self, transactional_id: str) -> TopicPartition:
        """The partition of `__transaction_state` that holds the transactional id; its leader is the
        coordinator."""
        topic = self.topics.get("__transaction_state") or self.create_transaction_topic()
        return topic.partitions[positive_hash(transactional_id) % len(topic.partitions)]

    def listed_by(self, broker: Broker) -> list[Broker]:
        """The brokers that `broker` tells clients of."""
        return [self.brokers[each.id] for each in broker.image.brokers.values() if not each.fenced]

    def _coordinate(self, broker: Broker, topic: Topic, index: int) -> None:
        """What a partition of an internal topic holds goes to the broker that leads it now."""
        partition = broker.replicas.find(topic, index)
        if topic.name == "__transaction_state":
            broker.transactions.leader_changed(index, partition)
        if (
            topic.name != "__consumer_offsets"
            or partition is None
            or topic.partitions[index].led is not partition
        ):
            return

        def held(group: "ClassicGroup") -> bool:
            return group.hash % len(topic.partitions) == index

        for other in self.brokers.values():
            if other is not broker:
                broker.groups.load(other.groups.resign(held))
        broker.groups.reload(held)

    def create_offsets_topic(self) -> Topic:
        overrides = {
            "compression.type": "producer",
            "cleanup.policy": "compact",
            "segment.bytes": self.configs.broker_text("offsets.topic.segment.bytes") or "104857600",
        }
        return self._create_internal_topic("__consumer_offsets", "offsets.topic", overrides)

    def create_transaction_topic(self) -> Topic:
        """As `TransactionStateManager.transactionTopicConfigs` has it."""
        config = self.configs
        overrides = {
            "unclean.leader.election.enable": "false",
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "min.insync.replicas": str(config.broker_int("transaction.state.log.min.isr")),
            "segment.bytes": str(config.broker_int("transaction.state.log.segment.bytes")),
        }
        return self._create_internal_topic("__transaction_state", "transaction.state.log", overrides)

    def _create_internal_topic(self, name: str, prefix: str, overrides: dict[str, str]) -> Topic:
        factor = min(self.configs.broker_int(f"{prefix}.replication.factor"), len(self.brokers))
        assignment = self.assign_replicas(self.configs.broker_int(f"{prefix}.num.partitions"), factor)
        return self.create_topic(name, assignment, overrides)
