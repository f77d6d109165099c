"""Whether ACLs may be created and deleted (`AclControlManager.java`, `AclApis.scala`)."""

from ..acls import Acl, Filter, Operation, PatternType, Permission, ResourceType
from ..acls.acl import CLUSTER_NAME
from ..policies import Policies
from ..policies.security.acl_hosts import acl_hosts
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode


def check(acl: Acl, policies: Policies) -> None:
    """ApiError, in Kafka's order of checks."""
    if acl.resource_type is ResourceType.CLUSTER and acl.resource_name != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not acl.resource_name:
        raise _invalid("Invalid empty resource name")
    if acl.resource_type is ResourceType.UNKNOWN:
        raise _invalid("Invalid resourceType UNKNOWN")
    if acl.pattern_type is PatternType.UNKNOWN:
        raise _invalid("Invalid patternType UNKNOWN")
    if acl.operation is Operation.UNKNOWN:
        raise _invalid("Invalid operation UNKNOWN")
    if acl.permission is Permission.UNKNOWN:
        raise _invalid("Invalid permissionType UNKNOWN")
    if ":" not in acl.principal:
        raise _invalid(
            f"Could not parse principal from `{acl.principal}` (no colon is present separating the principal "
            "type from the principal name)"
        )
    if not acl.host and policies[acl_hosts] == "named":
        raise _invalid("Host pattern cannot be null or empty")


def check_filter(asked: Filter) -> None:
    """ApiError."""
    if asked.resource_type is ResourceType.UNKNOWN or asked.pattern_type is PatternType.UNKNOWN:
        raise _invalid("Unknown patternFilter.")
    if asked.operation is Operation.UNKNOWN or asked.permission is Permission.UNKNOWN:
        raise _invalid("Unknown entryFilter.")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
