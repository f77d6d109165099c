"""AlterConfigs: api key 33, v0 to v2."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class AlterableConfig:
    name: str = ""
    value: str | None = None


@dataclass(slots=True)
class AlterConfigsResource:
    resource_type: int = 0
    resource_name: str = ""
    configs: list[AlterableConfig] = field(default_factory=list)


@dataclass(slots=True)
class AlterConfigsRequest:
    resources: list[AlterConfigsResource] = field(default_factory=list)
    validate_only: bool = False


@dataclass(slots=True)
class AlterConfigsResourceResponse:
    error_code: int = 0
    error_message: str | None = None
    resource_type: int = 0
    resource_name: str = ""


@dataclass(slots=True)
class AlterConfigsResponse:
    throttle_time_ms: int = 0
    responses: list[AlterConfigsResourceResponse] = field(default_factory=list)
