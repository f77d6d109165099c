"""DeleteAcls (31): KIP-140, KIP-290."""

from collections.abc import Generator

from ..acls import Acl
from ..cluster.call import Call
from ..controller.acls import check_filter
from ..outcome import CLOSE, Steps
from ..portions import MANY, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ..protocol.messages.of_administrators import AclFilter
from .acl_numbers import filter_of
from .registry import handles


@handles(
    ApiKey.DELETE_ACLS,
    changes=True,
    source="ControllerApis.handleDeleteAcls, AclApis.handleDeleteAcls, AclControlManager.deleteAcls",
    resource="SECURITY_DISABLED, CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST",
)
def delete_acls(call: Call, request: DeleteAclsRequest) -> Steps:
    """A filter with a type that stands for none closes the connection (`DeleteAclsRequest.java`). An ACL that
    several filters fit is told for each of them."""
    for portion in portions(request.filters, MANY):
        for each in portion:
            types = (each.resource_type_filter, each.pattern_type_filter, each.operation)
            if 0 in (*types, each.permission_type):
                return CLOSE
        yield
    if call.cluster.authorizer is None:
        refused = DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
        return DeleteAclsResponse(filter_results=[refused] * len(request.filters))
    answer = DeleteAclsResponse()
    deleted: dict[Acl, None] = {}
    for each in request.filters:
        answer.filter_results.append((yield from _found(call, each, deleted)))
    for some in portions(deleted, MANY):
        call.cluster.controller.delete_acls(some)
        yield
    return answer


def _found(
    call: Call, asked: AclFilter, deleted: dict[Acl, None]
) -> Generator[None, None, DeleteAclsFilterResult]:
    meant = filter_of(asked, call.policies)
    try:
        check_filter(meant)
    except ApiError as error:
        return DeleteAclsFilterResult(error.code, error.message)
    result = DeleteAclsFilterResult()
    for portion in portions(list(call.cluster.controller.image.acls)):
        for acl in portion:
            if meant.matches(acl):
                call.count(1)
                deleted[acl] = None
                result.matching_acls.append(DeleteAclsMatchingAcl(0, None, *acl))
        yield
    return result
