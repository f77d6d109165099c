"""AddPartitionsToTxn: api key 24, v0 to v5."""

from dataclasses import dataclass, field

from .common import NamePartitions, Throttled
from .places import places


@dataclass(slots=True)
class AddPartitionsToTxnTransaction:
    transactional_id: str = ""  # v4+
    producer_id: int = 0  # v4+
    producer_epoch: int = 0  # v4+
    verify_only: bool = False  # v4+
    topics: list[NamePartitions] = field(default_factory=list)  # v4+


@dataclass(slots=True)
class AddPartitionsToTxnRequest:
    transactions: list[AddPartitionsToTxnTransaction] = field(default_factory=list)  # v4+
    v3_and_below_transactional_id: str = ""  # v0-3
    v3_and_below_producer_id: int = 0  # v0-3
    v3_and_below_producer_epoch: int = 0  # v0-3
    v3_and_below_topics: list[NamePartitions] = field(default_factory=list)  # v0-3


@dataclass(slots=True)
class AddPartitionsToTxnPartitionResult:
    partition_index: int = 0  # v4+
    partition_error_code: int = 0  # v4+


@dataclass(slots=True)
class AddPartitionsToTxnTopicResult:
    name: str = ""  # v4+
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = places("partition", "partitions")  # v4+


@dataclass(slots=True)
class AddPartitionsToTxnResult:
    transactional_id: str = ""  # v4+
    topic_results: list[AddPartitionsToTxnTopicResult] = places("topic", "topics")  # v4+


@dataclass(slots=True)
class AddPartitionsToTxnResponse(Throttled):
    error_code: int = 0  # v4+
    results_by_transaction: list[AddPartitionsToTxnResult] = places("transaction", "transactions")  # v4+
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = places("topic")  # v0-3


def upgrade(request: AddPartitionsToTxnRequest, version: int) -> AddPartitionsToTxnRequest:
    """Up to v3, the only transaction becomes a list of one (KIP-890)."""
    if version < 4:
        only = AddPartitionsToTxnTransaction(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
        request.transactions = [only]
    return request


def downgrade(response: AddPartitionsToTxnResponse, version: int) -> AddPartitionsToTxnResponse:
    """Up to v3, the topics of the only transaction are at the top."""
    if version < 4:
        (only,) = response.results_by_transaction
        response.results_by_topic_v3_and_below = only.topic_results
    return response
