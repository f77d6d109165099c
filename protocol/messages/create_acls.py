"""CreateAcls: api key 30, v0 to v3."""

from dataclasses import dataclass, field

from .common import Throttled
from .of_administrators import Failure
from .places import places


@dataclass(slots=True)
class AclCreation:
    resource_type: int = 0
    resource_name: str = ""
    resource_pattern_type: int = 3  # v1+
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0


@dataclass(slots=True)
class CreateAclsRequest:
    creations: list[AclCreation] = field(default_factory=list)


@dataclass(slots=True)
class CreateAclsResponse(Throttled):
    results: list[Failure] = places("resource", "creations")
