"""WriteTxnMarkers: api key 27, v0 to v2."""

from dataclasses import dataclass, field

from .common import NamePartitionIndexes, TopicCodes
from .places import places


@dataclass(slots=True)
class WritableTxnMarker:
    producer_id: int = 0
    producer_epoch: int = 0
    transaction_result: bool = False
    topics: list[NamePartitionIndexes] = field(default_factory=list)
    coordinator_epoch: int = 0
    transaction_version: int = 0  # v2+


@dataclass(slots=True)
class WriteTxnMarkersRequest:
    markers: list[WritableTxnMarker] = field(default_factory=list)


@dataclass(slots=True)
class WritableTxnMarkerResult:
    producer_id: int = 0
    topics: list[TopicCodes] = places("topic", "topics")


@dataclass(slots=True)
class WriteTxnMarkersResponse:
    markers: list[WritableTxnMarkerResult] = places("marker", "markers")
