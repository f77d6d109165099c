"""DescribeAcls: api key 29, v0 to v3."""

from dataclasses import dataclass

from .common import TopCode
from .of_administrators import AclFilter
from .places import places


@dataclass(slots=True)
class DescribeAclsRequest(AclFilter):
    pass


@dataclass(slots=True)
class AclDescription:
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0


@dataclass(slots=True)
class DescribeAclsResource:
    resource_type: int = 0
    resource_name: str = ""
    pattern_type: int = 3  # v1+
    acls: list[AclDescription] = places("resource")


@dataclass(slots=True)
class DescribeAclsResponse(TopCode):
    error_message: str | None = None
    resources: list[DescribeAclsResource] = places("resource")
