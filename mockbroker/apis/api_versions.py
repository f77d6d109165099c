"""ApiVersions (18): the APIs, versions and features of this broker (KIP-35, KIP-511, KIP-584)."""

import re
from collections.abc import Container

from ..cluster.call import Call
from ..coordinators.transaction_version import transaction_version
from ..outcome import Client
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from ..protocol.releases import Release, facts
from .advertised import advertised
from .registry import handles

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_FEATURE_NEEDS = {
    "transaction.version": 26,
    "group.version": 68,
    "share.version": 76,
}
"""Features that make clients use an API, by key; each is advertised only if its API is answered."""

_NO_NODE = -1
_FROM_ZERO_SINCE = 4
"""Earlier versions leave out features whose lowest level is 0, because clients refused them (KAFKA-17011)."""


@handles(
    ApiKey.API_VERSIONS,
    changes=False,
    source="""KafkaApis.handleApiVersionsRequest, ApiVersionsRequest (since v3 the client's name is checked);
        KIP-1242""",
    top="UNSUPPORTED_VERSION, INVALID_REQUEST v3+, REBOOTSTRAP_REQUIRED v5+",
)
def api_versions(call: Call, request: ApiVersionsRequest) -> ApiVersionsResponse:
    if not note_software(call.client, request) and call.version >= 3:
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    if error := _misdirected(call, request):
        return ApiVersionsResponse(error_code=error)
    call.client.versions_told()
    release, image = call.environment.release, call.broker.image
    configs = call.environment.configs
    supported = facts(release, configs.unstable).supported_features
    ranges = advertised(
        release,
        telemetry=configs.broker_bool("mockbroker.client.telemetry"),
        unstable=configs.unstable,
    )
    levels = {name: level for name, level in image.features.items() if _usable(ranges, name)}
    if "transaction.version" in levels:
        levels["transaction.version"] = transaction_version(call.policies, levels)
    return ApiVersionsResponse(
        api_keys=[ApiVersion(key, low, high) for key, (low, high) in ranges.items()],
        supported_features=[
            SupportedFeatureKey(name, low, high)
            for name, (low, high) in supported.items()
            if _usable(ranges, name) and (low or call.version >= _FROM_ZERO_SINCE)
        ],
        finalized_features_epoch=image.offset if supported else -1,
        finalized_features=[FinalizedFeatureKey(name, level, level) for name, level in levels.items()],
    )


def _misdirected(call: Call, request: ApiVersionsRequest) -> ErrorCode:
    """REBOOTSTRAP_REQUIRED if the client meant another broker (KIP-1242); INVALID_REQUEST if it gives only
    one of the two ids."""
    if (request.cluster_id is None) is not (request.node_id == _NO_NODE):
        return ErrorCode.INVALID_REQUEST
    meant = request.cluster_id, request.node_id
    if meant in ((None, _NO_NODE), (call.cluster.cluster_id, call.broker.id)):
        return ErrorCode.NONE
    return ErrorCode.REBOOTSTRAP_REQUIRED


def note_software(client: Client, request: ApiVersionsRequest) -> bool:
    """Whether the names that the client gives its software are valid (since v3, KIP-511); then they are
    kept."""
    name, version = request.client_software_name, request.client_software_version
    if not (_SOFTWARE.fullmatch(name) and _SOFTWARE.fullmatch(version)):
        return False
    client.software_name, client.software_version = name, version
    return True


def unsupported(release: Release) -> ApiVersionsResponse:
    """The v0 answer to a version that the broker does not know (KIP-511): only the versions of
    ApiVersions."""
    low, high = advertised(release)[ApiKey.API_VERSIONS]
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[ApiVersion(ApiKey.API_VERSIONS, low, high)]
    )


def _usable(ranges: Container[int], feature: str) -> bool:
    return feature not in _FEATURE_NEEDS or _FEATURE_NEEDS[feature] in ranges
