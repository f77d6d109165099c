"""DeleteGroups (KIP-229)."""

from ...rig.consumer_scene import lone_consumer
from ...rig.group_scene import Member, commit, committed, stable
from ..registry import Scene, Steps


def empty_group(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    commit(s, group, topic)
    yield "offsets only", s.ask(groups_names=[group])
    yield "again", s.ask(groups_names=[group])
    yield "offsets left", committed(s, group)


def group_with_members(s: Scene) -> Steps:
    group = s.name("g")
    member = stable(s, group)
    yield "stable", s.ask(groups_names=[group])
    member.leave()
    yield "all left", s.ask(groups_names=[group])
    yield "again", s.ask(groups_names=[group])


def joining_group(s: Scene) -> Steps:
    member = Member(s, s.name("g"))
    member.join()
    yield "completing a rebalance", s.ask(groups_names=[member.group])
    pending = Member(s, s.name("pending"))
    pending.try_join()
    yield "a member id given", s.ask(groups_names=[pending.group])


def several_groups(s: Scene) -> Steps:
    empty, live, topic = s.name("empty"), s.name("live"), s.topic()
    commit(s, empty, topic)
    stable(s, live)
    yield "empty, live, unknown", s.ask(groups_names=[empty, live, s.name("none")])
    yield "empty id", s.ask(groups_names=[""])
    yield "none", s.ask(groups_names=[])
    commit(s, empty, topic)
    yield "the same twice", s.ask(groups_names=[empty, empty])


def consumer_group(s: Scene) -> Steps:
    member = lone_consumer(s)
    yield "with a member", s.ask(groups_names=[member.group])
    member.leave()
    yield "without", s.ask(groups_names=[member.group])
    yield "again", s.ask(groups_names=[member.group])
