"""DeleteTopics: api key 20, v0 to v6."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import Throttled
from .places import places


@dataclass(slots=True)
class DeleteTopicState:
    name: str | None = None  # v6+
    topic_id: UUID | None = None  # v6+


@dataclass(slots=True)
class DeleteTopicsRequest:
    topics: list[DeleteTopicState] = field(default_factory=list)  # v6+
    timeout_ms: int = 0
    topic_names: list[str] = field(default_factory=list)  # v0-5


@dataclass(slots=True)
class DeletableTopicResult:
    name: str | None = None
    topic_id: UUID | None = None  # v6+
    error_code: int = 0
    error_message: str | None = None  # v5+


@dataclass(slots=True)
class DeleteTopicsResponse(Throttled):
    responses: list[DeletableTopicResult] = places("topic", "topics")


def upgrade(request: DeleteTopicsRequest, version: int) -> DeleteTopicsRequest:
    """Up to v5, names become topic states (KIP-516)."""
    if version < 6:
        request.topics = [DeleteTopicState(name=name) for name in request.topic_names]
    return request
