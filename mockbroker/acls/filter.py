"""Which ACLs a request means."""

from typing import NamedTuple

from .acl import WILDCARD, Acl, Operation, PatternType, Permission, ResourceType


class Filter(NamedTuple):
    """ANY, and None for a text, fit everything. A pattern MATCH means the ACLs that concern the resource of
    that name (`ResourcePatternFilter.java`, `AccessControlEntryFilter.java`)."""

    resource_type: ResourceType = ResourceType.ANY
    resource_name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY

    def matches(self, acl: Acl) -> bool:
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self.pattern_type in (PatternType.ANY, PatternType.MATCH, acl.pattern_type)
            and self._names(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _names(self, acl: Acl) -> bool:
        name = self.resource_name
        if name is None or name == acl.resource_name:
            return True
        if self.pattern_type is not PatternType.MATCH:
            return False
        if acl.pattern_type is PatternType.PREFIXED:
            return name.startswith(acl.resource_name)
        return acl.resource_name == WILDCARD
