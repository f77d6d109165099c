"""ConsumerGroupHeartbeat: joining, reconciliation, fencing and leaving (KIP-848)."""

import re
from typing import Any

from ...rig.consumer_scene import LEAVES, LEAVES_FOR_A_WHILE, ConsumerMember, at_once, prompt_group, settled
from ...rig.group_scene import commit, not_coordinating, stable
from ...rig.scene import UNKNOWN_TOPIC_ID
from ..registry import Scene, Steps, question


def alone(s: Scene) -> Steps:
    member = ConsumerMember(s, s.name("g"), [s.topic(partitions=3)])
    yield "joins", member.join()
    yield "nothing has changed", member.heartbeat()
    yield "says what it has", member.acknowledge()
    yield "says all", member.heartbeat(**member.full())
    yield "leaves", member.leave()
    yield "after it has left", member.heartbeat()
    yield "leaves again", member.leave()


def two_members(s: Scene) -> Steps:
    """The second gets its share only once the first has given it up."""
    group, topic = prompt_group(s, 4)
    first, second = ConsumerMember(s, group, [topic]), ConsumerMember(s, group, [topic])
    yield "first joins", first.join()
    yield "second joins", second.join()
    yield "second asks again", second.heartbeat()
    kept = first.owned
    yield "first is asked to revoke", first.heartbeat()
    yield "first still has all", first.heartbeat(topic_partitions=kept)
    yield "second waits", second.heartbeat()
    yield "first has revoked", first.acknowledge()
    yield "second gets its share", second.heartbeat()
    yield "second has it", second.acknowledge()
    yield "first, nothing new", first.heartbeat()
    yield "first leaves", first.leave()
    yield "second gets all", second.heartbeat()


def soon_after(s: Scene) -> Steps:
    """The next assignment is not made before `group.consumer.assignment.interval.ms` is over."""
    group, topic = s.name("g"), s.topic(partitions=2)
    first, second = ConsumerMember(s, group, [topic]), ConsumerMember(s, group, [topic])
    yield "first joins", first.join()
    yield "second joins", second.join()
    yield "second asks again", second.heartbeat()


def soon_after_the_last_has_left(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)
    first, second = ConsumerMember(s, group, [topic]), ConsumerMember(s, group, [topic])
    yield "first joins", first.join()
    yield "first leaves", first.leave()
    yield "second joins", second.join()
    yield "second asks again", second.heartbeat()
    yield "second leaves", second.leave()
    yield "first joins again", first.join()


def three_members(s: Scene) -> Steps:
    group, topic = prompt_group(s, 6)
    members = [ConsumerMember(s, group, [topic]) for _ in range(3)]
    for number, each in enumerate(members):
        yield f"{number} joins", each.join()
    settled(*members)
    for number, each in enumerate(members):
        yield f"{number} has", each.heartbeat(**each.full())
    yield "one leaves", members[0].leave()
    settled(*members[1:])
    for number, each in enumerate(members[1:], 1):
        yield f"{number} has now", each.heartbeat(**each.full())


def epochs(s: Scene) -> Steps:
    member = ConsumerMember(s, s.name("g"), [s.topic(partitions=2)])
    at_once(s, member.group)
    member.join()
    at = member.epoch
    yield "a larger epoch", member.heartbeat(member_epoch=at + 1)
    yield "the epoch before", member.heartbeat(member_epoch=at - 1, **member.full(topic_partitions=[]))
    member.topics.append(s.topic("other"))
    yield "another topic", member.heartbeat(subscribed_topic_names=member.topics)
    yield (
        "the previous epoch, with what it had",
        member.heartbeat(member_epoch=at, topic_partitions=member.owned),
    )
    yield "the previous epoch, without", member.heartbeat(member_epoch=at)
    unknown = [{"topic_id": UNKNOWN_TOPIC_ID, "partitions": [0]}]
    yield (
        "the previous epoch, with something else",
        member.heartbeat(member_epoch=at, topic_partitions=unknown),
    )
    yield "an epoch below -2", member.heartbeat(member_epoch=-3)
    yield "0 again", member.join()


