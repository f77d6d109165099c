"""A topic: its partitions and its configuration."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from ..configs import TopicSettings
from . import controller, eligible
from .timeline_map import in_table_order
from .topic_partition import TopicPartition

if TYPE_CHECKING:
    from ..policies import Policies
    from .cluster import Cluster

INTERNAL = frozenset({"__consumer_offsets", "__transaction_state"})


class Topic:
    """A topic. `settings` are its effective values; change `overrides` through `configure`."""

    def __init__(
        self,
        cluster: "Cluster",
        name: str,
        topic_id: UUID,
        overrides: Mapping[str, str],
    ) -> None:
        self.cluster = cluster
        self.environment = cluster.environment
        self.name = name
        self.id = topic_id
        self.internal = name in INTERNAL
        self.settings: TopicSettings
        self.partitions: list[TopicPartition] = []
        self.most_partitions = 0
        """How many the controller's table has made room for (`timeline_map`)."""
        self.configure(overrides)

    def configure(self, overrides: Mapping[str, str]) -> None:
        """Sets the topic's own configuration. ConfigError when a value is invalid."""
        settings = self.cluster.environment.configs.topic_settings(overrides)
        if self.partitions and settings.min_insync_replicas != self.settings.min_insync_replicas:
            eligible.forget(self)
        self.settings = settings
        self.overrides = dict(overrides)
        for partition in self.partitions:
            for replica in partition.hosted:
                replica.log.segments.configure(settings)
                self.cluster.cleanup.reconfigured(replica)

    def add_partitions(self, assignment: list[list[int]]) -> None:
        """One for each list of replicas."""
        for index, replicas in enumerate(assignment, len(self.partitions)):
            controller.create_partition(self, index, replicas)

    def in_table_order(self) -> list[int]:
        """Its partitions as the controller goes through them."""
        return in_table_order(range(len(self.partitions)), self.most_partitions, int)

    @property
    def policies(self) -> "Policies":
        """The answers in force for this topic."""
        return self.environment.policies.at(self.name)

    def partition(self, index: int) -> TopicPartition | None:
        return self.partitions[index] if 0 <= index < len(self.partitions) else None
