"""AddOffsetsToTxn: api key 25, v0 to v4."""

from dataclasses import dataclass

from .common import TopCode


@dataclass(slots=True)
class AddOffsetsToTxnRequest:
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    group_id: str = ""


@dataclass(slots=True)
class AddOffsetsToTxnResponse(TopCode):
    pass
