"""Server-side assignors: every partition has one owner that subscribes to it, and nobody has too many."""

from collections.abc import Mapping
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mockbroker.coordinators.consumer.assignors import ASSIGNORS, Subscriber
from mockbroker.coordinators.consumer.member import Assignment

TOPICS = [UUID(int=number) for number in range(1, 5)]
COUNTS = st.fixed_dictionaries({topic: st.integers(1, 7) for topic in TOPICS})
NAMES = st.lists(st.text("abcxyz", min_size=1, max_size=3), min_size=1, max_size=6, unique=True)


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[Subscriber], dict[UUID, int]]:
    """Members after some earlier assignment, of which some have left."""
    counts, names = draw(COUNTS), draw(NAMES)
    alike = draw(st.booleans())
    shared = draw(st.frozensets(st.sampled_from(TOPICS), min_size=1))
    earlier: dict[str, dict[UUID, set[int]]] = {name: {} for name in names}
    for topic, count in counts.items():
        for index in range(count):
            owner = draw(st.sampled_from([None, *names]))
            if owner is not None:
                earlier[owner].setdefault(topic, set()).add(index)
    members = []
    for name in names:
        topics = shared if alike else draw(st.frozensets(st.sampled_from(TOPICS)))
        had = {topic: frozenset(found) for topic, found in earlier[name].items()}
        members.append(Subscriber(name, draw(st.sampled_from([None, f"i-{name}"])), topics, had))
    return members, counts


@pytest.mark.parametrize("name", ASSIGNORS)
@given(group=groups())
def test_each_partition_has_one_owner_that_subscribes(
    name: str, group: tuple[list[Subscriber], dict[UUID, int]]
) -> None:
    members, counts = group
    target = ASSIGNORS[name](members, counts)
    assert target.keys() == {each.id for each in members}
    owned = [
        (topic, index)
        for found in target.values()
        for topic, partitions in found.items()
        for index in partitions
    ]
    subscribed = frozenset().union(*(each.topics for each in members))
    assert sorted(owned) == [(topic, index) for topic in sorted(subscribed) for index in range(counts[topic])]
    for each in members:
        assert target[each.id].keys() <= each.topics


@given(group=groups())
def test_uniform_is_even_where_all_subscribe_to_the_same(
    group: tuple[list[Subscriber], dict[UUID, int]],
) -> None:
    members, counts = group
    alike = [each._replace(topics=members[0].topics) for each in members]
    sizes = [_size(found) for found in ASSIGNORS["uniform"](alike, counts).values()]
    assert max(sizes) - min(sizes) <= 1


@given(group=groups())
def test_uniform_moves_nothing_of_what_it_made(group: tuple[list[Subscriber], dict[UUID, int]]) -> None:
    members, counts = group
    target = ASSIGNORS["uniform"](members, counts)
    again = ASSIGNORS["uniform"]([each._replace(assigned=target[each.id]) for each in members], counts)
    assert again == target


def test_nobody_could_take_a_partition_from_someone_who_has_two_more() -> None:
    uneven = 0
    first, second, *_ = TOPICS
    a = Subscriber("a", None, frozenset([first]), {first: frozenset([0, 1])})
    b = Subscriber("b", None, frozenset([first, second]), {})
    c = Subscriber("c", None, frozenset([second]), {second: frozenset([0])})

    @given(group=groups())
    @example(group=([a, c], {first: 7, second: 1}))
    @example(group=([a, b, c], {first: 2, second: 1}))
    def check(group: tuple[list[Subscriber], dict[UUID, int]]) -> None:
        nonlocal uneven
        members, counts = group
        target = ASSIGNORS["uniform"](members, counts)
        sizes = {name: _size(found) for name, found in target.items()}
        for each in members:
            for owner, found in target.items():
                if sizes[owner] > sizes[each.id] + 1:
                    uneven += 1
                    assert found.keys().isdisjoint(each.topics)

    check()
    assert uneven


def _size(found: Assignment | Mapping[UUID, frozenset[int]]) -> int:
    return sum(map(len, found.values()))