def wrong_requests(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    member = ConsumerMember(s, group, [topic])
    yield "unknown group", member.heartbeat(member_epoch=1)
    yield "empty group id", member.join(group_id="")
    yield "empty member id, joins", member.heartbeat(**member.full(), group_id="", member_id="")
    yield "empty member id", member.heartbeat(member_id="", member_epoch=1)
    yield "without a timeout", member.join(rebalance_timeout=-1)
    yield "without topics", member.join(subscribed_topic_names=None)
    yield "partitions null", member.join(topic_partitions=None)
    yield "with partitions", member.join(topic_partitions=[{"topic_id": UNKNOWN_TOPIC_ID, "partitions": [0]}])
    yield "unknown assignor", member.join(server_assignor="none")
    yield "empty assignor", member.join(server_assignor="")
    yield "empty instance id", member.join(instance_id="")
    yield "empty rack", member.join(rack_id="")
    yield "leaves an unknown group", member.leave()
    yield "leaves for a while without an instance id", member.leave(LEAVES_FOR_A_WHILE)
    yield "joins", member.join()
    yield "an unknown member", member.heartbeat(member_id=s.name("nobody"))
    yield "an unknown member leaves", member.leave(member_id=s.name("nobody"))
    yield (
        "what it has is unknown",
        member.heartbeat(topic_partitions=[{"topic_id": UNKNOWN_TOPIC_ID, "partitions": [0, 7]}]),
    )


def without_member_id(s: Scene) -> Steps:
    """In version 0 the coordinator makes one for whoever joins (KIP-1082)."""
    group, topic = prompt_group(s, 2)
    first, second = (ConsumerMember(s, group, [topic], member_id="") for _ in range(2))
    yield "first joins", first.join()
    yield "second joins", second.join()
    made = [each.id for each in (first, second) if each.id]
    yield "its letters", [re.fullmatch(r"[\w-]{22}", each, re.ASCII) is not None for each in made]
    yield "another for each", len(set(made)) == len(made)
    yield "first asks again", first.heartbeat()
    yield "first has revoked", first.acknowledge()
    yield "second asks again", second.heartbeat()
    yield "first leaves", first.leave()
    yield "first, after that", first.heartbeat()
    yield "first joins again with its id", first.join()
    for epoch in (1, LEAVES, LEAVES_FOR_A_WHILE, -3):
        yield f"empty at epoch {epoch}", second.heartbeat(member_epoch=epoch, member_id="")
    yield "made of a space", ConsumerMember(s, group, [topic], member_id=" ").join()
    yield "made of a word", ConsumerMember(s, group, [topic], member_id="word").join()


def static_without_member_id(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)
    instance = s.name("instance")
    member, other = (ConsumerMember(s, group, [topic], member_id="") for _ in range(2))
    yield "joins", member.join(instance_id=instance)
    second = other.join(instance_id=instance)
    yield "another with its instance id", second["error_code"]
    for epoch in (LEAVES, LEAVES_FOR_A_WHILE):
        yield f"empty at epoch {epoch}", other.leave(epoch, member_id="", instance_id=instance)
    yield "leaves for a while", member.leave(LEAVES_FOR_A_WHILE, instance_id=instance)
    yield "comes back", other.join(instance_id=instance)
    yield "leaves", other.leave(instance_id=instance)


def without_topics(s: Scene) -> Steps:
    member = ConsumerMember(s, s.name("g"), [])
    yield "an empty list", member.join()
    yield "null", member.join(subscribed_topic_names=None)


def subscriptions(s: Scene) -> Steps:
    group = s.name("g")
    at_once(s, group)
    member = ConsumerMember(s, group, [])
    yield "no topics", member.join()
    yield "an unknown topic", member.heartbeat(subscribed_topic_names=[s.name("unknown")])
    topics = [s.topic("a", partitions=2), s.topic("b", partitions=2)]
    yield "two topics", member.heartbeat(subscribed_topic_names=topics)
    yield "the same in another order", member.heartbeat(subscribed_topic_names=topics[::-1])
    yield "one of them", member.heartbeat(subscribed_topic_names=topics[:1])
    yield "has given the other up", member.acknowledge()
    yield "no topics any more", member.heartbeat(subscribed_topic_names=[])
    yield "has given up all", member.acknowledge()


def assignors(s: Scene) -> Steps:
    group, topics = s.name("g"), [s.topic("a", partitions=3)]
    at_once(s, group)
    members = [ConsumerMember(s, group, topics) for _ in range(2)]
    for number, each in enumerate(members):
        yield f"{number} joins with range", each.join(server_assignor="range")
    settled(*members)
    for number, each in enumerate(members):
        yield f"{number} has by range", each.heartbeat(**each.full(server_assignor="range"))
    for number, each in enumerate(members):
        yield f"{number} changes to uniform", each.heartbeat(server_assignor="uniform")
    settled(*members)
    for number, each in enumerate(members):
        yield f"{number} has", each.heartbeat(**each.full())
    topics.append(s.topic("b", partitions=3))
    for number, each in enumerate(members):
        yield (
            f"{number} subscribes to another topic, by range",
            each.heartbeat(**each.full(server_assignor="range")),
        )
    settled(*members)
    for number, each in enumerate(members):
        yield f"{number} has by range", each.heartbeat(**each.full(server_assignor="range"))


def different_subscriptions(s: Scene) -> Steps:
    group = s.name("g")
    topics = [s.topic(name, partitions=count) for name, count in {"a": 3, "b": 4, "c": 5}.items()]
    at_once(s, group)
    members = [
        ConsumerMember(s, group, topics),
        ConsumerMember(s, group, topics[:2]),
        ConsumerMember(s, group, topics[2:]),
    ]
    for each in members:
        each.join()
    settled(*members)
    for number, each in enumerate(members):
        yield f"{number} has", each.heartbeat(**each.full())


def static_members(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)
    instance = s.name("instance")
    member, other = ConsumerMember(s, group, [topic]), ConsumerMember(s, group, [topic])
    yield "joins", member.join(instance_id=instance)
    yield "another member joins with its instance id", other.join(instance_id=instance)
    yield "another member with its instance id", other.heartbeat(member_epoch=1, instance_id=instance)
    yield "unknown instance id", member.heartbeat(instance_id=s.name("nobody"))
    yield "another member leaves", other.leave(instance_id=instance)
    yield "leaves for a while", member.leave(LEAVES_FOR_A_WHILE, instance_id=instance)
    yield "the old member", member.heartbeat(instance_id=instance)
    yield "another member takes over", other.join(instance_id=instance)
    yield "the old member after that", member.heartbeat(instance_id=instance)
    yield "leaves for good", other.leave(instance_id=instance)
    yield "an unknown instance leaves", other.leave(LEAVES_FOR_A_WHILE, instance_id=instance)


def other_groups(s: Scene) -> Steps:
    """A classic group without members becomes a consumer group."""
    topic = s.topic()
    commit(s, s.name("offsets"), topic)
    member = ConsumerMember(s, s.name("offsets"), [topic])
    yield "a group with offsets only", member.join()
    classic = stable(s, s.name("connect"), protocol_type="connect")
    yield "a group of another type", ConsumerMember(s, classic.group, [topic]).join()
    empty = stable(s, s.name("empty"))
    empty.leave()
    yield "a classic group without members", ConsumerMember(s, empty.group, [topic]).join()


@question(since=1)
def regular_expressions(s: Scene) -> Steps:
    group, name = s.name("g"), s.topic("regex", partitions=2)
    at_once(s, group)
    member = ConsumerMember(s, group, [])
    yield "not valid", member.join(subscribed_topic_names=None, subscribed_topic_regex="a(")
    pattern = name.replace("-", ".")
    asked = {"subscribed_topic_names": None, "subscribed_topic_regex": pattern}
    yield "joins", {**member.join(**asked), "assignment": None, "member_epoch": None}
    s.until(lambda: member.acknowledge() and member.owned, "the topics that match")
    yield "has", member.heartbeat(**member.full(**asked))
    yield "an empty one", member.heartbeat(subscribed_topic_regex="")
    yield "has given up", member.acknowledge()


@question(at=(0, 1), brokers=3)
def not_the_coordinator(s: Scene) -> Steps:
    member = ConsumerMember(s, s.name("g"), [])
    member.client = not_coordinating(s, member.group)
    yield "another broker", member.join()


def topics_of_a_member_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    member = ConsumerMember(s, s.name("g"), [topic, topic])
    yield "joins", member.join()

    def owning(*parts: list[int]) -> Any:
        twice = [{**each, "partitions": indexes} for each in member.owned for indexes in parts]
        return member.heartbeat(topic_partitions=twice)

    yield "owns a topic twice", owning([0], [1])
    yield "owns a partition twice", owning([0, 1, 0])
    yield "subscribes again", member.heartbeat(subscribed_topic_names=[topic, topic, topic])
    (group,) = s.call("consumer_group_describe", {"group_ids": [member.group]})["groups"]
    yield "described", [each["subscribed_topic_names"] for each in group.get("members", [])]
