"""What is drawn alike of members of consumer groups and of streams groups: they join, stay and leave by
heartbeats, in each of which what has not changed is null."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from ..steps import Fields
from .members import spoil, to_join
from .world import World

MOST_MEMBERS: Final = 4


class _Member(Protocol):
    slot: int
    group: str
    client: int
    instance: str | None
    joined: bool


M = TypeVar("M", bound=_Member)
Beat = Callable[[World, M], Fields]


@dataclass(frozen=True)
class Heartbeats(Generic[M]):
    """Those of one kind of group, by `api`. `members` are those of a sequence, and `new` makes one more.
    `joining` and `staying` have the fields of the first heartbeat and of later ones, `others` those of any,
    with weights. A few are spoilt by what is `wrong`."""

    api: str
    members: Callable[[World], list[M]]
    new: Callable[[World], M]
    joining: Beat[M]
    staying: Beat[M]
    others: Mapping[Beat[M], int]
    wrong: Callable[[World], Sequence[Fields]]

    def join(self, world: World) -> None:
        """A member joins, and heartbeats until it has its part."""
        member = to_join(world, self.members(world), MOST_MEMBERS, self.new)
        if member is None:
            self.any(world)
            return
        member.joined = True
        self._add(world, member, self.joining(world, member))
        for _ in world.some((1, 2)):
            self._add(world, member, self.staying(world, member))

    def rebalance(self, world: World) -> None:
        """All members of a group heartbeat: they give up what they have to, and take what they are given."""
        group = self._one(world).group
        for _ in world.some((1, 2)):
            for each in [each for each in self.members(world) if each.group == group and each.joined]:
                self._add(world, each, self.staying(world, each))

    def any(self, world: World) -> None:
        """Of a member that is there, mostly as it should be."""
        member = self._one(world)
        draw = world.rng.choices(list(self.others), list(self.others.values()))[0]
        self._add(world, member, draw(world, member))
        if world.chance(6):
            spoil(world, self.wrong(world))

    def _one(self, world: World) -> M:
        if not self.members(world):
            self.join(world)
        return world.rng.choice(self.members(world))

    def _add(self, world: World, member: M, fields: Fields) -> None:
        world.add(self.api, world.version(self.api), fields, client=member.client, binds=member.slot)


def leaving_epoch(world: World, member: _Member) -> int:
    """A member without an instance id can't leave for a while, but may try."""
    member.joined = False
    return world.rng.choice((-1, -2)) if member.instance else world.rng.choices((-1, -2), (92, 8))[0]


def wrong_epoch(world: World, member: _Member, key: str) -> Any:
    """`key` is that of the placeholder."""
    plus = world.rng.choice((-1, -1, -1, 1, 2, 100, -2))
    return {key: [member.slot, plus]} if world.chance(90) else world.rng.choice((-3, 2**31 - 1))
