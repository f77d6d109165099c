"""DescribeAcls (29): KIP-140, KIP-290."""

from ..acls import PatternType, ResourceType
from ..cluster.call import Call
from ..outcome import CLOSE, Steps
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from .acl_numbers import filter_of
from .registry import handles


@handles(
    ApiKey.DESCRIBE_ACLS,
    changes=False,
    source="AclApis.handleDescribeAcls, StandardAuthorizerData.acls",
    top="SECURITY_DISABLED, CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST",
)
def describe_acls(call: Call, request: DescribeAclsRequest) -> Steps:
    """A filter with a type that stands for none closes the connection (`DescribeAclsRequest.java`)."""
    types = (request.resource_type_filter, request.pattern_type_filter, request.operation)
    if 0 in (*types, request.permission_type):
        return CLOSE
    if call.cluster.authorizer is None:
        return DescribeAclsResponse(
            error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured on the broker"
        )
    asked = filter_of(request, call.policies)
    found: dict[tuple[ResourceType, str, PatternType], DescribeAclsResource] = {}
    for portion in portions(list(call.broker.image.acls)):
        for acl in portion:
            if asked.matches(acl):
                place = acl.resource_type, acl.resource_name, acl.pattern_type
                resource = found.setdefault(place, DescribeAclsResource(*place))
                call.count(1)
                description = AclDescription(acl.principal, acl.host, acl.operation, acl.permission)
                resource.acls.append(description)
        yield
    return DescribeAclsResponse(error_message="", resources=list(found.values()))
