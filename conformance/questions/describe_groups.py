"""DescribeGroups: KIP-430 (authorized operations), KIP-1043 (unknown groups from v6 on)."""

from ...rig.consumer_scene import lone_consumer
from ...rig.group_scene import Member, commit, joining, stable, stable_pair
from ..registry import Scene, Steps, question


def unknown_groups(s: Scene) -> Steps:
    """Dead up to v5, GROUP_ID_NOT_FOUND from v6 on."""
    yield "unknown", s.ask(groups=[s.name("none")])
    yield "empty id", s.ask(groups=[""])
    yield "none", s.ask(groups=[])


def states(s: Scene) -> Steps:
    group = s.name("g")
    member = Member(s, group)
    member.join()
    yield "completing", s.ask(groups=[group])
    member.sync({member.id: b"mine"})
    yield "stable", s.ask(groups=[group])
    other, pending = joining(s, member)
    yield "preparing", s.ask(groups=[group])
    member.join()
    other.joined(pending)
    member.sync({member.id: b"1", other.id: b"2"})
    yield "stable again", s.ask(groups=[group])
    member.leave()
    other.leave()
    yield "all left", s.ask(groups=[group])


def other_groups(s: Scene) -> Steps:
    offsets = s.name("offsets")
    commit(s, offsets, s.topic())
    yield "offsets only", s.ask(groups=[offsets])
    stable(s, s.name("connect"), protocol_type="connect")
    yield "type connect", s.ask(groups=[s.name("connect")])
    Member(s, s.name("pending")).try_join()
    yield "a member id given", s.ask(groups=[s.name("pending")])


def several_groups(s: Scene) -> Steps:
    first, _ = stable_pair(s, s.name("a"))
    stable(s, s.name("b"))
    yield "two and an unknown one", s.ask(groups=[first.group, s.name("b"), s.name("none")])
    yield "the same twice", s.ask(groups=[s.name("b"), s.name("b")])


@question(since=3)
def authorized_operations(s: Scene) -> Steps:
    stable(s, s.name("g"))
    yield "known", s.ask(groups=[s.name("g")], include_authorized_operations=True)
    yield "unknown", s.ask(groups=[s.name("none")], include_authorized_operations=True)


@question(since=4)
def static_members(s: Scene) -> Steps:
    stable(s, s.name("g"), instance=s.name("instance"))
    yield "static", s.ask(groups=[s.name("g")])


def consumer_group(s: Scene) -> Steps:
    member = lone_consumer(s)
    yield "with a member", s.ask(groups=[member.group])
    member.leave()
    yield "without", s.ask(groups=[member.group])
