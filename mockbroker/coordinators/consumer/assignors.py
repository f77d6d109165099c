"""The assignors of the coordinator: `uniform` and `range` (`UniformAssignor.java`, `RangeAssignor.java`)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from ...java_hash import in_hash_order
from .member import Assignment

_ROUNDS: Final = 16
"""How often partitions are moved to get a better balance (`UniformHeterogeneousAssignmentBuilder`)."""


class Subscriber(NamedTuple):
    """A member: the ids of its topics, and what it was assigned last."""

    id: str
    instance_id: str | None
    topics: frozenset[UUID]
    assigned: Assignment


Counts = Mapping[UUID, int]
"""The number of partitions of each topic."""
Assignor = Callable[[Sequence[Subscriber], Counts], dict[str, Assignment]]


def uniform(members: Sequence[Subscriber], counts: Counts) -> dict[str, Assignment]:
    """As many partitions for each member as possible, and as few moves as possible."""
    if not members:
        return {}
    ordered = in_hash_order(members, name=lambda each: each.id)
    if all(each.topics == ordered[0].topics for each in ordered):
        return _shared_evenly(ordered, counts)
    return _balanced(ordered, counts)


def _shared_evenly(members: Sequence[Subscriber], counts: Counts) -> dict[str, Assignment]:
    """If all subscribe to the same topics (`UniformHomogeneousAssignmentBuilder`)."""
    topics = sorted(members[0].topics)
    taken = {(topic, index) for each in members for topic, found in each.assigned.items() for index in found}
    free = [
        (topic, index) for topic in topics for index in range(counts[topic]) if (topic, index) not in taken
    ]
    least, extra = divmod(sum(counts[topic] for topic in topics), len(members))
    target: dict[str, dict[UUID, set[int]]] = {}
    room: list[tuple[str, int]] = []
    for number, each in enumerate(members):
        quota = least + (extra > 0)
        has_extra = extra > 0
        kept: dict[UUID, set[int]] = {}
        for topic, found in each.assigned.items():
            if topic not in members[0].topics:
                continue
            stays = sorted(found)[:quota]
            free += [(topic, index) for index in sorted(found)[quota:]]
            quota -= len(stays)
            if stays:
                kept[topic] = set(stays)
        if quota > 0 and has_extra and len(members) - number > extra:
            quota, has_extra = quota - 1, False
        extra -= has_extra
        target[each.id] = kept
        room.append((each.id, quota))
    at = 0
    for member_id, quota in room:
        for topic, index in free[at : at + quota]:
            target[member_id].setdefault(topic, set()).add(index)
        at += quota
    return _frozen(target)


def _balanced(members: Sequence[Subscriber], counts: Counts) -> dict[str, Assignment]:
    """If members subscribe to different topics: what nobody has goes to the subscriber that has the least;
    then partitions move from those that have more to those that have less."""
    subscribers = {
        topic: [each.id for each in members if topic in each.topics]
        for topic in sorted(set().union(*(each.topics for each in members)))
    }
    owners: dict[UUID, dict[int, str]] = {topic: {} for topic in subscribers}
    sizes = {each.id: 0 for each in members}
    for each in members:
        for topic in each.topics:
            for index in sorted(each.assigned.get(topic, ())):
                owners[topic][index] = each.id
                sizes[each.id] += 1
    ordered = sorted(subscribers, key=lambda topic: (-counts[topic] / len(subscribers[topic]), topic))
    for topic in ordered:
        for index in range(counts[topic]):
            if index not in owners[topic]:
                least = min(subscribers[topic], key=sizes.__getitem__)
                owners[topic][index] = least
                sizes[least] += 1
    for _ in range(_ROUNDS):
        moves = [_moved(subscribers[topic], owners[topic], sizes) for topic in ordered]
        if not any(moves):
            break
    target: dict[str, dict[UUID, set[int]]] = {each.id: {} for each in members}
    for topic, found in owners.items():
        for index, member_id in found.items():
            target[member_id].setdefault(topic, set()).add(index)
    return _frozen(target)


def _moved(subscribers: Sequence[str], owners: dict[int, str], sizes: dict[str, int]) -> bool:
    """Moves partitions of one topic while that makes its subscribers more alike."""
    moved = False
    while True:
        least = min(subscribers, key=sizes.__getitem__)
        having = [index for index, owner in sorted(owners.items()) if sizes[owner] > sizes[least] + 1]
        if not having:
            return moved
        index = max(having, key=lambda each: (sizes[owners[each]], each))
        sizes[owners[index]] -= 1
        sizes[least] += 1
        owners[index] = least
        moved = True


def range_(members: Sequence[Subscriber], counts: Counts) -> dict[str, Assignment]:
    """Consecutive partitions of each topic, to static members first, then by member id."""
    ordered = sorted(members, key=lambda each: (each.instance_id is None, each.instance_id or each.id))
    target: dict[str, dict[UUID, set[int]]] = {each.id: {} for each in ordered}
    for topic in dict.fromkeys(topic for each in ordered for topic in sorted(each.topics)):
        subscribers = [each.id for each in ordered if topic in each.topics]
        least, extra = divmod(counts[topic], len(subscribers))
        begin = 0
        for number, member_id in enumerate(subscribers):
            end = begin + least + (number < extra)
            if begin < end:
                target[member_id][topic] = set(range(begin, end))
            begin = end
    return _frozen(target)


def _frozen(target: Mapping[str, Mapping[UUID, set[int]]]) -> dict[str, Assignment]:
    return {
        member_id: {topic: frozenset(partitions) for topic, partitions in found.items()}
        for member_id, found in target.items()
    }


ASSIGNORS: Final[Mapping[str, Assignor]] = {"uniform": uniform, "range": range_}
"""Those that come with brokers, the default first."""
