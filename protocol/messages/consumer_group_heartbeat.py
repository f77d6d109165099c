"""ConsumerGroupHeartbeat: api key 68, v0 and v1 (KIP-848)."""

import uuid
from dataclasses import dataclass, field

from .common import TopCode


@dataclass(slots=True)
class ConsumerGroupHeartbeatTopicPartitions:
    topic_id: uuid.UUID | None = None
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupHeartbeatRequest:
    """Null, and -1 for the timeout, mean that nothing has changed since the last heartbeat."""

    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: list[str] | None = None
    subscribed_topic_regex: str | None = None  # v1+
    server_assignor: str | None = None
    topic_partitions: list[ConsumerGroupHeartbeatTopicPartitions] | None = None


@dataclass(slots=True)
class ConsumerGroupHeartbeatResponseAssignment:
    topic_partitions: list[ConsumerGroupHeartbeatTopicPartitions] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupHeartbeatResponse(TopCode):
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: ConsumerGroupHeartbeatResponseAssignment | None = None
