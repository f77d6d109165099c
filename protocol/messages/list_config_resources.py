"""ListConfigResources: api key 74, v0 and v1 (KIP-714, KIP-1142)."""

from dataclasses import dataclass, field

from .common import TopCode
from .places import places


@dataclass(slots=True)
class ListConfigResourcesRequest:
    resource_types: list[int] = field(default_factory=list)  # v1+


@dataclass(slots=True)
class ConfigResource:
    resource_name: str = ""
    resource_type: int = 16  # v1+


@dataclass(slots=True)
class ListConfigResourcesResponse(TopCode):
    config_resources: list[ConfigResource] = places("resource")
