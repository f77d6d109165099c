"""JoinGroup: KIP-62, KIP-345 (static members), KIP-394 (ids first), KIP-559, KIP-814 (skip assignment)."""

from typing import Any

from ...rig.consumer_scene import lone_consumer
from ...rig.group_scene import SUBSCRIPTION, Member, joining, rebalancing, stable, stable_pair, subscription
from ..registry import Scene, Steps, question

FEW = (0, 3, 4, 5, 7, 8, 9)


def _protocols(*names: str, data: bytes = SUBSCRIPTION) -> list[dict[str, Any]]:
    return [{"name": name, "metadata": data} for name in names]


def first_member(s: Scene) -> Steps:
    """From v4 on a member has to get an id first (KIP-394)."""
    member = Member(s, s.name("g"))
    first = member.try_join()
    yield "without a member id", first
    if first["error_code"] == "MEMBER_ID_REQUIRED":
        yield "with the id given", member.try_join()
    yield "again", member.try_join()


@question(at=FEW)
def two_members(s: Scene) -> Steps:
    group = s.name("g")
    leader = stable(s, group)
    other, pending = joining(s, leader)
    yield "the leader joins again", leader.join()
    yield "the other", other.joined(pending)


@question(at=FEW)
def leader_joins_again(s: Scene) -> Steps:
    """A JoinGroup of the leader starts a rebalance; one of another member with the same protocols gets the
    current generation."""
    leader, other = stable_pair(s, s.name("g"))
    yield "the other joins", other.join()
    pending = leader.send_join()
    rebalancing(s, other)
    yield "the other joins after the leader", other.join()
    yield "the leader", leader.joined(pending)


@question(at=FEW)
def changed_metadata(s: Scene) -> Steps:
    """A member that changes its metadata starts a rebalance."""
    leader, other = stable_pair(s, s.name("g"))
    pending = other.send_join(protocols=_protocols("range", data=subscription("changed")))
    rebalancing(s, leader)
    yield "the leader", leader.join()
    yield "the other", other.joined(pending)


@question(at=FEW)
def unknown_members(s: Scene) -> Steps:
    group = s.name("g")
    yield "unknown id, no group", Member(s, group).try_join(member_id="nobody")
    stable(s, group)
    yield "unknown id, stable group", Member(s, group).try_join(member_id="nobody")


@question(at=FEW)
def invalid_group_ids(s: Scene) -> Steps:
    yield "empty", Member(s, "").try_join()
    yield "blank", Member(s, f" {s.suffix}").try_join()


@question(at=FEW)
def session_timeouts(s: Scene) -> Steps:
    """It has to be between group.min.session.timeout.ms and group.max.session.timeout.ms."""
    for timeout in (-1, 0, 5999, 6000, 1_800_000, 1_800_001, 2**31 - 1):
        member = Member(s, s.name(f"g{timeout}"))
        answer = member.try_join(session_timeout=timeout)
        yield f"{timeout} ms", answer["error_code"]


@question(at=(1, 5, 9))
def rebalance_timeouts(s: Scene) -> Steps:
    for timeout in (-1, 0, 2**31 - 1):
        yield f"{timeout} ms", Member(s, s.name(f"g{timeout}")).join(rebalance_timeout=timeout)["error_code"]


@question(at=FEW)
def protocols(s: Scene) -> Steps:
    """A new group needs at least one protocol and a type."""
    yield "no protocols", Member(s, s.name("none")).join(protocols=[])
    yield "empty type", Member(s, s.name("type")).join(protocol_type="")
    yield "any type", Member(s, s.name("connect")).join(protocol_type="connect")
    yield "empty name", Member(s, s.name("name")).join(protocols=_protocols(""))
    yield "empty metadata", Member(s, s.name("empty")).join(protocols=_protocols("range", data=b""))


@question(at=(0, 3))
def protocol_named_twice(s: Scene) -> Steps:
    """A protocol named twice counts twice, so for no protocol does the count equal the number of members."""
    group = s.name("g")
    first = Member(s, group).join_fields(protocols=_protocols("range", "range"))
    yield "a new group", s.ask(first, within=1.0)
    yield "with one protocol", Member(s, group).try_join()["error_code"]


@question(at=FEW)
def inconsistent_protocols(s: Scene) -> Steps:
    """A new member must share the type and one protocol with all others."""
    group = s.name("g")
    stable(s, group)
    yield "another protocol", Member(s, group).try_join(protocols=_protocols("roundrobin"))
    yield "another type", Member(s, group).try_join(protocol_type="connect")
    yield "no protocols", Member(s, group).try_join(protocols=[])
    yield "case differs", Member(s, group).try_join(protocols=_protocols("Range"))


