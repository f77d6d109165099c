"""DescribeAcls (29), of brokers without an authorizer."""

from ..cluster.call import Call
from ..outcome import CLOSE
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from .registry import handles


@handles(
    ApiKey.DESCRIBE_ACLS,
    changes=False,
    source="AclApis.handleDescribeAcls",
    top="SECURITY_DISABLED, CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST",
)
def describe_acls(_: Call, request: DescribeAclsRequest) -> object:
    """A filter with a type that stands for none closes the connection (`DescribeAclsRequest.java`)."""
    types = (request.resource_type_filter, request.pattern_type_filter, request.operation)
    if 0 in (*types, request.permission_type):
        return CLOSE
    return DescribeAclsResponse(
        error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured on the broker"
    )
