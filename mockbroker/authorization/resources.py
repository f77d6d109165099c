"""Requests for configurations, and for the cluster as a whole."""

from dataclasses import replace
from typing import Any

from ..acls import Operation, ResourceType
from ..acls.acl import CLUSTER_NAME
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..cluster.resources import ACL_TYPES, known_type
from ..faults.places import response_class
from ..policies.security.refused_configs import refused_configs
from ..protocol.api_keys import ApiKey
from ..protocol.errors import default_message
from ..protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ..protocol.messages.describe_configs import DescribeConfigsResult
from ..protocol.messages.of_administrators import ConfigResourceFailure
from .refusing import CODES, left_to_handler, parted
from .topics import on_cluster
from .verdict import Judging, Rule, Verdict


def configs(api: ApiKey, operation: Operation) -> Rule:
    """Needs an operation on each topic and group, and on the cluster for all other resources."""
    alters = api is not ApiKey.DESCRIBE_CONFIGS

    def rule(asker: Asker, call: Call, request: Any) -> Judging:
        def may(resource: str) -> bool:
            kind, _, name = resource.partition(":")
            found = ACL_TYPES[int(kind)]
            return asker.may(operation, found, CLUSTER_NAME if found is ResourceType.CLUSTER else name)

        def name_of(_: Call, entry: Any) -> str | None:
            if known_type(call.cluster, entry.resource_type) is None:
                return None
            return f"{int(entry.resource_type)}:{entry.resource_name}"

        if alters and call.policies[refused_configs].mistakes_first:
            # The handler asks, because it looks for mistakes before.
            return Verdict(request)
        kinds = {entry.resource_type for entry in request.resources}
        if not alters and any(known_type(call.cluster, each) is None for each in kinds):
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
    for each in others:
        code = CODES[ACL_TYPES[each.resource_type]]
        found.append(entry(code, default_message(code), each.resource_type, each.resource_name))
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
