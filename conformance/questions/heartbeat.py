"""Heartbeat in every state of a group."""

from ...rig.consumer_scene import lone_consumer
from ...rig.group_scene import Member, commit, joining, not_coordinating, stable, stable_pair
from ..registry import Scene, Steps, question


def states(s: Scene) -> Steps:
    """A member counts as alive while it waits for its assignment; in a rebalance it is told to join again."""
    group = s.name("g")
    member = Member(s, group)
    yield "unknown group", member.heartbeat(member_id="nobody", generation_id=1)
    member.join()
    yield "joined, not synced", member.heartbeat()
    member.sync({member.id: b"x"})
    yield "stable", member.heartbeat()
    other, pending = joining(s, member)
    yield "preparing a rebalance", member.heartbeat()
    member.join()
    other.joined(pending)
    yield "completing: leader", member.heartbeat()
    yield "completing: follower", other.heartbeat()
    member.sync({member.id: b"1", other.id: b"2"})
    yield "stable again, follower not synced", other.heartbeat()
    other.leave()
    member.leave()
    yield "all left", member.heartbeat()


def wrong_members(s: Scene) -> Steps:
    member = stable(s, s.name("g"))
    yield "unknown member", member.heartbeat(member_id="nobody")
    yield "empty member id", member.heartbeat(member_id="")
    yield "older generation", member.heartbeat(generation_id=member.generation - 1)
    yield "newer generation", member.heartbeat(generation_id=member.generation + 1)
    yield "generation -1", member.heartbeat(generation_id=-1)
    yield "unknown member and generation", member.heartbeat(member_id="nobody", generation_id=99)
    yield "empty group id", member.heartbeat(group_id="")


@question(since=4)
def pending_member(s: Scene) -> Steps:
    """A member id that was given out but not used yet."""
    member = Member(s, s.name("g"))
    member.try_join()
    yield "generation -1", member.heartbeat(generation_id=-1)
    yield "generation 0", member.heartbeat(generation_id=0)


@question(since=3)
def static_members(s: Scene) -> Steps:
    member = stable(s, s.name("g"), instance=s.name("instance"))
    yield "static", member.heartbeat()
    yield "wrong member id", member.heartbeat(member_id="nobody")
    yield "unknown instance", member.heartbeat(group_instance_id=s.name("other"))
    yield "without the instance", member.heartbeat(group_instance_id=None)


def group_with_offsets_only(s: Scene) -> Steps:
    group = s.name("g")
    commit(s, group, s.topic())
    yield "no members", Member(s, group).heartbeat(member_id="nobody", generation_id=0)


def after_leaving(s: Scene) -> Steps:
    first, second = stable_pair(s, s.name("g"))
    second.leave()
    yield "who left", second.heartbeat()
    yield "who stays", first.heartbeat()


@question(at=(0, 4), brokers=3)
def not_the_coordinator(s: Scene) -> Steps:
    asked = {"group_id": s.name("g"), "generation_id": 1, "member_id": "nobody", "group_instance_id": None}
    yield "another broker", s.ask(asked, client=not_coordinating(s, s.name("g")))


def consumer_group(s: Scene) -> Steps:
    """A group of KIP-848 has no generations."""
    member = lone_consumer(s)
    classic = Member(s, member.group)
    yield "its member", classic.heartbeat(member_id=member.id, generation_id=member.epoch)
    yield "unknown member", classic.heartbeat(member_id="nobody", generation_id=1)
