"""DeleteAcls: api key 31, v0 to v3."""

from dataclasses import dataclass, field

from .common import Throttled
from .of_administrators import AclFilter, Failure
from .places import places


@dataclass(slots=True)
class DeleteAclsRequest:
    filters: list[AclFilter] = field(default_factory=list)


@dataclass(slots=True)
class DeleteAclsMatchingAcl(Failure):
    resource_type: int = 0
    resource_name: str = ""
    pattern_type: int = 3  # v1+
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0


@dataclass(slots=True)
class DeleteAclsFilterResult(Failure):
    matching_acls: list[DeleteAclsMatchingAcl] = places("resource")


@dataclass(slots=True)
class DeleteAclsResponse(Throttled):
    filter_results: list[DeleteAclsFilterResult] = places("resource", "filters")
