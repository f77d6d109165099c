"""Waits until a group is as a test needs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

import trio

from ..contents.values import GroupDescription
from ..errors import ConflictError, NotThereError, OptionError
from ..nearest import nearest
from .groups import GroupId, GroupState, group_named
from .registry import operation
from .shaping import shaped
from .target import Target

State = Literal[
    "Empty",
    "PreparingRebalance",
    "CompletingRebalance",
    "Assigning",
    "Reconciling",
    "NotReady",
    "Stable",
]
LOOK_S: Final = 0.02
"""How long to wait between two looks at a group."""


@dataclass(frozen=True)
class Awaited:
    """How a group is to be; None says that it does not matter. `assigned` counts the partitions of all
    members. OptionError for a state that no group has."""

    group: str
    state: str | None = None
    members: int | None = None
    assigned: int | None = None

    def __post_init__(self) -> None:
        states = get_args(State)
        if self.state is not None and self.state not in states:
            raise OptionError(f"no group has the state {self.state!r}{nearest(self.state, states)}")

    def found(self, target: Target) -> GroupDescription | None:
        """The group, once it is as it is to be."""
        try:
            group = group_named(target, self.group)
        except NotThereError:
            return None
        return group if self._wanted.items() <= _seen(group).items() else None

    def missed(self, target: Target, timeout: float) -> str:
        """What to say if it has not become so."""
        try:
            group = group_named(target, self.group)
        except NotThereError as error:
            return f"within {timeout:g} s there was {error}"
        wanted, seen = _told(self._wanted), _told(_seen(group))
        return f"the group {self.group!r} did not come to {wanted} within {timeout:g} s: it has {seen}"

    @property
    def _wanted(self) -> dict[str, str | int]:
        wanted = {"state": self.state, "members": self.members, "assigned": self.assigned}
        return {name: value for name, value in wanted.items() if value is not None}


def _seen(group: GroupDescription) -> dict[str, str | int]:
    assigned = sum(len(each.assignment or ()) for each in group.members)
    return {"state": group.state, "members": len(group.members), "assigned": assigned}


def _told(values: Mapping[str, str | int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


@operation("groups wait", "GET", "/groups/{group}/wait")
async def wait(
    target: Target,
    group: GroupId,
    state: Annotated[State | None, "The state that it is to have: Stable, Empty, …"] = None,
    members: Annotated[int | None, "How many members it is to have."] = None,
    assigned: Annotated[int | None, "How many partitions its members are to have in all."] = None,
    timeout: Annotated[float, "How many seconds to wait."] = 30.0,
) -> GroupState:
    """Waits until a group is there and as it is to be, and shows it."""
    awaited = Awaited(group, state, members, assigned)
    with trio.move_on_after(max(timeout, 0)):
        while (found := awaited.found(target)) is None:
            await trio.sleep(LOOK_S)
        return shaped(GroupState, found)
    raise ConflictError(awaited.missed(target, timeout))
