"""The assignor `simple` of 4.1, which deals partitions out by the hash of ids (`SimpleAssignor.java`)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from ...java_hash import in_hash_order, positive_hash
from .assignor import Place, Subscriber, by_topic
from .group import Assignment


def by_hash(
    members: Iterable[Subscriber], assignable: Mapping[UUID, frozenset[int]]
) -> dict[str, Assignment]:
    """Whether or not all subscribe to the same topics, each gets the partition that its hash says, and what
    is nobody's then goes to those who had it, or is dealt out."""
    ordered = in_hash_order(members, name=lambda each: each.id)
    if not ordered:
        return {}
    if all(each.topics == ordered[0].topics for each in ordered):
        return by_topic(_together(ordered, assignable))
    return by_topic(_apart(ordered, assignable))


def _together(
    members: Sequence[Subscriber], assignable: Mapping[UUID, frozenset[int]]
) -> dict[str, list[Place]]:
    targets = _places(members[0].topics, assignable)
    wanted = (len(targets) + len(members) - 1) // len(members)
    have: dict[str, list[Place]] = {each.id: [] for each in members}
    hashed = set()
    for each in members:
        for place in _hashed(each.id, targets):
            have[each.id].append(place)
            hashed.add(place)
    taken = set(hashed)
    for each in members:
        for place in _assigned(each):
            mine = have[each.id]
            if place[0] in each.topics and len(mine) < wanted and place not in hashed and place not in mine:
                mine.append(place)
                taken.add(place)
    _deal(have, [each for each in targets if each not in taken], wanted)
    return have


def _deal(have: Mapping[str, list[Place]], rest: Sequence[Place], wanted: int) -> None:
    """To the members in turn, until they have more than they are to have."""
    left, at = list(have), 0
    for place in rest:
        while left:
            at %= len(left)
            if len(have[left[at]]) <= wanted:
                have[left[at]].append(place)
                at += 1
                break
            del left[at]


def _apart(
    members: Sequence[Subscriber], assignable: Mapping[UUID, frozenset[int]]
) -> dict[str, list[Place]]:
    new: dict[Place, list[str]] = {}
    targets = {each.id: _places(each.topics, assignable) for each in members if each.topics}
    for member, places in targets.items():
        for place in _hashed(member, places):
            new.setdefault(place, []).append(member)
    current = {place for each in members for place in _assigned(each)}
    rest: dict[UUID, list[Place]] = {}
    for place in dict.fromkeys(place for places in targets.values() for place in places):
        if place not in new and place not in current:
            rest.setdefault(place[0], []).append(place)
    for topic, places in rest.items():
        subscribers = [member for member, there in targets.items() if any(each[0] == topic for each in there)]
        for number, place in enumerate(places):
            new.setdefault(place, []).append(subscribers[number % len(subscribers)])
    have: dict[str, list[Place]] = {each.id: [] for each in members}
    for place, holders in new.items():
        for member in holders:
            have[member].append(place)
    for each in members:
        have[each.id] += [place for place in _assigned(each) if place[0] in each.topics and place not in new]
    return have


def _places(topics: Iterable[UUID], assignable: Mapping[UUID, frozenset[int]]) -> list[Place]:
    return [(topic, index) for topic in sorted(topics) for index in sorted(assignable.get(topic, ()))]


def _hashed(member: str, places: Sequence[Place]) -> Iterator[Place]:
    if places:
        yield places[positive_hash(member) % len(places)]


def _assigned(member: Subscriber) -> Iterator[Place]:
    for topic, partitions in member.assigned.items():
        yield from ((topic, index) for index in sorted(partitions))
