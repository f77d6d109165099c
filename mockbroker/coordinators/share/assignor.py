"""The assignor of share groups: `simple` (`SimpleAssignor.java`).

Several members may have a partition. Each partition gets as many members as it takes for no member to be
idle, and members have the same number of partitions, give or take one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from ...java_hash import in_hash_order
from .group import Assignment

Place = tuple[UUID, int]
"""A partition, by its topic's id."""


class Subscriber(NamedTuple):
    """A member: the ids of its topics, and what it was assigned last."""

    id: str
    topics: frozenset[UUID]
    assigned: Assignment


def simple(members: Iterable[Subscriber], assignable: Mapping[UUID, frozenset[int]]) -> dict[str, Assignment]:
    """If all subscribe to the same topics, their partitions are shared out together, else topic by topic."""
    ordered = in_hash_order(members, name=lambda each: each.id)
    if not ordered:
        return {}
    topics = sorted(frozenset[UUID]().union(*(each.topics for each in ordered)))
    rounds = [topics] if all(each.topics == ordered[0].topics for each in ordered) else [[t] for t in topics]
    have: dict[str, list[Place]] = {each.id: [] for each in ordered}
    for some in rounds:
        there = [each for each in ordered if not each.topics.isdisjoint(some)]
        old = {
            each.id: [
                (topic, index)
                for topic in some
                if topic in each.topics
                for index in sorted(each.assigned.get(topic, ()))
            ]
            for each in there
        }
        targets = [(topic, index) for topic in some for index in sorted(assignable.get(topic, ()))]
        for member_id, places in _shared([each.id for each in there], old, targets).items():
            have[member_id] += places
    return by_topic(have)


def by_topic(have: Mapping[str, Iterable[Place]]) -> dict[str, Assignment]:
    """The assignment of each member that has these partitions."""
    shares: dict[str, dict[UUID, set[int]]] = {}
    for member_id, places in have.items():
        mine = shares.setdefault(member_id, {})
        for topic, index in places:
            mine.setdefault(topic, set()).add(index)
    return {
        member_id: {topic: frozenset(found) for topic, found in topics_of.items()}
        for member_id, topics_of in shares.items()
    }


def _shared(
    members: Sequence[str], old: Mapping[str, list[Place]], targets: Sequence[Place]
) -> dict[str, list[Place]]:
    """What each member has then. Members keep what they have, unless they or others have too much."""
    if not members:
        return {}
    sharing = math.ceil(len(members) / len(targets)) if targets else 0
    each_has = sharing * len(targets) / len(members)
    wanted = {
        member: math.ceil(each_has * (number + 1)) - math.ceil(each_has * number)
        for number, member in enumerate(members)
    }
    have = {member: old[member][max(0, len(old[member]) - wanted[member]) :] for member in members}
    holders: dict[Place, list[str]] = {}
    for member in members:
        for place in have[member]:
            holders.setdefault(place, []).append(member)
    for place, holding in holders.items():
        for member in holding[: max(0, len(holding) - sharing)]:
            have[member].remove(place)
        del holding[: max(0, len(holding) - sharing)]
    for place in targets:
        holders.setdefault(place, [])
    _assign_rest(have, wanted, holders, sharing)
    return have


def _assign_rest(
    have: dict[str, list[Place]],
    wanted: Mapping[str, int],
    holders: Mapping[Place, list[str]],
    sharing: int,
) -> None:
    """Gives partitions that have too few members to members that have too few partitions, in turn."""
    unfilled = [member for member in have if len(have[member]) < wanted[member]]
    at, given = 0, False
    for place, holding in holders.items():
        missing = sharing - len(holding)
        while missing > 0 and unfilled:
            if at >= len(unfilled):
                if not given:
                    break
                at, given = 0, False
            member = unfilled[at]
            if member in holding or place in have[member]:
                at += 1
                continue
            have[member].append(place)
            missing, given = missing - 1, True
            if len(have[member]) >= wanted[member]:
                del unfilled[at]
            else:
                at += 1
