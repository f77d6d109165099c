"""Members of share groups: they join, are assigned partitions and leave."""

from collections import Counter
from typing import Any

from mockbroker.rig.stories import Steps

from .stage import ShareStage


def joining(s: ShareStage) -> Steps:
    """A member joins, stays and leaves."""
    s.topic("t", 2)
    one = s.member()
    yield "no such group", s.described()
    yield "assigned", one.join("t")
    yield "described", s.described()
    yield "again", one.beat()
    yield "same subscription", one.beat(None, "t")
    yield "joins again", one.beat(0, "t")
    yield "leaves", one.leave()
    yield "described, empty", s.described()
    yield "leaves again", one.leave()
    yield "beats on", one.beat(2)
    yield "joins once more", one.join("t")


def epochs(s: ShareStage) -> Steps:
    """Heartbeats with the wrong epoch."""
    s.topic()
    one = s.member()
    one.join("t")
    now = one.epoch
    for label, epoch in (("next", now + 1), ("far ahead", now + 100), ("before", now - 1), ("-2", -2)):
        yield label, one.beat(epoch)
    yield "leaves with -2", one.beat(-2)
    yield "described", s.described()
    yield "as it was", one.beat(now)


def given_up(s: ShareStage) -> Steps:
    """A member joins, and then the broker handles a heartbeat that it has given up: it does not hear of the
    answer, and its next one says the epoch before."""
    s.topic()
    one = s.member()
    yield "joins", one.beat(0, "t")
    known = one.epoch
    yield "not heard of", one.join("t")
    yield "beats on", one.beat(known)
    yield "again", one.beat()
    yield "names its topics", one.beat(None, "t")


def unknown_members(s: ShareStage) -> Steps:
    """Heartbeats of members that are not there."""
    s.topic()
    one, two = s.member(), s.member("B")
    yield "no group, beats", one.beat(1)
    yield "no group, leaves", one.leave()
    yield "no group after that", s.described()
    one.join("t")
    yield "beats", two.beat(1)
    yield "leaves", two.leave()


def wrong_fields(s: ShareStage) -> Steps:
    """Requests that no broker takes."""
    s.topic()
    one = s.member()
    yield "no group id", one.beat(0, "t", group_id="")
    yield "blank group id", one.beat(0, "t", group_id=" ")
    yield "no member id", one.beat(0, "t", member_id="")
    yield "blank member id", one.beat(0, "t", member_id=" ")
    yield "long member id", one.beat(0, "t", member_id="m" * 37)
    yield "member id of 36", one.beat(0, "t", member_id="m" * 36, group_id=s.named("another"))
    yield "epoch -2", one.beat(-2, "t")
    yield "epoch -3", one.beat(-3, "t")
    yield "no subscription", one.beat(0)
    yield "empty subscription", one.beat(0, subscribed_topic_names=[])
    yield "empty rack", one.beat(0, "t", rack_id="")
    yield "blank rack", one.beat(0, "t", rack_id=" ")
    yield "empty topic name", one.beat(0, subscribed_topic_names=[""])
    yield "bad topic name", one.beat(0, subscribed_topic_names=["a b"])
    yield "the same topic twice", one.beat(0, "t", "t")
    yield "described", s.described()


def subscriptions(s: ShareStage) -> Steps:
    """Subscriptions that change."""
    for name in ("t", "u"):
        s.topic(name)
    one = s.member()
    yield "unknown topic", one.beat(0, "nothing")
    yield "described", s.described()
    yield "a topic", one.beat(None, "t")
    _assigned(s, one, 1)
    yield "described, with a topic", s.described()
    yield "two topics", one.beat(None, "t", "u")
    _assigned(s, one, 2)
    yield "described, with two", s.described()
    yield "empty", one.beat(subscribed_topic_names=[])
    yield "described, with none", s.described()


def _assigned(s: ShareStage, member: Any, topics: int) -> None:
    def done() -> bool:
        member.beat()
        (group,) = s.described()
        found = group["members"][0]["assignment"]["topic_partitions"]
        return len(found) == topics and group["group_state"] == "Stable"

    s.brokers.until(done, f"{topics} assigned topics")


def several_members(s: ShareStage) -> Steps:
    """How partitions are shared out: fewer, as many and more members than partitions."""
    s.topic("t", 4)
    members = []
    for letter in "ABCDEF":
        members.append(s.member(letter))
        members[-1].join("t")
        s.brokers.until(lambda: _stable(s, members), "a stable group")
        (group,) = s.described()
        yield f"{len(members)} members", _shares(group)
    for each in members[:2]:
        each.leave()
    left = members[2:]
    s.brokers.until(lambda: _stable(s, left), "a stable group")
    yield "two left", _shares(s.described()[0])


def _stable(s: ShareStage, members: list[Any]) -> bool:
    for each in members:
        each.beat()
    (group,) = s.described()
    return bool(
        group["group_state"] == "Stable"
        and all(each["member_epoch"] == group["group_epoch"] for each in group["members"])
    )


def _shares(group: Any) -> Any:
    """How many partitions each member has, and how many members each partition: which they are depends on the
    topic's id."""
    held = [
        [number for part in each["assignment"]["topic_partitions"] for number in part["partitions"]]
        for each in group["members"]
    ]
    holders = Counter(number for each in held for number in each)
    return sorted(map(len, held)), sorted(holders.values())


