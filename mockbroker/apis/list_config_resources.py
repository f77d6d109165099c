"""ListConfigResources (74): what has, or may have, a configuration (KIP-714, KIP-1142)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ..cluster.call import Call
from ..outcome import Steps
from ..portions import MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from .registry import handles

_CLIENT_METRICS: Final = 16
_OLDER: Final = (_CLIENT_METRICS,)
"""What v0 lists, which was called ListClientMetricsResources."""


def _brokers(call: Call) -> Iterable[str]:
    return [str(each.id) for each in call.broker.listed]


_NAMES: Final[Mapping[int, Callable[[Call], Iterable[str]]]] = {
    2: lambda call: call.broker.known_topics(),
    4: _brokers,
    8: _brokers,
    _CLIENT_METRICS: lambda call: call.environment.configs.client_metrics,
    32: lambda call: call.environment.configs.groups,
}
"""By type of resource: topics, brokers, their loggers, subscriptions to metrics, groups."""


@handles(
    ApiKey.LIST_CONFIG_RESOURCES,
    changes=False,
    source="KafkaApis.handleListConfigResources",
    top="UNSUPPORTED_VERSION, CLUSTER_AUTHORIZATION_FAILED",
)
def list_config_resources(call: Call, request: ListConfigResourcesRequest) -> Steps:
    """Without types, those of all; UNSUPPORTED_VERSION for one that can't be listed."""
    types = tuple(dict.fromkeys(request.resource_types)) or tuple(_NAMES)
    if call.version == 0:
        types = _OLDER
    if any(kind not in _NAMES for kind in types):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    answer = ListConfigResourcesResponse()
    for kind in types:
        for names in portions(list(_NAMES[kind](call)), MANY):
            answer.config_resources += [ConfigResource(name, kind) for name in names]
            yield
    return answer
