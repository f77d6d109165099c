"""What messages of share groups have in common (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .places import places


@dataclass(slots=True)
class AcknowledgementBatch:
    """What a member says of records: a type for all of them, or one for each."""

    first_offset: int = 0
    last_offset: int = 0
    acknowledge_types: list[int] = field(default_factory=list)


@dataclass(slots=True)
class AcknowledgedPartition:
    partition_index: int = 0
    acknowledgement_batches: list[AcknowledgementBatch] = field(default_factory=list)


@dataclass(slots=True)
class AcknowledgedTopic:
    topic_id: UUID | None = None
    partitions: list[AcknowledgedPartition] = field(default_factory=list)


@dataclass(slots=True)
class ShareStateBatch:
    """What a share group has made of records; the state is Kafka's number."""

    first_offset: int = 0
    last_offset: int = 0
    delivery_state: int = 0
    delivery_count: int = 0


@dataclass(slots=True)
class SharePartitionAtEpoch:
    partition: int = 0
    leader_epoch: int = 0


@dataclass(slots=True)
class ShareTopicAtEpochs:
    topic_id: UUID | None = None
    partitions: list[SharePartitionAtEpoch] = field(default_factory=list)


@dataclass(slots=True)
class ShareStateOutcome:
    """The result for one share partition."""

    partition: int = 0
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class ShareStateOutcomes:
    """Of one topic."""

    topic_id: UUID | None = None
    partitions: list[ShareStateOutcome] = places("partition", "partitions")


@dataclass(slots=True)
class ShareStateChanged:
    """The answer to a request that changes states of share partitions."""

    results: list[ShareStateOutcomes] = places("topic", "topics")
