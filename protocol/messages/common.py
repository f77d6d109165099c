"""What messages of several APIs have in common."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from .places import places


@dataclass(slots=True)
class Throttled:
    """An answer that begins with how long the client should wait (KIP-219)."""

    throttle_time_ms: int = 0


@dataclass(slots=True)
class TopCode(Throttled):
    """An answer with an error code at its top."""

    error_code: int = 0


@dataclass(slots=True)
class NamePartitions:
    name: str = ""
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class TopicPartitions:
    topic: str = ""
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class NamePartitionIndexes:
    name: str = ""
    partition_indexes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class PartitionIndex:
    partition_index: int = 0


@dataclass(slots=True)
class PartitionCode:
    partition_index: int = 0
    error_code: int = 0


@dataclass(slots=True)
class TopicCodes:
    name: str = ""
    partitions: list[PartitionCode] = places("partition", "partitions", "partition_indexes")


@dataclass(slots=True)
class PartitionMetadata:
    """What metadata says of a partition."""

    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1
    replica_nodes: Sequence[int] = field(default_factory=list)
    isr_nodes: Sequence[int] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class LeaderIdAndEpoch:
    leader_id: int = -1
    leader_epoch: int = -1


NO_LEADER: Final = LeaderIdAndEpoch()
NOBODY_TOLD: Final = LeaderIdAndEpoch(0, 0)
"""Where an answer of a share group does not name a leader."""


@dataclass(slots=True)
class NodeEndpoint:
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None


@dataclass(slots=True)
class MemberInGeneration:
    """A member of a classic group, in the generation of its last rebalance."""

    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None
