"""Groups with members of the classic and of the consumer protocol, as each API shows them (KIP-848)."""

from functools import partial
from typing import Any

from ...rig.consumer_scene import LEAVES_FOR_A_WHILE, ConsumerMember, at_once, prompt_group
from ...rig.group_scene import commit_fields
from ...rig.migration_scene import ClassicMember, assignment, classic_group, subscription
from ..registry import Scene, Steps, about

_ask = partial(about, needs=("consumer_group_heartbeat", 1))
consumer_heartbeat, describe = _ask("consumer_group_heartbeat"), _ask("consumer_group_describe")
join, sync, heartbeat, leave = _ask("join_group"), _ask("sync_group"), _ask("heartbeat"), _ask("leave_group")
commit, fetch = _ask("offset_commit"), _ask("offset_fetch")


def _both(s: Scene, partitions: int = 2) -> tuple[ConsumerMember, ClassicMember]:
    """A group of one member of each protocol, each with its share."""
    group, topic = prompt_group(s, partitions)
    consumer, classic = ConsumerMember(s, group, [topic]), ClassicMember(s, group, [topic])
    consumer.join()
    classic.join()
    classic.synced()
    for _ in range(3):
        consumer.acknowledge()
        classic.catch_up()
    return consumer, classic


def _shown(s: Scene, group: str) -> dict[str, object]:
    """What the group is, by every API that shows it."""
    described = s.call("consumer_group_describe", {"group_ids": [group]})["groups"][0]
    classic = s.call("describe_groups", {"groups": [group]})["groups"][0]
    listed = s.call("list_groups", {"states_filter": [], "types_filter": []})["groups"]
    return {
        "consumer": {key: value for key, value in described.items() if key != "members"},
        "classic": {
            key: classic[key] for key in ("error_code", "group_state", "protocol_type", "protocol_data")
        },
        "listed": [each for each in listed if each["group_id"] == group],
    }


def _counted(answer: Any) -> Any:
    """With the number of partitions instead of which: that follows from ids which are drawn."""
    if isinstance(answer, dict):
        return {key: len(each) if key == "partitions" else _counted(each) for key, each in answer.items()}
    return [_counted(each) for each in answer] if isinstance(answer, list) else answer


# -- up


@consumer_heartbeat(newest_only=True)
def joins_a_classic_group(s: Scene) -> Steps:
    group, topic = prompt_group(s, 4)
    classic = classic_group(s, group, [topic], {topic: [0, 1, 2, 3]})
    member = ConsumerMember(s, group, [topic])
    yield "joins", member.join()
    yield "shown", _shown(s, group)
    yield "the classic member", classic.heartbeat()
    yield "its commit", classic.commit(topic)
    yield "it syncs", classic.sync()
    yield "it joins again", classic.join()
    yield "it syncs again", classic.synced()
    yield "its heartbeat", classic.heartbeat()
    yield "it joins without what it gave up", classic.join()
    yield "it syncs then", classic.synced()
    yield "its heartbeat then", classic.heartbeat()
    yield "the consumer gets its share", member.heartbeat()
    yield "the consumer leaves", member.leave()
    yield "shown after that", _shown(s, group)
    yield "the classic member is told", classic.heartbeat()
    yield "it leads", classic.join()


@consumer_heartbeat(newest_only=True)
def joins_while_members_join(s: Scene) -> Steps:
    """Requests that wait are answered, and their members join again."""
    group, topic = prompt_group(s, 2)
    leader = classic_group(s, group, [topic], {topic: [0, 1]})
    other = ClassicMember(s, group, [topic])
    pending = other.send_join()
    member = ConsumerMember(s, group, [topic])
    yield "joins", member.join()
    yield "who was joining", other.joined(pending)
    yield "who was joining joins", other.join()
    yield "the leader", leader.heartbeat()
    yield "the leader joins", leader.join()
    yield "the leader syncs", leader.synced()


@consumer_heartbeat(newest_only=True)
def joins_while_members_sync(s: Scene) -> Steps:
    group, topic = prompt_group(s, 2)
    leader = ClassicMember(s, group, [topic])
    leader.join()
    member = ConsumerMember(s, group, [topic])
    yield "joins", _counted(member.join())
    yield "the leader syncs", leader.sync({leader.id: assignment({topic: [0, 1]})})
    yield "the leader", leader.heartbeat()
    yield "the leader joins", leader.join()
    yield "the leader syncs again", _counted(leader.synced())


