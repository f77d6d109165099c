"""DeleteAcls (31), of brokers without an authorizer."""

from ..cluster.call import Call
from ..outcome import CLOSE, Steps
from ..portions import MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse
from .registry import handles


@handles(
    ApiKey.DELETE_ACLS,
    changes=False,
    source="ControllerApis.handleDeleteAcls, AclApis.handleDeleteAcls",
    resource="SECURITY_DISABLED, CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST",
)
def delete_acls(_: Call, request: DeleteAclsRequest) -> Steps:
    """A filter with a type that stands for none closes the connection (`DeleteAclsRequest.java`)."""
    for portion in portions(request.filters, MANY):
        for each in portion:
            types = (each.resource_type_filter, each.pattern_type_filter, each.operation)
            if 0 in (*types, each.permission_type):
                return CLOSE
        yield
    refused = DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
    return DeleteAclsResponse(filter_results=[refused] * len(request.filters))
