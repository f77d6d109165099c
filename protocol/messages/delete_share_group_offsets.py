"""DeleteShareGroupOffsets: api key 92, v0 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import TopCode
from .places import places


@dataclass(slots=True)
class DeleteShareGroupOffsetsRequestTopic:
    topic_name: str = ""


@dataclass(slots=True)
class DeleteShareGroupOffsetsRequest:
    group_id: str = ""
    topics: list[DeleteShareGroupOffsetsRequestTopic] = field(default_factory=list)


@dataclass(slots=True)
class DeleteShareGroupOffsetsResponseTopic:
    topic_name: str = ""
    topic_id: UUID | None = None
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class DeleteShareGroupOffsetsResponse(TopCode):
    error_message: str | None = None
    responses: list[DeleteShareGroupOffsetsResponseTopic] = places("topic", "topics")
