"""EndTxn: api key 26, v0 to v5."""

from dataclasses import dataclass

from .common import TopCode


@dataclass(slots=True)
class EndTxnRequest:
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    committed: bool = False


@dataclass(slots=True)
class EndTxnResponse(TopCode):
    producer_id: int = -1  # v5+
    producer_epoch: int = -1  # v5+
