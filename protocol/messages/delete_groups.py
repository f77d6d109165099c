"""DeleteGroups: api key 42, v0 to v3."""

from dataclasses import dataclass, field

from .common import Throttled
from .places import places


@dataclass(slots=True)
class DeleteGroupsRequest:
    groups_names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class DeletableGroupResult:
    group_id: str = ""
    error_code: int = 0
    error_message: str | None = None  # v3+


@dataclass(slots=True)
class DeleteGroupsResponse(Throttled):
    results: list[DeletableGroupResult] = places("group", "groups_names")
