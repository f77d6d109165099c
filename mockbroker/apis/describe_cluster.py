"""DescribeCluster (60): KIP-700, endpoint types by KIP-919, fenced brokers by KIP-1073."""

from typing import Final

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from .metadata import CLUSTER_OPERATIONS
from .registry import handles

_BROKERS: Final = 1
_CONTROLLERS: Final = 2


@handles(
    ApiKey.DESCRIBE_CLUSTER,
    changes=False,
    source="AuthHelper.computeDescribeClusterResponse (endpoint types since v1, KIP-919)",
    top="MISMATCHED_ENDPOINT_TYPE v1+, UNSUPPORTED_ENDPOINT_TYPE v1+, CLUSTER_AUTHORIZATION_FAILED",
)
def describe_cluster(call: Call, request: DescribeClusterRequest) -> DescribeClusterResponse:
    cluster = call.cluster
    if request.endpoint_type == _CONTROLLERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of type BROKER, "
            "but we wanted an endpoint of type CONTROLLER",
        )
    if request.endpoint_type != _BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message=f"Unsupported endpoint type {request.endpoint_type}",
        )
    answer = DescribeClusterResponse(
        cluster_id=cluster.cluster_id,
        controller_id=call.broker.named_controller,
        brokers=[
            DescribeClusterBroker(each.id, told.host, told.port, each.rack, each.fenced)
            for each in call.broker.image.brokers.values()
            if request.include_fenced_brokers or not each.fenced
            for told in (call.told(cluster.brokers[each.id]),)
        ],
    )
    if request.include_cluster_authorized_operations:
        answer.cluster_authorized_operations = CLUSTER_OPERATIONS
    return answer
