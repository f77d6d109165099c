"""CreateTopics: api key 19, v0 to v7."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import Throttled
from .of_administrators import Config
from .places import places


@dataclass(slots=True)
class CreatableReplicaAssignment:
    partition_index: int = 0
    broker_ids: list[int] = field(default_factory=list)


@dataclass(slots=True)
class CreatableTopic:
    name: str = ""
    num_partitions: int = 0
    replication_factor: int = 0
    assignments: list[CreatableReplicaAssignment] = field(default_factory=list)
    configs: list[Config] = field(default_factory=list)


@dataclass(slots=True)
class CreateTopicsRequest:
    topics: list[CreatableTopic] = field(default_factory=list)
    timeout_ms: int = 60000
    validate_only: bool = False  # v1+


@dataclass(slots=True)
class CreatableTopicConfigs:
    name: str = ""  # v5+
    value: str | None = None  # v5+
    read_only: bool = False  # v5+
    config_source: int = -1  # v5+
    is_sensitive: bool = False  # v5+


@dataclass(slots=True)
class CreatableTopicResult:
    name: str = ""
    topic_id: UUID | None = None  # v7+
    error_code: int = 0
    error_message: str | None = None  # v1+
    topic_config_error_code: int = 0  # v5+
    num_partitions: int = -1  # v5+
    replication_factor: int = -1  # v5+
    configs: list[CreatableTopicConfigs] | None = field(default_factory=list)  # v5+


@dataclass(slots=True)
class CreateTopicsResponse(Throttled):
    topics: list[CreatableTopicResult] = places("topic", "topics")
