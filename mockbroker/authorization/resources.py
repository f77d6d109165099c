"""Requests for configurations, and for the cluster as a whole."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ..acls import Operation, ResourceType
from ..acls.acl import CLUSTER_NAME
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..cluster.resources import known_type
from ..faults.places import response_class
from ..policies.security.refused_broker_configs import refused_broker_configs
from ..protocol.api_keys import ApiKey
from ..protocol.errors import default_message
from ..protocol.messages.common import ConfigResourceFailure
from ..protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ..protocol.messages.describe_configs import DescribeConfigsResult
from .refusing import CODES, left_to_handler, parted
from .topics import on_cluster
from .verdict import Judging, Rule, Verdict

_KINDS: Final[Mapping[int, ResourceType]] = {
    2: ResourceType.TOPIC,
    4: ResourceType.CLUSTER,
    8: ResourceType.CLUSTER,
    16: ResourceType.CLUSTER,
    32: ResourceType.GROUP,
}
"""By type of a resource with configurations: topics, brokers, loggers, client metrics, groups."""
_OF_BROKERS: Final = (4, 8)


def configs(api: ApiKey, operation: Operation) -> Rule:
    """Needs an operation on each topic and group, and on the cluster for all other resources."""

    def rule(asker: Asker, call: Call, request: Any) -> Judging:
        def may(resource: str) -> bool:
            kind, _, name = resource.partition(":")
            found = _KINDS[int(kind)]
            return asker.may(operation, found, CLUSTER_NAME if found is ResourceType.CLUSTER else name)

        def name_of(_: Call, entry: Any) -> str | None:
            if known_type(call.cluster, entry.resource_type) is None:
                return None
            return f"{int(entry.resource_type)}:{entry.resource_name}"

        kinds = {entry.resource_type for entry in request.resources}
        if api is ApiKey.DESCRIBE_CONFIGS and any(known_type(call.cluster, each) is None for each in kinds):
            # That is an error before anything is authorized.
            return Verdict(request)
        allowed, others = yield from parted(call, request.resources, name_of, may)
        if not others:
            return Verdict(request)
        return left_to_handler(request, "resources", allowed, _refusal(call, api, others))

    return rule


def _refusal(call: Call, api: ApiKey, others: list[Any]) -> Any:
    entry = DescribeConfigsResult if api is ApiKey.DESCRIBE_CONFIGS else ConfigResourceFailure
    found = []
    untold = call.policies[refused_broker_configs] == "untold"
    for each in others:
        code = CODES[_KINDS[each.resource_type]]
        message = default_message(code)
        if entry is ConfigResourceFailure and each.resource_type in _OF_BROKERS and untold:
            message = None
        found.append(entry(code, message, each.resource_type, each.resource_name))
    field = "results" if api is ApiKey.DESCRIBE_CONFIGS else "responses"
    return response_class(api)(**{field: found})


def describe_cluster(asker: Asker, call: Call, request: DescribeClusterRequest) -> Verdict:
    """Everybody may ask, and learns what it may do itself."""
    if not request.include_cluster_authorized_operations:
        return Verdict(request)

    def then(answer: DescribeClusterResponse) -> DescribeClusterResponse:
        if answer.error_code:
            return answer
        bits = on_cluster(asker, answer.cluster_authorized_operations)
        return replace(answer, cluster_authorized_operations=bits)

    return Verdict(request, then=then)
