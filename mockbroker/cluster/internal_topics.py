"""The topics in which coordinators keep their state, which are created when first used."""

from collections.abc import Mapping

from ..controller.controller import Controller
from ..controller.topic_creation import assign_replicas
from ..java_hash import positive_hash
from ..metadata.records import NO_LEADER
from ..protocol.releases import facts
from .topic import Topic, TopicPartition


class InternalTopics:
    """`__consumer_offsets`, `__transaction_state` and `__share_group_state` among the `topics` of a
    cluster."""

    def __init__(self, controller: Controller, topics: Mapping[str, Topic]) -> None:
        self._controller = controller
        self._topics = topics

    def offsets_partition(self, group_id: str) -> TopicPartition:
        """The partition of `__consumer_offsets` that holds the group."""
        topic = self._topics.get("__consumer_offsets") or self.create_offsets_topic()
        return topic.partitions[positive_hash(group_id) % len(topic.partitions)]

    def transaction_partition(self, transactional_id: str) -> TopicPartition:
        """The partition of `__transaction_state` that holds the transactional id; its leader is the
        coordinator."""
        topic = self._topics.get("__transaction_state") or self.create_transaction_topic()
        return topic.partitions[positive_hash(transactional_id) % len(topic.partitions)]

    @property
    def has_share_state(self) -> bool:
        """Whether the release has share groups."""
        return "share.version" in facts(self._controller.environment.release).supported_features

    def share_state_partition(self, key: str) -> TopicPartition:
        """The partition of `__share_group_state` that holds a share partition, by what FindCoordinator is
        asked for."""
        topic = self._topics.get("__share_group_state") or self.create_share_state_topic()
        return topic.partitions[positive_hash(key) % len(topic.partitions)]

    def coordinator(self, group_id: str) -> int | None:
        """The broker that coordinates `group_id`: the leader of its partition of `__consumer_offsets`. None
        if there is none, or it has not learned that it leads."""
        partition, metadata = self.offsets_partition(group_id), self._controller.metadata
        if metadata.behind and not metadata.leader_knows(partition.topic_id, partition.index):
            return None
        leader = partition.leader
        return None if leader == NO_LEADER else leader

    def create_offsets_topic(self) -> Topic:
        assignment, overrides = self.new_offsets_topic()
        self._controller.create_topic("__consumer_offsets", assignment, overrides)
        return self._topics["__consumer_offsets"]

    def new_offsets_topic(self) -> tuple[list[list[int]], dict[str, str]]:
        """The replicas and the configuration with which the offsets topic is created."""
        configs = self._controller.environment.configs
        overrides = {
            "compression.type": "producer",
            "cleanup.policy": "compact",
            "segment.bytes": configs.broker_text("offsets.topic.segment.bytes") or "104857600",
        }
        return self._assignment("offsets.topic"), overrides

    def create_transaction_topic(self) -> Topic:
        """Created as in `TransactionStateManager.transactionTopicConfigs`."""
        configs = self._controller.environment.configs
        overrides = {
            "unclean.leader.election.enable": "false",
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "min.insync.replicas": str(configs.broker_int("transaction.state.log.min.isr")),
            "segment.bytes": str(configs.broker_int("transaction.state.log.segment.bytes")),
        }
        assignment = self._assignment("transaction.state.log")
        self._controller.create_topic("__transaction_state", assignment, overrides)
        return self._topics["__transaction_state"]

    def create_share_state_topic(self) -> Topic:
        """Created as in `ShareCoordinatorService.shareGroupStateTopicConfigs`."""
        configs = self._controller.environment.configs
        prefix = "share.coordinator.state.topic"
        overrides = {
            "compression.type": "producer",
            "cleanup.policy": "delete",
            "min.insync.replicas": str(configs.broker_int(f"{prefix}.min.isr")),
            "segment.bytes": str(configs.broker_int(f"{prefix}.segment.bytes")),
            "retention.ms": "-1",
        }
        self._controller.create_topic("__share_group_state", self._assignment(prefix), overrides)
        return self._topics["__share_group_state"]

    def _assignment(self, prefix: str) -> list[list[int]]:
        controller = self._controller
        configs = controller.environment.configs
        factor = min(configs.broker_int(f"{prefix}.replication.factor"), len(controller.image.brokers))
        return assign_replicas(controller, configs.broker_int(f"{prefix}.num.partitions"), factor)
