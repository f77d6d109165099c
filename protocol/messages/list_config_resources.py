"""ListConfigResources: api key 74, v0 and v1 (KIP-714, KIP-1142)."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class ListConfigResourcesRequest:
    resource_types: list[int] = field(default_factory=list)  # v1+


@dataclass(slots=True)
class ConfigResource:
    resource_name: str = ""
    resource_type: int = 16  # v1+


@dataclass(slots=True)
class ListConfigResourcesResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    config_resources: list[ConfigResource] = field(default_factory=list)
