"""Metadata records, with KRaft's names and fields (`metadata/src/main/resources/common/metadata`).

They are written for releases with ZooKeeper too: its controller told brokers the same in LeaderAndIsr,
UpdateMetadata and StopReplica.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

NO_LEADER: Final = -1
NO_CONTROLLER: Final = -1


class RegisterBrokerRecord(NamedTuple):
    """A broker is there."""

    broker_id: int
    rack: str | None
    fenced: bool = False


class BrokerRegistrationChangeRecord(NamedTuple):
    """A broker is taken for gone (`fenced`), or is back."""

    broker_id: int
    fenced: bool


class ActiveControllerRecord(NamedTuple):
    """Which broker is the controller, NO_CONTROLLER for none: with ZooKeeper, UpdateMetadata said so."""

    broker_id: int


class TopicRecord(NamedTuple):
    """A topic is created; its partitions follow."""

    name: str
    topic_id: UUID


class RemoveTopicRecord(NamedTuple):
    """A topic is deleted, with its partitions."""

    topic_id: UUID


class PartitionRecord(NamedTuple):
    """A partition is created: the next one of its topic."""

    topic_id: UUID
    partition_id: int
    replicas: Sequence[int]
    isr: Sequence[int]
    leader: int
    leader_epoch: int = 0


class PartitionChangeRecord(NamedTuple):
    """What changes of a partition; None for what stays. `leader`, be it the same, begins the next leader
    epoch."""

    topic_id: UUID
    partition_id: int
    isr: Sequence[int] | None = None
    leader: int | None = None
    replicas: Sequence[int] | None = None
    removing_replicas: Sequence[int] | None = None
    adding_replicas: Sequence[int] | None = None
    eligible_leader_replicas: Sequence[int] | None = None
    last_known_elr: Sequence[int] | None = None


Record = (
    RegisterBrokerRecord
    | BrokerRegistrationChangeRecord
    | ActiveControllerRecord
    | TopicRecord
    | RemoveTopicRecord
    | PartitionRecord
    | PartitionChangeRecord
)
