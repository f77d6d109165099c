"""What is drawn alike of members of share groups and of streams groups."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from .world import World

GROUP: Final = 32
"""Type of a resource that is configured."""


class _Member(Protocol):
    joined: bool


M = TypeVar("M", bound=_Member)


def to_join(world: World, members: Sequence[M], most: int, new: Callable[[World], M]) -> M | None:
    """One that has left, or a new one; None if there are enough members, and none of those comes back."""
    again = [each for each in members if not each.joined]
    if again and (len(members) >= most or world.chance(50)):
        return world.rng.choice(again)
    return new(world) if len(members) < most else None


def set_config(world: World, group: str, name: str, value: str | None, operation: int = 0) -> None:
    """Of a group; operation 1 takes it away."""
    changed = {"name": name, "config_operation": operation, "value": value}
    resource = {"resource_type": GROUP, "resource_name": group, "configs": [changed]}
    fields = {"resources": [resource], "validate_only": False}
    world.add("incremental_alter_configs", world.version("incremental_alter_configs"), fields)
