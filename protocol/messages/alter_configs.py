"""AlterConfigs: api key 33, v0 to v2."""

from dataclasses import dataclass, field

from .of_administrators import Config, ConfigResourceFailures, NamedResource


@dataclass(slots=True)
class AlterConfigsResource(NamedResource):
    configs: list[Config] = field(default_factory=list)


@dataclass(slots=True)
class AlterConfigsRequest:
    resources: list[AlterConfigsResource] = field(default_factory=list)
    validate_only: bool = False


@dataclass(slots=True)
class AlterConfigsResponse(ConfigResourceFailures):
    pass
