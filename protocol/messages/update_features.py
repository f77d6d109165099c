"""UpdateFeatures: api key 57, v0 to v2."""

from dataclasses import dataclass, field

from .common import TopCode
from .places import places


@dataclass(slots=True)
class FeatureUpdateKey:
    """`upgrade_type` is 1 for an upgrade, 2 for a safe and 3 for an unsafe downgrade."""

    feature: str = ""
    max_version_level: int = 0
    allow_downgrade: bool = False  # v0
    upgrade_type: int = 1  # v1+


@dataclass(slots=True)
class UpdateFeaturesRequest:
    timeout_ms: int = 60000
    feature_updates: list[FeatureUpdateKey] = field(default_factory=list)
    validate_only: bool = False  # v1+


@dataclass(slots=True)
class UpdatableFeatureResult:
    feature: str = ""
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class UpdateFeaturesResponse(TopCode):
    error_message: str | None = None
    results: list[UpdatableFeatureResult] = places("resource", "feature_updates")  # v0-1
