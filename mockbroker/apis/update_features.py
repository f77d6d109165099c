"""UpdateFeatures (57): sets the levels of features for the whole cluster (KIP-584, KIP-778, KIP-1022)."""

from collections.abc import Collection, Mapping
from typing import Final

from ..cluster.call import Call
from ..configs import java
from ..controller.features import UPGRADE, Update, finalize, refusal
from ..outcome import Steps
from ..policies.controller.feature_updates import feature_updates
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ..protocol.releases import facts
from .registry import handles

_FAILED: Final = "The update failed for all features since the following feature had an error: "
_WITH_RESULTS: Final = 1
"""The last version that has a result for each feature."""


@handles(
    ApiKey.UPDATE_FEATURES,
    changes=True,
    usual_level="top",
    source="""ControllerApis.handleUpdateFeatures, QuorumController.updateFeatures,
        FeatureControlManager.updateFeature; since 4.0 (KIP-1022) the top has what a feature had;
        KafkaController.processFeatureUpdates, with ZooKeeper""",
    top_retry="NOT_CONTROLLER, REQUEST_TIMED_OUT",
    top="INVALID_UPDATE_VERSION, INVALID_REQUEST, CLUSTER_AUTHORIZATION_FAILED",
    resource="INVALID_UPDATE_VERSION v0-1, INVALID_REQUEST v0-1, FEATURE_UPDATE_FAILED v0-1",
)
def update_features(call: Call, request: UpdateFeaturesRequest) -> Steps:
    """Of several updates of a feature the last one is valid. v0 can't downgrade, whatever it asks for."""
    if call.broker.is_not_controller:
        error = ErrorCode.NOT_CONTROLLER
        return UpdateFeaturesResponse(error_code=error, error_message=default_message(error))
    asked = {each.feature: each for each in request.feature_updates}
    if not facts(call.environment.release).supported_features:
        return (yield from _with_results({name: _zookeeper_refusal(each) for name, each in asked.items()}))
    controller = call.cluster.controller
    refused: dict[str, str | None] = {}
    updates: dict[str, Update] = {}
    refused_first: list[str] = []
    for portion in portions(asked.items()):
        for name, each in portion:
            update = Update(name, each.max_version_level, each.upgrade_type if call.version else UPGRADE)
            refused[name] = refusal(controller, update)
            if refused[name] is None:
                updates[name] = update
        whys = [name for name, _ in portion if refused[name] is not None]
        refused_first = sorted([*refused_first, *whys], key=java.bucket)[:1]
        yield
    # Others had their turns since these were looked at.
    refused.update({name: refusal(controller, update) for name, update in updates.items()})
    late = [name for name in updates if refused[name] is not None]
    all_or_none = call.policies[feature_updates] == "all-or-none"
    if all_or_none and (refused_first or late):
        code, first = ErrorCode.INVALID_UPDATE_VERSION, (refused_first or late)[0]
        return UpdateFeaturesResponse(error_code=code, error_message=f"{_FAILED}{refused[first]}")
    if not request.validate_only:
        finalize(controller, [each for each in updates.values() if refused[each.feature] is None])
    if all_or_none:
        names = [each.feature for each in request.feature_updates] if call.version <= _WITH_RESULTS else []
        return UpdateFeaturesResponse(results=[UpdatableFeatureResult(name, 0, "NONE") for name in names])
    return (yield from _with_results(refused, ErrorCode.INVALID_UPDATE_VERSION))


def _with_results(refused: Mapping[str, str | None], code: ErrorCode = ErrorCode.INVALID_REQUEST) -> Steps:
    answer = UpdateFeaturesResponse(error_message="")
    for portion in portions(_sorted(refused)):
        answer.results += [
            UpdatableFeatureResult(name, 0 if refused[name] is None else code, refused[name])
            for name in portion
        ]
        yield
    return answer


def _sorted(names: Collection[str]) -> list[str]:
    """In the order of a `TreeMap`."""
    return sorted(names, key=lambda name: name.encode("utf-16-be"))


def _zookeeper_refusal(asked: FeatureUpdateKey) -> str:
    """Brokers with ZooKeeper have no features (`KafkaController.validateFeatureUpdate`)."""
    if not asked.feature:
        return "Feature name can not be empty."
    if asked.max_version_level >= 1:
        return "Could not apply finalized feature update because the provided feature is not supported."
    if asked.allow_downgrade:
        return "Can not delete non-existing finalized feature."
    return (
        f"Can not provide maxVersionLevel: {asked.max_version_level} less than 1 without setting the "
        "allowDowngrade flag to true in the request."
    )