@consumer_heartbeat(newest_only=True)
def joins_classic_groups_of_odd_members(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    odd = {
        "user data in the assignment": assignment({topic: [0]}, user_data=b"\0\0\0\x02ab"),
        "empty user data": assignment({topic: [0]}, user_data=b"\0\0\0\0"),
        "an assignment that ends early": assignment({topic: [0]})[:-6],
        "an assignment of an older version": b"\0\0" + assignment({topic: [0]})[2:],
        "an assignment of a newer version": b"\0\x09" + assignment({topic: [0]})[2:],
        "an assignment of version -1": b"\xff\xff" + assignment({topic: [0]})[2:],
        "a topic that is unknown": assignment({topic: [0], s.name("unknown"): [0]}),
        "a partition that is unknown": assignment({topic: [0, 7]}),
        "an empty assignment": b"",
    }
    for number, (name, data) in enumerate(odd.items()):
        classic = ClassicMember(s, s.name(f"g{number}"), [topic])
        at_once(s, classic.group)
        classic.join()
        classic.sync({classic.id: data})
        yield name, _counted(ConsumerMember(s, classic.group, [topic]).join())
        yield f"{name}: the classic member", classic.heartbeat()
    newer = b"\0\x09" + subscription([topic], {})[2:] + b"\0\0\0\x05\xff\xff"
    said = {
        "user data in the subscription": subscription([topic], {}, user_data=b"\0\0\0\x02ab"),
        "a subscription that ends early": subscription([topic], {})[:-9],
        "a subscription of a newer version": newer,
        "a subscription of version -1": b"\xff\xff" + subscription([topic], {})[2:],
        "an empty subscription": b"",
    }
    for number, (name, data) in enumerate(said.items()):
        classic = ClassicMember(s, s.name(f"h{number}"), [topic])
        at_once(s, classic.group)
        classic.join(protocols=[{"name": "range", "metadata": data}])
        classic.sync({classic.id: assignment({topic: [0]})})
        yield name, _counted(ConsumerMember(s, classic.group, [topic]).join())
        yield f"{name}: the classic member", classic.heartbeat()


@consumer_heartbeat(newest_only=True)
def joins_with_an_error(s: Scene) -> Steps:
    """The classic group stays what it is."""
    group, topic = s.name("g"), s.topic()
    classic = classic_group(s, group, [topic], {topic: [0]})
    member = ConsumerMember(s, group, [topic])
    yield "not valid", member.join(subscribed_topic_names=None, subscribed_topic_regex="a(")
    yield "an epoch", member.heartbeat(member_epoch=1)
    yield "leaves", member.leave()
    yield "the classic member", classic.heartbeat()
    yield "shown", _shown(s, group)


# -- classic members of consumer groups


@join()
def of_a_consumer_group(s: Scene) -> Steps:
    group, topic = prompt_group(s, 2)
    consumer = ConsumerMember(s, group, [topic])
    consumer.join()
    classic = ClassicMember(s, group, [topic])
    yield "joins", classic.try_join()
    yield "joins with its id", classic.try_join()
    yield "syncs", classic.synced()
    yield "heartbeat", classic.heartbeat()
    yield "the consumer gives up", consumer.heartbeat()
    consumer.acknowledge()
    yield "heartbeat once that is free", classic.heartbeat()
    yield "joins again", classic.join()
    yield "has", classic.synced()
    yield "joins once more", classic.join()


@join(newest_only=True)
def of_a_consumer_group_wrong(s: Scene) -> Steps:
    group, topic = prompt_group(s, 2)
    consumer = ConsumerMember(s, group, [topic])
    consumer.join()
    classic = ClassicMember(s, group, [topic])
    yield "an id of its own", classic.try_join(member_id=s.name("mine"))
    yield "another protocol type", ClassicMember(s, group, [topic]).try_join(protocol_type="connect")
    yield "an empty protocol type", ClassicMember(s, group, [topic]).try_join(protocol_type="")
    yield "no protocols", ClassicMember(s, group, [topic]).try_join(protocols=[])
    metadata = subscription([topic], {})
    other = ClassicMember(s, group, [topic])
    yield "protocols that nobody has", other.join(protocols=[{"name": "mine", "metadata": metadata}])
    yield (
        "an unknown instance id",
        ClassicMember(s, group, [topic]).try_join(
            member_id=s.name("mine"), group_instance_id=s.name("unknown")
        ),
    )
    yield "a session timeout of 0", ClassicMember(s, group, [topic]).try_join(session_timeout=0)
    yield "as the consumer", ClassicMember(s, group, [topic]).try_join(member_id=consumer.id)
    yield "the consumer after that", consumer.heartbeat()
    for name, data in {
        "a subscription that ends early": metadata[:-9],
        "an empty subscription": b"",
        "a subscription of version -1": b"\xff\xff" + metadata[2:],
    }.items():
        odd = ClassicMember(s, group, [topic])
        yield name, odd.join(protocols=[{"name": "range", "metadata": data}])


@join(newest_only=True)
def of_a_consumer_group_several(s: Scene) -> Steps:
    """Another subscription, another timeout, and a topic that is added."""
    consumer, classic = _both(s)
    classic.topics.append(s.topic("another", partitions=2))
    yield "another topic", classic.join()
    yield "syncs", classic.synced()
    yield "the consumer", consumer.heartbeat()
    yield "a shorter timeout", classic.join(rebalance_timeout=10_000)
    yield "no topics", classic.join(protocols=[{"name": "range", "metadata": subscription([], {})}])
    yield "syncs with no topics", classic.synced()
    third = ClassicMember(s, consumer.group, consumer.topics)
    yield "a third", third.join()
    yield "the third syncs", third.synced()


@join(newest_only=True)
def of_a_consumer_group_static(s: Scene) -> Steps:
    (group, topic), instance = prompt_group(s, 2), s.name("instance")
    other = ConsumerMember(s, group, [topic])
    other.join()
    first = ClassicMember(s, group, [topic], instance=instance)
    yield "joins", first.join()
    yield "syncs", first.synced()
    second = ClassicMember(s, group, [topic], instance=instance)
    yield "takes over", second.join()
    yield "the first", first.heartbeat()
    yield "the first syncs", first.sync()
    yield "the first joins again", first.try_join()
    yield "the second syncs", second.synced()
    consumer = ConsumerMember(s, group, [topic])
    yield "a consumer takes over", consumer.join(instance_id=instance)
    yield "the second", second.heartbeat()
    back = ClassicMember(s, group, [topic], instance=instance)
    yield "a classic member takes over from a consumer", back.join()
    yield "it syncs", back.synced()
    yield "shown", _shown(s, group)


@join(newest_only=True)
def replaces_the_last_consumer(s: Scene) -> Steps:
    """A static member comes back with the classic protocol: the group becomes a classic one."""
    (group, topic), instance = prompt_group(s, 2), s.name("instance")
    consumer = ConsumerMember(s, group, [topic])
    consumer.join(instance_id=instance)
    consumer.leave(LEAVES_FOR_A_WHILE, instance_id=instance)
    back = ClassicMember(s, group, [topic], instance=instance)
    yield "joins", back.join()
    yield "shown", _shown(s, group)
    yield "syncs", back.synced()
    yield "heartbeat", back.heartbeat()
    yield "joins again", back.join()


@sync(newest_only=True)
def of_a_consumer_group_wrong_members(s: Scene) -> Steps:
    consumer, classic = _both(s)
    yield "unknown member", classic.sync(member_id="nobody")
    yield "unknown instance", classic.sync(group_instance_id=s.name("unknown"))
    yield "another type", classic.sync(protocol_type="connect")
    yield "another protocol", classic.sync(protocol_name="mine")
    yield "an older generation", classic.sync(generation_id=classic.generation - 1)
    yield "a newer generation", classic.sync(generation_id=classic.generation + 1)
    yield "as the consumer", classic.sync(member_id=consumer.id)
    yield "with assignments", classic.sync({classic.id: b"assigned"})
    ClassicMember(s, consumer.group, consumer.topics).join()
    yield "while the group rebalances", classic.sync()


@heartbeat(newest_only=True)
def of_a_consumer_group_wrong_member(s: Scene) -> Steps:
    consumer, classic = _both(s)
    yield "unknown member", classic.heartbeat(member_id="nobody")
    yield "unknown instance", classic.heartbeat(group_instance_id=s.name("unknown"))
    yield "an older generation", classic.heartbeat(generation_id=classic.generation - 1)
    yield "a newer generation", classic.heartbeat(generation_id=classic.generation + 1)
    yield "as the consumer", classic.heartbeat(member_id=consumer.id)
    yield "the consumer as the classic member", consumer.heartbeat(member_id=classic.id)
    yield "the classic member after that", classic.heartbeat()


# -- down


@leave(since=3)
def of_a_consumer_group_several_members(s: Scene) -> Steps:
    group, topic = prompt_group(s, 3)
    members = [ConsumerMember(s, group, [topic]) for _ in range(3)]
    for each in members:
        each.join()
    gone = [{"member_id": each.id, "group_instance_id": None, "reason": None} for each in members[:2]]
    unknown = {"member_id": "nobody", "group_instance_id": None, "reason": None}
    no_instance = {"member_id": "", "group_instance_id": s.name("unknown"), "reason": None}
    twice = [*gone, gone[0], unknown, no_instance]
    yield "two and others", s.ask(group_id=group, member_id="", members=twice)
    yield "who is left", members[2].heartbeat()
    last = {"member_id": members[2].id, "group_instance_id": None, "reason": None}
    yield "the last one", s.ask(group_id=group, member_id=members[2].id, members=[last])


@leave(newest_only=True)
def the_last_consumer_is_removed(s: Scene) -> Steps:
    consumer, classic = _both(s)
    identity = {"member_id": consumer.id, "group_instance_id": None, "reason": None}
    yield "removed", s.ask(group_id=consumer.group, members=[identity])
    yield "shown", _shown(s, consumer.group)
    yield "the consumer", consumer.heartbeat()
    yield "the classic member", classic.heartbeat()
    yield "it joins", classic.join()
    yield "it syncs", classic.synced()


@leave(newest_only=True)
def the_classic_member_leaves(s: Scene) -> Steps:
    consumer, classic = _both(s)
    yield "leaves", classic.leave()
    yield "after that", classic.heartbeat()
    yield "the consumer", consumer.heartbeat()
    yield "shown", _shown(s, consumer.group)


@leave(newest_only=True)
def two_classic_members_stay(s: Scene) -> Steps:
    group, topic = prompt_group(s, 3)
    consumer = ConsumerMember(s, group, [topic])
    consumer.join()
    first, second = ClassicMember(s, group, [topic]), ClassicMember(s, group, [topic])
    for each in (first, second):
        each.join()
        each.synced()
    yield "the consumer leaves", consumer.leave()
    yield "shown", _shown(s, group)
    yield "first", first.heartbeat()
    pending = first.send_join()
    yield "second", second.heartbeat()
    second.join()
    joined = first.joined(pending)
    yield "generation", joined["generation_id"]


# -- offsets


@commit(since=5)
def by_a_classic_member_of_a_consumer_group(s: Scene) -> Steps:
    consumer, classic = _both(s)
    (topic,) = consumer.topics
    yield "its own", classic.commit(topic)
    yield "an older generation", classic.commit(topic, generation_id_or_member_epoch=classic.generation - 1)
    yield "generation 0", classic.commit(topic, generation_id_or_member_epoch=0)
    yield "a newer generation", classic.commit(topic, generation_id_or_member_epoch=classic.generation + 1)
    yield "generation -1", classic.commit(topic, generation_id_or_member_epoch=-1)
    yield "from outside", s.ask({"group_id": consumer.group, **commit_fields(s, topic)})


@fetch(since=9)
def by_a_classic_member_of_a_consumer_group_fetched(s: Scene) -> Steps:
    consumer, classic = _both(s)
    (topic,) = consumer.topics
    classic.commit(topic)
    for name, generation in {
        "its own": classic.generation,
        "an older generation": classic.generation - 1,
        "a newer generation": classic.generation + 1,
        "generation -1": -1,
    }.items():
        asked = {
            "group_id": consumer.group,
            "member_id": classic.id,
            "member_epoch": generation,
            "topics": [{**s.topic_ref(topic), "partition_indexes": [0, 1]}],
        }
        yield name, s.ask(groups=[asked], require_stable=False)


@describe()
def members_of_both_protocols(s: Scene) -> Steps:
    consumer, _ = _both(s)
    yield "both", s.ask(group_ids=[consumer.group])
