"""DescribeConfigs: api key 32, v0 to v4."""

from dataclasses import dataclass, field

from ..primitives import Shared
from .common import Throttled
from .of_administrators import Config, ConfigResourceFailure, NamedResource
from .places import places


@dataclass(slots=True)
class DescribeConfigsResource(NamedResource):
    configuration_keys: list[str] | None = field(default_factory=list)


@dataclass(slots=True)
class DescribeConfigsRequest:
    resources: list[DescribeConfigsResource] = field(default_factory=list)
    include_synonyms: bool = False  # v1+
    include_documentation: bool = False  # v3+


@dataclass(slots=True)
class DescribeConfigsSynonym(Config):
    source: int = 0


@dataclass(slots=True)
class DescribeConfigsResourceResult(Config):
    read_only: bool = False
    is_default: bool = False  # v0
    config_source: int = -1  # v1+
    is_sensitive: bool = False
    synonyms: list[DescribeConfigsSynonym] = field(default_factory=list)  # v1+
    config_type: int = 0  # v3+
    documentation: str | None = None  # v3+


@dataclass(slots=True)
class DescribeConfigsResult(ConfigResourceFailure):
    configs: Shared[DescribeConfigsResourceResult] | list[DescribeConfigsResourceResult] = field(
        default_factory=list
    )


@dataclass(slots=True)
class DescribeConfigsResponse(Throttled):
    results: list[DescribeConfigsResult] = places("resource", "resources")
