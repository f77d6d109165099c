"""ListTransactions: api key 66, v0 to v2."""

from dataclasses import dataclass, field

from .common import TopCode
from .places import places


@dataclass(slots=True)
class ListTransactionsRequest:
    state_filters: list[str] = field(default_factory=list)
    producer_id_filters: list[int] = field(default_factory=list)
    duration_filter: int = -1  # v1+
    transactional_id_pattern: str | None = None  # v2+


@dataclass(slots=True)
class TransactionState:
    transactional_id: str = ""
    producer_id: int = 0
    transaction_state: str = ""


@dataclass(slots=True)
class ListTransactionsResponse(TopCode):
    unknown_state_filters: list[str] = field(default_factory=list)
    transaction_states: list[TransactionState] = places("transaction")