@question(at=FEW)
def chosen_protocol(s: Scene) -> Steps:
    """The protocol is one that all members support, whatever each prefers."""
    group = s.name("g")
    first = stable(s, group, protocols=_protocols("range", "roundrobin"))
    second, pending = joining(s, first, protocols=_protocols("sticky", "roundrobin"))
    yield "first prefers range", first.join(protocols=_protocols("range", "roundrobin"))
    yield "second has no range", second.joined(pending)


@question(at=(4, 5, 9))
def pending_members(s: Scene) -> Steps:
    """A member id that was given out but not used yet belongs to the group (KIP-394)."""
    group = s.name("g")
    first, second = Member(s, group), Member(s, group)
    yield "first gets an id", first.try_join()
    yield "second gets an id", second.try_join()
    stranger = Member(s, group)
    yield "the id on another connection", stranger.try_join(member_id=first.id)


@question(since=5)
def static_member(s: Scene) -> Steps:
    """A static member needs no id first and may come back without one (KIP-345)."""
    group, instance = s.name("g"), s.name("instance")
    member = Member(s, group, instance=instance)
    yield "first", member.try_join()
    member.sync({member.id: b"assigned"})
    again = Member(s, group, instance=instance)
    yield "back without an id", again.try_join()
    yield "the old id", member.try_join()
    yield "heartbeat with the old id", member.heartbeat()
    yield "heartbeat with the new id", again.heartbeat()


@question(since=5)
def static_member_with_new_metadata(s: Scene) -> Steps:
    group, instance = s.name("g"), s.name("instance")
    member = stable(s, group, instance=instance)
    yield "generation", member.generation
    again = Member(s, group, instance=instance)
    yield (
        "back with other metadata",
        again.try_join(protocols=_protocols("range", data=subscription("changed"))),
    )
    third = Member(s, group, instance=instance)
    yield "back with another protocol", third.try_join(protocols=_protocols("roundrobin"))


@question(since=5)
def static_members(s: Scene) -> Steps:
    group = s.name("g")
    first = stable(s, group, instance=s.name("one"))
    second, pending = joining(s, first, instance=s.name("two"))
    yield "first", first.join()
    yield "second", second.joined(pending)
    first.sync({first.id: b"1", second.id: b"2"})
    second.sync()
    replaced = Member(s, group, instance=s.name("one"))
    yield "the leader comes back", replaced.try_join()
    follower = Member(s, group, instance=s.name("two"))
    yield "the other comes back", follower.try_join()


@question(at=(5, 9))
def wrong_instance(s: Scene) -> Steps:
    """An instance that belongs to another member id is fenced."""
    group = s.name("g")
    member = stable(s, group, instance=s.name("one"))
    dynamic = Member(s, group)
    yield "known instance, unknown id", Member(s, group, instance=s.name("one")).try_join(member_id="nobody")
    yield "unknown instance, known id", Member(s, group, instance=s.name("two")).try_join(member_id=member.id)
    yield "no instance, the static member's id", dynamic.try_join(member_id=member.id)
    yield "empty instance", Member(s, s.name("other"), instance="").try_join()
    yield "250 characters", Member(s, s.name("long"), instance="i" * 250).try_join()
    yield "illegal characters", Member(s, s.name("illegal"), instance="a b").try_join()


@question(at=(1, 5, 9))
def rebalance_timeout_over(s: Scene) -> Steps:
    """A member that does not join again in time is removed."""
    group = s.name("g")
    member = stable(s, group, rebalance_timeout=700)
    other = Member(s, group)
    start = s.now_s()
    pending = other.send_join(rebalance_timeout=700)
    yield "the new one", other.joined(pending)
    yield "waited", 0.6 < s.now_s() - start < 5
    yield "the old one's heartbeat", member.heartbeat()


@question(at=(1, 5))
def leader_gone(s: Scene) -> Steps:
    """Another member becomes the leader when the leader leaves."""
    leader, other = stable_pair(s, s.name("g"))
    leader.leave()
    rebalancing(s, other)
    yield "the other", other.join()


def consumer_group(s: Scene) -> Steps:
    """A group of KIP-848 takes no members of another type."""
    member = lone_consumer(s)
    yield "of another type", Member(s, member.group).try_join(protocol_type="connect")
