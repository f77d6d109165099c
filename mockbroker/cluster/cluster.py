"""The state of a whole cluster, and its only interface for requests and time.

Sans-IO: a shell (server, simulator, test) moves time with `advance` and passes decoded requests, each in a
`Call`, to the handlers in `apis/`; the answer comes at once, or through the call's sink.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from ..configs import Configs
from ..controller.controller import Controller
from ..environment import Environment
from ..metadata.log import MetadataLog
from ..metadata.records import FeatureLevelRecord
from ..nearest import among
from ..policies import Policies, UnknownPolicyError
from ..portions import portions
from ..protocol.primitives import short_uuid
from ..protocol.releases import Release, facts
from ..replication.cleanup import Cleanup
from ..replication.replica_manager import ReplicaManager
from .authorizer import Authorizer
from .broker import Broker
from .internal_topics import InternalTopics
from .local_peers import LocalPeers
from .network import Network
from .news import News
from .notes import Notes
from .processes import Processes
from .topic import Topic, TopicPartition, appear, disappear
from .work import Work

if TYPE_CHECKING:
    from ..coordinators.loading import Loading
    from ..log.stored import StoredLog


class Cluster:
    """A cluster of `brokers` brokers (ids from 1) in an environment. `racks` overrides `broker.rack`, by
    broker id. UnknownPolicyError if a policy is for a broker that does not exist, ConfigError for an unknown
    authorizer."""

    def __init__(
        self,
        environment: Environment,
        *,
        brokers: int = 3,
        racks: Mapping[int, str] | None = None,
    ) -> None:
        self.environment = environment
        self.work = Work(environment)
        self.cleanup = Cleanup(environment, self.work.begin)
        self.cluster_id = short_uuid(environment.new_uuid())
        self.notes = Notes()
        self.authorizer = Authorizer.of(environment.configs)
        """None if everybody may do everything."""
        self.passwords: dict[str, str] = {}
        """By user, for PLAIN; and what is known of those for SCRAM."""
        self.zookeeper_offsets: dict[tuple[str, str, int], int] = {}
        """Committed with OffsetCommit v0, by group, topic and partition."""
        self.topics: dict[str, Topic] = {}
        self.topic_ids: dict[UUID, Topic] = {}
        self.brokers: dict[int, Broker] = {}
        self.written_groups: dict[int, Loading] = {}
        """By partition of `__consumer_offsets` that no coordinator has loaded, what somebody who looked has
        read of its log."""
        managers: dict[int, ReplicaManager] = {}
        self.controller = Controller(
            environment,
            MetadataLog(),
            self.cluster_id,
            lambda records: self._news.wrote(records),
            lambda broker: self.processes.come_back(broker),
        )
        self._news = News(
            self.controller, self.brokers, managers, self.topics, self.topic_ids, self._coordinate
        )
        self.slow_metadata = self._news.slow_metadata
        self.processes = Processes(self.brokers, self.topics, self.controller, self._news)
        self.network = Network(self.brokers, self.controller, self._news, self.processes)
        self.internal_topics = InternalTopics(self.controller, self.topics)
        rack = self.configs.broker_text("broker.rack")
        for broker in range(1, brokers + 1):
            managers[broker] = self._new_manager(broker)
            self.brokers[broker] = self._new_broker(broker, (racks or {}).get(broker, rack), managers[broker])
        features = facts(environment.release, self.configs.unstable).finalized_features
        self.controller.write(*(FeatureLevelRecord(name, level) for name, (level, _) in features.items()))
        for each in self.brokers.values():
            self.controller.register(each.id, each.rack)
        for scope in self.policies.scopes:
            self.check_scope(scope.broker)
        self.controller.active.become(next(iter(self.brokers)))

    def _new_manager(self, broker: int) -> ReplicaManager:
        peers = LocalPeers(
            broker,
            self.brokers,
            self.topics,
            self.controller,
            self._news.leadership_changed,
            self.processes.stop,
        )
        return ReplicaManager(
            broker,
            self.environment,
            peers,
            self.cleanup,
            self.controller.metadata,
            appear,
            disappear,
        )

    def _new_broker(self, broker: int, rack: str | None, replicas: ReplicaManager) -> Broker:
        return Broker(
            broker,
            rack,
            self.controller,
            replicas,
            self.brokers,
            self.topics,
            self.internal_topics,
            self.work,
        )

    def check_scope(self, broker: int | None) -> None:
        """UnknownPolicyError if a policy is for a broker that does not exist."""
        if broker is not None and broker not in self.brokers:
            raise UnknownPolicyError(f"no broker {broker} to give a policy to{among(self.brokers)}")

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
        """When `advance` has to be called next; None if nothing waits."""
        return self.environment.timers.next_deadline()

    def partition(self, topic: str, index: int) -> TopicPartition | None:
        found = self.topics.get(topic)
        return found.partition(index) if found else None

    def partitions(self) -> Iterator[TopicPartition]:
        """Every partition of every topic."""
        for topic in self.topics.values():
            yield from topic.partitions

    def create_topic(
        self, name: str, assignment: list[list[int]], overrides: Mapping[str, str] | None = None
    ) -> Topic:
        """Creates a topic that does not exist; `assignment` lists the replicas of each partition."""
        self.controller.create_topic(name, assignment, overrides or {})
        return self.topics[name]

    def restore_topic(
        self,
        name: str,
        assignment: list[list[int]],
        overrides: Mapping[str, str],
        stored: "Mapping[int, StoredLog]",
        topic_id: UUID | None = None,
    ) -> Topic:
        """As `create_topic`, but partitions begin with the logs in `stored`, on each replica; their leader is
        elected anew, as after a restart."""
        topic_id = topic_id or self.environment.new_uuid()
        for index, log in stored.items():
            self.controller.producer_id_seen(log.highest_producer_id)
            for broker in assignment[index]:
                self.brokers[broker].replicas.stored[topic_id, index] = log
        epochs = {index: log.latest_epoch + 1 for index, log in stored.items()}
        self.controller.create_topic(name, assignment, overrides, topic_id, epochs)
        return self.topics[name]

    def delete_topics(self, topics: Collection[Topic]) -> None:
        """Deletes topics; requests that wait for them are answered."""
        for _ in self.deleting_topics(topics):
            pass

    def deleting_topics(self, topics: Iterable[Topic]) -> Generator[None, None, set[Topic]]:
        """As `delete_topics`, in parts; returns those that were still there. Coordinators forget offsets once
        all topics are gone."""
        gone: set[Topic] = set()
        for portion in portions(topics):
            there = [topic for topic in portion if self.topic_ids.get(topic.id) is topic]
            self.controller.delete_topics([topic.id for topic in there])
            gone.update(there)
            yield
        names = {topic.name for topic in gone}
        for broker in self.brokers.values() if gone else ():
            yield from broker.groups.topics_deleted(names)
            broker.groups.topic_ids_deleted({topic.id for topic in gone})
            if "share_states" in vars(broker):
                broker.share_states.topics_deleted({topic.id for topic in gone})
            if "__consumer_offsets" in names:
                broker.groups.shards.resign_all()
        return gone

    def offsets_partition(self, group_id: str) -> TopicPartition:
        """The partition of `__consumer_offsets` that holds the group."""
        return self.internal_topics.offsets_partition(group_id)

    def transaction_partition(self, transactional_id: str) -> TopicPartition:
        """The partition of `__transaction_state` that holds the transactional id."""
        return self.internal_topics.transaction_partition(transactional_id)

    def coordinator(self, group_id: str) -> Broker | None:
        """The broker that coordinates a group; None if none does."""
        broker = self.internal_topics.coordinator(group_id)
        return None if broker is None else self.brokers[broker]

    def _coordinate(self, broker: Broker, topic: Topic, index: int) -> None:
        """A broker now leads a partition of an internal topic, or no longer leads it."""
        partition = broker.replicas.find(topic, index)
        if topic.name == "__transaction_state":
            broker.transactions.leader_changed(index, partition)
        elif topic.name == "__share_group_state":
            broker.share_states.leader_changed(index, partition)
        else:
            broker.groups.leader_changed(index, partition)
