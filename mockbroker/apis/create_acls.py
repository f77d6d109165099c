"""CreateAcls (30), of brokers without an authorizer."""

from ..cluster.call import Call
from ..outcome import CLOSE, Steps
from ..portions import MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import Failure
from ..protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from .registry import handles


@handles(
    ApiKey.CREATE_ACLS,
    changes=False,
    source="ControllerApis.handleCreateAcls, AclApis.handleCreateAcls",
    resource="SECURITY_DISABLED, CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST",
)
def create_acls(_: Call, request: CreateAclsRequest) -> Steps:
    """A binding with a type that stands for none closes the connection (`CreateAclsRequest.java`)."""
    for portion in portions(request.creations, MANY):
        for each in portion:
            types = (each.resource_type, each.resource_pattern_type, each.operation, each.permission_type)
            if 0 in types:
                return CLOSE
        yield
    refused = Failure(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
    return CreateAclsResponse(results=[refused] * len(request.creations))
