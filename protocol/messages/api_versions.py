"""ApiVersions: api key 18, v0 to v5."""

from dataclasses import dataclass, field

from .places import places


@dataclass(slots=True)
class ApiVersionsRequest:
    """`cluster_id` and `node_id` are those that the client means to ask: both, or None and -1."""

    client_software_name: str = ""  # v3+
    client_software_version: str = ""  # v3+
    cluster_id: str | None = None  # v5+
    node_id: int = -1  # v5+


@dataclass(slots=True)
class ApiVersion:
    api_key: int = 0
    min_version: int = 0
    max_version: int = 0


@dataclass(slots=True)
class SupportedFeatureKey:
    name: str = ""  # v3+
    min_version: int = 0  # v3+
    max_version: int = 0  # v3+


@dataclass(slots=True)
class FinalizedFeatureKey:
    name: str = ""  # v3+
    max_version_level: int = 0  # v3+
    min_version_level: int = 0  # v3+


@dataclass(slots=True)
class ApiVersionsResponse:
    error_code: int = 0
    api_keys: list[ApiVersion] = field(default_factory=list)
    throttle_time_ms: int = 0  # v1+
    supported_features: list[SupportedFeatureKey] = places("resource")  # v3+
    finalized_features_epoch: int = -1  # v3+
    finalized_features: list[FinalizedFeatureKey] = places("resource")  # v3+
    zk_migration_ready: bool = False  # v3+
