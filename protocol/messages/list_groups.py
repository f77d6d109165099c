"""ListGroups: api key 16, v0 to v5."""

from dataclasses import dataclass, field

from .places import places


@dataclass(slots=True)
class ListGroupsRequest:
    states_filter: list[str] = field(default_factory=list)  # v4+
    types_filter: list[str] = field(default_factory=list)  # v5+


@dataclass(slots=True)
class ListedGroup:
    group_id: str = ""
    protocol_type: str = ""
    group_state: str = ""  # v4+
    group_type: str = ""  # v5+


@dataclass(slots=True)
class ListGroupsResponse:
    throttle_time_ms: int = 0  # v1+
    error_code: int = 0
    groups: list[ListedGroup] = places("group")
