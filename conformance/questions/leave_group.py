"""LeaveGroup: KIP-345 (several members at once, from v3 on), KIP-800 (reasons)."""

from typing import Any

from ...rig.consumer_scene import ConsumerMember
from ...rig.group_scene import Member, stable, stable_pair
from ..registry import Scene, Steps, question


def _identity(member_id: str, instance: str | None = None, reason: str | None = None) -> dict[str, Any]:
    return {"member_id": member_id, "group_instance_id": instance, "reason": reason}


def one_member(s: Scene) -> Steps:
    member = stable(s, s.name("g"))
    yield "leaves", member.leave()
    yield "again", member.leave()


def wrong_members(s: Scene) -> Steps:
    member = stable(s, s.name("g"))
    stranger = Member(s, s.name("g"))
    stranger.id = "nobody"
    yield "unknown member", stranger.leave()
    stranger.id = ""
    yield "empty member id", stranger.leave()
    elsewhere = Member(s, s.name("none"))
    elsewhere.id = "nobody"
    yield "unknown group", elsewhere.leave()
    yield "empty group id", member.leave(group_id="")
    yield "still a member", member.heartbeat()["error_code"]


def pending_member(s: Scene) -> Steps:
    """A member id that was given out but not used yet."""
    member = Member(s, s.name("g"))
    member.try_join()
    yield "leaves", member.leave()
    yield "joins with it", member.try_join()["error_code"]


@question(since=3)
def several_members(s: Scene) -> Steps:
    first, second = stable_pair(s, s.name("g"))
    members = [_identity(first.id), _identity("nobody"), _identity(second.id), _identity(first.id)]
    yield "two, one unknown, one twice", first.leave(members=members)
    yield "none", first.leave(members=[])


@question(since=3)
def static_members(s: Scene) -> Steps:
    """By instance id only, as an operator does."""
    group, instance = s.name("g"), s.name("instance")
    member = stable(s, group, instance=instance)
    yield "wrong member id", member.leave(members=[_identity("nobody", instance)])
    yield "unknown instance", member.leave(members=[_identity("", s.name("other"))])
    yield "unknown instance, known id", member.leave(members=[_identity(member.id, s.name("other"))])
    yield "instance alone", member.leave(members=[_identity("", instance)])
    again = stable(s, group, instance=instance)
    yield "instance and id", again.leave()
    third = stable(s, group, instance=instance)
    yield "id alone", third.leave(members=[_identity(third.id)])


@question(since=5)
def reasons(s: Scene) -> Steps:
    first, second = stable_pair(s, s.name("g"))
    yield "with a reason", first.leave(members=[_identity(first.id, None, "enough")])
    yield "long reason", second.leave(members=[_identity(second.id, None, "x" * 5000)])


@question(since=3)
def consumer_group(s: Scene) -> Steps:
    """Administrators remove members of groups of KIP-848 too."""
    group, topic = s.name("g"), s.topic()
    member, other = ConsumerMember(s, group, [topic]), ConsumerMember(s, group, [topic])
    member.join()
    other.join(instance_id=s.name("instance"))
    members = [_identity("nobody"), _identity(member.id), _identity("", s.name("none"))]
    yield "unknown and known", s.ask({"group_id": group, "members": members})
    yield "by instance", s.ask({"group_id": group, "members": [_identity("", s.name("instance"))]})
    yield "again", s.ask({"group_id": group, "members": [_identity("", s.name("instance"))]})


@question(since=3)
def members_named_twice(s: Scene) -> Steps:
    instance = s.name("instance")
    member = stable(s, s.name("g"), instance=instance)
    by_instance = _identity("", instance)
    yield "unknown", member.leave(members=[_identity("nobody")] * 2)
    yield "instance", member.leave(members=[by_instance] * 2)
    again = stable(s, s.name("g"), instance=instance)
    yield "member and instance", member.leave(members=[_identity(again.id), by_instance])
