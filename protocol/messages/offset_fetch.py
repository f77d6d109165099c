"""OffsetFetch: api key 9, v0 to v10."""

from dataclasses import dataclass, field
from uuid import UUID

from .places import places


@dataclass(slots=True)
class OffsetFetchRequestTopics:
    topic_id: UUID | None = None  # v10+
    partition_indexes: list[int] = field(default_factory=list)
    name: str = ""  # v0-9


@dataclass(slots=True)
class OffsetFetchRequestGroup:
    group_id: str = ""  # v8+
    member_id: str | None = None  # v9+
    member_epoch: int = -1  # v9+
    topics: list[OffsetFetchRequestTopics] | None = field(default_factory=list)  # v8+


@dataclass(slots=True)
class OffsetFetchRequest:
    groups: list[OffsetFetchRequestGroup] = field(default_factory=list)  # v8+
    require_stable: bool = False  # v7+
    group_id: str = ""  # v0-7
    topics: list[OffsetFetchRequestTopics] | None = field(default_factory=list)  # v0-7


@dataclass(slots=True)
class OffsetFetchResponsePartitions:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1  # v5+
    metadata: str | None = None
    error_code: int = 0


@dataclass(slots=True)
class OffsetFetchResponseTopics:
    topic_id: UUID | None = None  # v10+
    partitions: list[OffsetFetchResponsePartitions] = places("partition", "partition_indexes")
    name: str = ""  # v0-9


@dataclass(slots=True)
class OffsetFetchResponseGroup:
    group_id: str = ""  # v8+
    topics: list[OffsetFetchResponseTopics] = places("topic", "topics")  # v8+
    error_code: int = 0


@dataclass(slots=True)
class OffsetFetchResponse:
    throttle_time_ms: int = 0  # v3+
    groups: list[OffsetFetchResponseGroup] = places("group", "groups", since=8)  # v8+
    topics: list[OffsetFetchResponseTopics] = places("topic", "topics")  # v0-7
    error_code: int = 0  # v2-7


def upgrade(request: OffsetFetchRequest, version: int) -> OffsetFetchRequest:
    """Up to v7, the only group becomes a list of one (KIP-709). Topics can be null (all of them) since v2."""
    if version < 8:
        request.groups = [OffsetFetchRequestGroup(group_id=request.group_id, topics=request.topics)]
    return request


def downgrade(response: OffsetFetchResponse, version: int) -> OffsetFetchResponse:
    """Up to v7, the only group is at the top; v1 has no error code there, so each partition has it."""
    if version < 8:
        (only,) = response.groups
        response.topics, response.error_code = only.topics, only.error_code
    return response
