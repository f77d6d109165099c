"""StreamsGroupTopologyDescriptionUpdate: api key 93, v0 (KIP-1331)."""

from dataclasses import dataclass, field

from .common import TopCode
from .streams_groups import TopologyDescription


@dataclass(slots=True)
class StreamsGroupTopologyDescriptionUpdateRequest:
    group_id: str = ""
    member_id: str = ""
    topology_epoch: int = 0
    topology_description: TopologyDescription = field(default_factory=TopologyDescription)


@dataclass(slots=True)
class StreamsGroupTopologyDescriptionUpdateResponse(TopCode):
    error_message: str | None = None
