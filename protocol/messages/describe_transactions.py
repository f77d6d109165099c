"""DescribeTransactions: api key 65, v0."""

from dataclasses import dataclass, field

from .common import Throttled, TopicPartitions
from .places import places


@dataclass(slots=True)
class DescribeTransactionsRequest:
    transactional_ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class TransactionState:
    error_code: int = 0
    transactional_id: str = ""
    transaction_state: str = ""
    transaction_timeout_ms: int = 0
    transaction_start_time_ms: int = 0
    producer_id: int = 0
    producer_epoch: int = 0
    topics: list[TopicPartitions] = places("topic")


@dataclass(slots=True)
class DescribeTransactionsResponse(Throttled):
    transaction_states: list[TransactionState] = places("transaction")
