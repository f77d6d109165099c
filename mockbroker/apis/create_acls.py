"""CreateAcls (30): KIP-140, KIP-290."""

from ..acls import Acl, Operation, PatternType, Permission, ResourceType
from ..cluster.call import Call
from ..controller.acls import check
from ..outcome import CLOSE, Steps
from ..portions import MANY, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from ..protocol.messages.of_administrators import Failure
from .acl_numbers import acl_of
from .registry import handles


@handles(
    ApiKey.CREATE_ACLS,
    changes=True,
    source="ControllerApis.handleCreateAcls, AclApis.handleCreateAcls, AclControlManager.createAcls",
    resource="SECURITY_DISABLED, CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST",
)
def create_acls(call: Call, request: CreateAclsRequest) -> Steps:
    """A binding with a type that stands for none closes the connection (`CreateAclsRequest.java`); one with a
    type that only filters have fails all of them (`ResourcePattern.java`, `AccessControlEntry.java`)."""
    for portion in portions(request.creations, MANY):
        for each in portion:
            types = (each.resource_type, each.resource_pattern_type, each.operation, each.permission_type)
            if 0 in types:
                return CLOSE
        yield
    if call.cluster.authorizer is None:
        refused = Failure(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
        return CreateAclsResponse(results=[refused] * len(request.creations))
    asked: list[Acl] = []
    for portion in portions(request.creations, MANY):
        asked += [acl_of(each, call.policies) for each in portion]
        yield
    if any(map(_only_filters, asked)):
        failed = Failure(ErrorCode.UNKNOWN_SERVER_ERROR)
        return CreateAclsResponse(results=[failed] * len(asked))
    answer = CreateAclsResponse()
    for some in portions(asked):
        answer.results += [_create(call, each) for each in some]
        yield
    return answer


def _only_filters(acl: Acl) -> bool:
    return (
        acl.resource_type is ResourceType.ANY
        or acl.pattern_type in (PatternType.ANY, PatternType.MATCH)
        or acl.operation is Operation.ANY
        or acl.permission is Permission.ANY
    )


def _create(call: Call, acl: Acl) -> Failure:
    try:
        check(acl, call.policies)
    except ApiError as error:
        return Failure(error.code, error.message)
    call.cluster.controller.create_acl(acl)
    return Failure(error_message="")
