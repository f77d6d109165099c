"""ACLs and filters as requests have them: types are numbers."""

import enum
from typing import TypeVar

from ..acls import Acl, Filter, Operation, PatternType, Permission, ResourceType
from ..policies import Policies
from ..policies.security.two_phase_commit_acls import two_phase_commit_acls
from ..protocol.messages.create_acls import AclCreation
from ..protocol.messages.of_administrators import AclFilter

E = TypeVar("E", bound=enum.IntEnum)


def acl_of(asked: AclCreation, policies: Policies) -> Acl:
    return Acl(
        _of(ResourceType, asked.resource_type),
        asked.resource_name,
        _of(PatternType, asked.resource_pattern_type),
        asked.principal,
        asked.host,
        _operation(asked.operation, policies),
        _of(Permission, asked.permission_type),
    )


def filter_of(asked: AclFilter, policies: Policies) -> Filter:
    return Filter(
        _of(ResourceType, asked.resource_type_filter),
        asked.resource_name_filter,
        _of(PatternType, asked.pattern_type_filter),
        asked.principal_filter,
        asked.host_filter,
        _operation(asked.operation, policies),
        _of(Permission, asked.permission_type),
    )


def _operation(number: int, policies: Policies) -> Operation:
    found = _of(Operation, number)
    if found is Operation.TWO_PHASE_COMMIT and policies[two_phase_commit_acls] == "unknown":
        return Operation.UNKNOWN
    return found


def _of(kind: type[E], number: int) -> E:
    """UNKNOWN for a number that stands for nothing, as in Kafka."""
    try:
        return kind(number)
    except ValueError:
        return kind(0)
