"""ListGroups: KIP-518 (states), KIP-848 (types)."""

from typing import Any

from ...rig.consumer_scene import lone_consumer
from ...rig.group_scene import Member, commit, stable
from ..registry import Scene, Steps, question


def _list(s: Scene, states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> Any:
    """Only the groups of this question: the cluster has others."""
    answer = s.ask(states_filter=list(states), types_filter=list(types))
    mine = [each for each in answer["groups"] if s.suffix in each["group_id"]]
    return {**answer, "groups": mine}


def _setting(s: Scene) -> None:
    commit(s, s.name("offsets"), s.topic())
    stable(s, s.name("stable"))
    stable(s, s.name("connect"), protocol_type="connect")
    Member(s, s.name("completing")).join()
    stable(s, s.name("left")).leave()


def all_groups(s: Scene) -> Steps:
    _setting(s)
    yield "all", _list(s)


@question(since=4)
def states(s: Scene) -> Steps:
    _setting(s)
    for wanted in (
        ("Stable",),
        ("Empty",),
        ("Stable", "Empty"),
        ("stable",),
        ("CompletingRebalance",),
        ("Dead",),
    ):
        yield ", ".join(wanted), _list(s, wanted)
    yield "no such state", _list(s, ("Sleeping",))
    yield "an empty name", _list(s, ("",))


@question(since=5)
def types(s: Scene) -> Steps:
    _setting(s)
    for wanted in (("classic",), ("Classic",), ("consumer",), ("share",), ("classic", "consumer")):
        yield ", ".join(wanted), _list(s, (), wanted)
    yield "no such type", _list(s, (), ("strange",))
    yield "a type and a state", _list(s, ("Empty",), ("classic",))


def consumer_group(s: Scene) -> Steps:
    member = lone_consumer(s)
    yield "with a member", _list(s)
    yield "of its type", _list(s, types=("consumer",))
    yield "of the other type", _list(s, types=("classic",))
    member.leave()
    yield "without", _list(s)


@question(since=4)
def kinds_given_twice(s: Scene) -> Steps:
    stable(s, s.name("g"))
    yield "state", _list(s, ("Stable", "Stable"))
    yield "state in other letters", _list(s, ("Stable", "STABLE"))
    if s.version >= 5:
        yield "type", _list(s, types=("classic", "classic"))
