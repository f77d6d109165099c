"""SyncGroup: KIP-559 (protocol type and name), KIP-345."""

from ...rig.group_scene import Member, completing, joining, stable, stable_pair
from ..registry import Scene, Steps, question


def one_member(s: Scene) -> Steps:
    member = Member(s, s.name("g"))
    member.join()
    yield "with an assignment", member.sync({member.id: b"mine"})
    yield "again, stable", member.sync({member.id: b"another"})
    yield "without assignments", member.sync()


def no_assignments(s: Scene) -> Steps:
    """A member that the leader's assignment omits gets an empty assignment."""
    member = Member(s, s.name("g"))
    member.join()
    yield "leader gives none", member.sync()
    other = Member(s, s.name("other"))
    other.join()
    yield "only for an unknown member", other.sync({"nobody": b"x"})


def two_members(s: Scene) -> Steps:
    """A follower's request waits for the leader's."""
    leader = stable(s, s.name("g"))
    other = completing(s, leader)
    waiting = s.send(other.sync_fields(), client=other.client)
    yield "leader", leader.sync({leader.id: b"1", other.id: b"2"})
    yield "follower", s.receive(waiting, client=other.client)
    yield "follower again", other.sync()


def rebalance_while_waiting(s: Scene) -> Steps:
    """A third member makes waiting followers join again."""
    group = s.name("g")
    leader = stable(s, group)
    other = completing(s, leader)
    waiting = s.send(other.sync_fields(), client=other.client)
    third = Member(s, group)
    third.send_join()
    yield "follower", s.receive(waiting, client=other.client)
    yield "leader, too late", leader.sync({leader.id: b"1", other.id: b"2"})


def wrong_members(s: Scene) -> Steps:
    group = s.name("g")
    yield "unknown group", Member(s, s.name("none")).sync(member_id="nobody", generation_id=1)
    member = stable(s, group)
    yield "unknown member", member.sync(member_id="nobody")
    yield "empty member id", member.sync(member_id="")
    yield "older generation", member.sync(generation_id=member.generation - 1)
    yield "newer generation", member.sync(generation_id=member.generation + 1)
    yield "generation -1", member.sync(generation_id=-1)
    yield "empty group id", member.sync(group_id="")


@question(since=5)
def wrong_protocol(s: Scene) -> Steps:
    """KIP-559: from v5 on they must be those of the group."""
    member = stable(s, s.name("g"))
    yield "another type", member.sync(protocol_type="connect")
    yield "another name", member.sync(protocol_name="roundrobin")
    yield "null type", member.sync(protocol_type=None)
    yield "null name", member.sync(protocol_name=None)
    yield "both null", member.sync(protocol_type=None, protocol_name=None)


def during_a_rebalance(s: Scene) -> Steps:
    leader = stable(s, s.name("g"))
    joining(s, leader)
    yield "preparing a rebalance", leader.sync({leader.id: b"1"})


@question(since=3)
def static_members(s: Scene) -> Steps:
    group, instance = s.name("g"), s.name("instance")
    member = stable(s, group, instance=instance)
    yield "static", member.sync()
    yield "wrong member id", member.sync(member_id="nobody")
    yield "unknown instance", member.sync(group_instance_id=s.name("other"))
    yield "without the instance", member.sync(group_instance_id=None)


@question(newest_only=True)
def empty_group(s: Scene) -> Steps:
    member, other = stable_pair(s, s.name("g"))
    member.leave()
    other.leave()
    yield "all left", member.sync()


def assigned_twice(s: Scene) -> Steps:
    member = Member(s, s.name("g"))
    member.join()
    given = [{"member_id": member.id, "assignment": each} for each in (b"first", b"second")]
    yield "twice", s.ask(member.sync_fields() | {"assignments": given}, client=member.client)
