"""Which levels features may be set to, and what follows (`FeatureControlManager.java`)."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ..metadata.records import FeatureLevelRecord
from ..protocol.releases import NEWEST, facts, parse
from .eligible import FEATURE as ELIGIBLE_LEADER_REPLICAS
from .state import ControllerState

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3
_KRAFT: Final = "kraft.version"
_METADATA: Final = "metadata.version"
_CHANGES_METADATA: Final = frozenset({1, 3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30, 33})
"""Levels of `metadata.version` whose records an earlier one lacks (`MetadataVersion.java`)."""
_FIRST_OF_KRAFT: Final = 4
"""The level of 3.3-IV0, which is the first that has records of features."""
_KNOWN_SINCE: Final = parse("4.0")
"""Earlier releases set any feature to 0."""
_VOTERS_SINCE: Final = parse("4.1")
"""Later releases keep `kraft.version` among the voters (KAFKA-18979)."""
_WORDS_SINCE: Final = parse("4.2")
"""How a downgrade of `metadata.version` is refused was put differently before."""


class Update(NamedTuple):
    """`how` is UPGRADE, SAFE_DOWNGRADE or UNSAFE_DOWNGRADE, or what a client sent in place of these."""

    feature: str
    level: int
    how: int


def refusal(state: ControllerState, update: Update) -> str | None:
    """Why a feature can't be set to that level; None if it can."""
    why = _why_not(state, update)
    if why is None and update.feature == _METADATA:
        return _metadata_refusal(state, update)
    return why and f"Invalid update version {update.level} for feature {update.feature}. {why}"


def _why_not(state: ControllerState, update: Update) -> str | None:
    feature, level, how = update
    release = state.environment.release
    supported = facts(release, state.environment.configs.unstable).supported_features
    low, high = supported.get(feature, (0, 0))
    current = state.image.features.get(feature, 0)
    if not UPGRADE <= how <= UNSAFE_DOWNGRADE:
        return "The controller does not support the given upgrade type."
    if level < 0:
        return "A feature version cannot be less than 0."
    if not low <= level <= high:
        where = f"Local controller {state.image.controller}"
        return (
            f"{where} only supports versions {low}-{high}"
            if high
            else f"{where} does not support this feature."
        )
    if level < current and how == UPGRADE:
        return (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or "
            "unsafe downgrade."
        )
    if level > current and how != UPGRADE:
        return "Can't downgrade to a newer version."
    if feature == _KRAFT and level < current and release >= _VOTERS_SINCE:
        return "Can't downgrade the version of this feature."
    if release >= _KNOWN_SINCE and feature not in facts(parse(NEWEST)).supported_features:
        return f"Feature {feature} not found."
    return None


def _metadata_refusal(state: ControllerState, update: Update) -> str | None:
    current, level, release = state.image.features[_METADATA], update.level, state.environment.release
    refused = f"Invalid metadata.version {level}."
    if level < _FIRST_OF_KRAFT:
        return f"{refused} Unable to set a metadata.version less than 3.3-IV0"
    if _CHANGES_METADATA.isdisjoint(range(level + 1, current + 1)):
        return None
    if release >= _WORDS_SINCE:
        refused = f"Unsupported metadata.version downgrade from {current} to {level}."
    if update.how == UNSAFE_DOWNGRADE:
        return f"{refused} Unsafe metadata downgrade is not supported in this version."
    return (
        f"{refused} Refusing to perform the requested downgrade because it might delete metadata information."
    )


def finalize(state: ControllerState, updates: Iterable[Update]) -> None:
    """Sets features to levels that they may be set to."""
    configs = state.environment.configs
    records = [FeatureLevelRecord(each.feature, each.level) for each in updates]
    for name, level in records:
        if name == ELIGIBLE_LEADER_REPLICAS:
            configs.eligible_leader_replicas = level > 0
            if level:
                configs.track_eligible_leader_replicas()
    state.write(*records)
