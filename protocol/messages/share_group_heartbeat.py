"""ShareGroupHeartbeat: api key 76, v1 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import TopCode


@dataclass(slots=True)
class ShareGroupHeartbeatRequest:
    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    rack_id: str | None = None
    subscribed_topic_names: list[str] | None = None


@dataclass(slots=True)
class TopicPartitions:
    topic_id: UUID | None = None
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Assignment:
    topic_partitions: list[TopicPartitions] = field(default_factory=list)


@dataclass(slots=True)
class ShareGroupHeartbeatResponse(TopCode):
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None