def other_kinds(s: ShareStage) -> Steps:
    """Groups of other protocols with that id, and a share group asked as if it were one."""
    s.topic()
    one = s.member(group="share")
    one.join("t")
    share = s.named("share")
    consumer = {"member_id": "m" * 22, "member_epoch": 0, "rebalance_timeout": 5000}
    consumer |= {"subscribed_topic_names": [s.named("t")], "topic_partitions": []}
    joins: dict[str, Any] = {"session_timeout": 10_000, "rebalance_timeout": 10_000, "member_id": ""}
    joins |= {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}]}
    yield "ConsumerGroupHeartbeat", s.say("consumer_group_heartbeat", {"group_id": share, **consumer})
    yield "JoinGroup", s.say("join_group", {"group_id": share, **joins}, 3)
    yield "ConsumerGroupDescribe", s.say("consumer_group_describe", {"group_ids": [share]})
    yield "DescribeGroups v5", s.say("describe_groups", {"groups": [share]}, 5)
    yield "DescribeGroups v6", s.say("describe_groups", {"groups": [share]}, 6)
    commit = {"name": s.named("t"), "partitions": [{"partition_index": 0, "committed_offset": 1}]}
    asked = {"group_id": share, "generation_id_or_member_epoch": -1, "topics": [commit]}
    yield "OffsetCommit", s.say("offset_commit", asked, 8)
    yield "OffsetFetch", s.say("offset_fetch", {"groups": [{"group_id": share, "topics": None}]}, 8)
    yield "OffsetDelete", s.say("offset_delete", {"group_id": share, "topics": []})
    yield "DeleteGroups", s.say("delete_groups", {"groups_names": [share]})
    for version in (4, 5):
        yield f"ListGroups v{version}", _listed(s, version)
    yield "of type share", _listed(s, 5, types_filter=["share"])
    yield "of type Share and stable", _listed(s, 5, types_filter=["Share"], states_filter=["Stable"])
    yield "of type consumer", _listed(s, 5, types_filter=["consumer"])
    one.leave()
    yield "empty", _listed(s, 5, states_filter=["Empty"])
    yield "DescribeGroups, empty", s.say("describe_groups", {"groups": [share]}, 6)
    yield "DeleteGroups, empty", s.say("delete_groups", {"groups_names": [share]})
    yield "described then", s.described("share")
    s.ask("consumer_group_heartbeat", {"group_id": s.named("consumer"), **consumer})
    two = s.member(group="consumer")
    yield "ShareGroupHeartbeat to a consumer group", two.beat(0, "t")
    yield "ShareGroupDescribe of a consumer group", s.described("consumer")
    s.ask("join_group", {"group_id": s.named("classic"), **joins}, version=3)
    three = s.member(group="classic")
    yield "ShareGroupHeartbeat to a classic group", three.beat(0, "t")
    yield "ShareGroupDescribe of a classic group", s.described("classic")


def _listed(s: ShareStage, version: int, **fields: Any) -> Any:
    """Groups of the story only."""
    answer = s.say("list_groups", fields, version)
    return [each for each in answer["groups"] if each["group_id"].startswith(s.named(""))]


def described_twice(s: ShareStage) -> Steps:
    """ShareGroupDescribe of several groups."""
    s.topic()
    s.member().join("t")
    yield "both and the first again", s.described("g", "nobody's", "g")
    yield "none", s.say("share_group_describe", {"group_ids": []})
    yield "empty name", s.say("share_group_describe", {"group_ids": [""]})
    asked = {"group_ids": [s.named("g")], "include_authorized_operations": True}
    yield "with operations", s.say("share_group_describe", asked)["groups"][0]["authorized_operations"]


def topics_change(s: ShareStage) -> Steps:
    """A topic gets partitions, and is deleted."""
    s.topic()
    one = s.reader()
    s.fill(2)
    yield "fetched", one.fetch()["responses"][0]["partitions"][0]["acquired_records"]
    more = {"name": s.named("t"), "count": 2, "assignments": None}
    s.ask("create_partitions", {"topics": [more], "timeout": 20_000, "validate_only": False})
    _await(s)
    s.fill(3, partition=1)

    def both() -> bool:
        one.beat()
        (group,) = s.described()
        found = group["members"][0]["assignment"]["topic_partitions"]
        return any(each["partitions"] == [0, 1] for each in found)

    s.brokers.until(both, "both partitions")
    yield "described", s.described()
    yield "state of the new one", s.state(partition=1)
    s.ask("delete_topics", {"topics": [{"name": s.named("t"), "topic_id": None}], "timeout": 20_000})

    def gone() -> bool:
        one.beat()
        (group,) = s.described()
        return not group["members"][0]["assignment"]["topic_partitions"]

    s.brokers.until(gone, "no assignment")
    yield "described, deleted", s.described()


def _await(s: ShareStage) -> None:
    s.brokers.until(lambda: s.led(s.named("t"), 2), "the new partition")


def later_partition(s: ShareStage) -> Steps:
    """Records written to a partition that is added later, before the group has it (KAFKA-20742)."""
    s.topic()
    s.configure("g", share_auto_offset_reset="latest")
    one = s.member()
    one.join("t")
    yield "nothing yet", one.look()["responses"]
    more = {"name": s.named("t"), "count": 2, "assignments": None}
    s.ask("create_partitions", {"topics": [more], "timeout": 20_000, "validate_only": False})
    _await(s)
    s.fill(3, partition=1)

    def both() -> bool:
        one.beat()
        (group,) = s.described()
        found = group["members"][0]["assignment"]["topic_partitions"]
        return any(each["partitions"] == [0, 1] for each in found)

    s.brokers.until(both, "both partitions")
    yield "state", s.state(partition=1)
    answer = one.fetch(1, max_wait=1000)
    yield "fetched", answer["responses"] and answer["responses"][0]["partitions"][0]["acquired_records"]
    yield "state then", s.state(partition=1)
