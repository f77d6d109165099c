"""IncrementalAlterConfigs: api key 44, v0 to v1."""

from dataclasses import dataclass, field

from .of_administrators import ConfigResourceFailures, NamedResource


@dataclass(slots=True)
class AlterableConfig:
    name: str = ""
    config_operation: int = 0
    value: str | None = None


@dataclass(slots=True)
class AlterConfigsResource(NamedResource):
    configs: list[AlterableConfig] = field(default_factory=list)


@dataclass(slots=True)
class IncrementalAlterConfigsRequest:
    resources: list[AlterConfigsResource] = field(default_factory=list)
    validate_only: bool = False


@dataclass(slots=True)
class IncrementalAlterConfigsResponse(ConfigResourceFailures):
    pass
