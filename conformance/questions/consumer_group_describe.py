"""ConsumerGroupDescribe (KIP-848)."""

from ...rig.consumer_scene import ConsumerMember, lone_consumer, prompt_group
from ...rig.group_scene import commit, stable
from ..registry import Scene, Steps


def states(s: Scene) -> Steps:
    group, topic = prompt_group(s, 2)
    first, second = ConsumerMember(s, group, [topic]), ConsumerMember(s, group, [topic])
    first.join()
    yield "stable", s.ask(group_ids=[group])
    second.join(rack_id="r1")
    yield "reconciling", s.ask(group_ids=[group])
    first.heartbeat()
    yield "revoking", s.ask(group_ids=[group])
    first.acknowledge()
    second.heartbeat()
    yield "stable again", s.ask(group_ids=[group])
    first.leave()
    second.leave()
    yield "empty", s.ask(group_ids=[group])


def other_groups(s: Scene) -> Steps:
    yield "unknown", s.ask(group_ids=[s.name("none")])
    yield "empty id", s.ask(group_ids=[""])
    yield "none", s.ask(group_ids=[])
    classic = stable(s, s.name("classic"))
    yield "classic", s.ask(group_ids=[classic.group])
    commit(s, s.name("offsets"), s.topic())
    yield "offsets only", s.ask(group_ids=[s.name("offsets")])
    yield "twice", s.ask(group_ids=[s.name("none"), s.name("none")])


def authorized_operations(s: Scene) -> Steps:
    member = ConsumerMember(s, s.name("g"), [])
    member.join()
    asked = [member.group, s.name("none")]
    yield "asked for", s.ask(group_ids=asked, include_authorized_operations=True)


def static_members(s: Scene) -> Steps:
    member = ConsumerMember(s, s.name("g"), [s.topic()])
    member.join(instance_id=s.name("instance"), server_assignor="range")
    yield "static", s.ask(group_ids=[member.group])
    member.leave(-2, instance_id=s.name("instance"))
    yield "left for a while", s.ask(group_ids=[member.group])


def live_group_named_twice(s: Scene) -> Steps:
    member = lone_consumer(s)
    yield "twice", s.ask(group_ids=[member.group, member.group])
