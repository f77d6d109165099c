"""What is drawn alike of members of consumer groups, share groups and streams groups."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar

from .world import ConsumerMember, StreamsMember, World

GROUP: Final = 32
"""Type of a resource that is configured."""
NOBODY: Final = "strangerAAAAAAAAAAAAAA"


class _Member(Protocol):
    joined: bool


M = TypeVar("M", bound=_Member)


def to_join(world: World, members: Sequence[M], most: int, new: Callable[[World], M]) -> M | None:
    """One that has left, or a new one; None if there are enough members, and none of those comes back."""
    again = [each for each in members if not each.joined]
    if again and (len(members) >= most or world.chance(50)):
        return world.rng.choice(again)
    return new(world) if len(members) < most else None


def spoil(world: World, wrong: Sequence[dict[str, Any]]) -> None:
    """Somebody else asks, or in another group, by one of what is wrong, in the last step."""
    step = world.steps[-1]
    fields = {**step.fields, **world.rng.choice(wrong)}
    world.steps[-1] = replace(step, fields=fields, binds=None)


def configure(world: World, configs: Sequence[tuple[str, Sequence[str]]]) -> None:
    """One of these of a group."""
    name, values = world.rng.choice(configs)
    operation = world.rng.choices((0, 1), (85, 15))[0]
    set_config(world, world.group(), name, world.rng.choice(values), operation)


def list_groups(world: World, states: Sequence[str], types: Sequence[str]) -> None:
    """Of some of these states and types, or of all."""
    rng = world.rng
    fields = {
        "states_filter": rng.sample(states, rng.choice((0, 0, 1, 2))),
        "types_filter": rng.sample(types, rng.choice((0, 0, 1, 2))),
    }
    world.add("list_groups", world.version("list_groups"), fields)


def set_config(world: World, group: str, name: str, value: str | None, operation: int = 0) -> None:
    """Of a group; operation 1 takes it away."""
    changed = {"name": name, "config_operation": operation, "value": value}
    resource = {"resource_type": GROUP, "resource_name": group, "configs": [changed]}
    fields = {"resources": [resource], "validate_only": False}
    world.add("incremental_alter_configs", world.version("incremental_alter_configs"), fields)


def has_epochs(world: World) -> bool:
    """Whether there are members whose epochs commits and fetches of offsets may give."""
    return bool(world.streaming or world.consuming)


def claim(world: World) -> dict[str, Any]:
    """Who commits or fetches offsets: a member in its epoch, most of the time."""
    rng = world.rng
    members: Sequence[StreamsMember | ConsumerMember] = world.streaming or world.consuming
    member = rng.choice(members)
    key = "$streams_epoch" if world.streaming else "$consumer_epoch"
    plus = rng.choices((0, -1, 1, -2), (65, 20, 8, 7))[0]
    found: dict[str, Any] = {
        "group_id": member.group,
        "generation_id": {key: [member.slot, plus]},
        "member_id": member.id,
        "group_instance_id": member.instance,
    }
    if world.chance(12):
        found |= rng.choice(
            ({"generation_id": -1}, {"member_id": ""}, {"member_id": NOBODY}, {"group_instance_id": "other"})
        )
    return found
