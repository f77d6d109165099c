"""Offsets of share groups, as tools describe, alter and delete them."""

from typing import Any, Final

from mockbroker.rig.stories import Steps

from .stage import ACCEPT, Ack, ShareStage, acquired

_LONG_S: Final = 90
"""Some releases look for a partition that is not there for half a minute."""


def describing(s: ShareStage) -> Steps:
    """DescribeShareGroupOffsets."""
    s.topic("t", 2)
    s.topic("other")
    s.fill(4)
    one = s.reader()
    one.fetch(0, 1)
    one.acknowledge(Ack(0, 1, [ACCEPT]))
    for version in (0, 1):
        if version > s.newest("describe_share_group_offsets"):
            continue
        for label, topics in (
            ("all", None),
            ("none", []),
            ("both partitions", [{"topic_name": s.named("t"), "partitions": [0, 1]}]),
            ("no partitions", [{"topic_name": s.named("t"), "partitions": []}]),
            ("not subscribed", [{"topic_name": s.named("other"), "partitions": [0]}]),
            ("unknown topic", [{"topic_name": "nothing", "partitions": [0]}]),
        ):
            asked = {"groups": [{"group_id": s.named("g"), "topics": topics}]}
            yield f"{label}, v{version}", s.say("describe_share_group_offsets", asked, version)["groups"]
    yield "unknown group", s.offsets("nobody's")
    yield "unknown group, a topic", s.offsets("nobody's", "t")
    member = {"group_id": s.named("consumer"), "member_id": "m" * 22, "member_epoch": 0}
    subscribed = {"rebalance_timeout": 5000, "subscribed_topic_names": [s.named("t")], "topic_partitions": []}
    s.ask("consumer_group_heartbeat", {**member, **subscribed})
    yield "consumer group", s.offsets("consumer")
    yield "consumer group, a topic", s.offsets("consumer", "t")
    yield "no group named", s.hastily("describe_share_group_offsets", {"groups": []})
    yield "empty name", s.say("describe_share_group_offsets", {"groups": [{"group_id": "", "topics": None}]})
    one.leave()
    yield "empty group", s.offsets("g")
    s.client(by="patient").set_timeout(_LONG_S)
    unknown = {"topic_name": s.named("t"), "partitions": [0, 7]}
    asked = {"groups": [{"group_id": s.named("g"), "topics": [unknown]}]}
    yield "unknown partition", s.say("describe_share_group_offsets", asked, by="patient")["groups"]


def _alter(s: ShareStage, *parts: tuple[str, int, int], group: str = "g") -> Any:
    topics: dict[str, list[dict[str, int]]] = {}
    for name, partition, offset in parts:
        part = {"partition_index": partition, "start_offset": offset}
        topics.setdefault(s.named(name), []).append(part)
    named = [{"topic_name": name, "partitions": each} for name, each in topics.items()]
    return s.say("alter_share_group_offsets", {"group_id": s.named(group), "topics": named})


def altering(s: ShareStage) -> Steps:
    """AlterShareGroupOffsets."""
    s.topic("t", 2)
    s.topic("other")
    s.fill(6)
    yield "no group", _alter(s, ("t", 0, 2))
    yield "described, no group", s.described()
    one = s.reader()
    yield "all", acquired(one.fetch())
    yield "a member is there", _alter(s, ("t", 0, 2))
    one.fetch_all([], epoch=-1)
    one.leave()
    before = s.described()[0]
    yield "empty group", _alter(s, ("t", 0, 2))
    after = s.described()[0]
    yield "epochs", [after[name] - before[name] for name in ("group_epoch", "assignment_epoch")]
    yield "state", s.state()
    yield "offsets", s.offsets("g")
    yield "to the end", _alter(s, ("t", 0, 6))
    yield "beyond the end", _alter(s, ("t", 0, 60))
    yield "negative", _alter(s, ("t", 0, -1))
    yield "very negative", _alter(s, ("t", 0, -5))
    yield "unknown partition", _alter(s, ("t", 7, 0))
    yield "one good, one unknown partition", _alter(s, ("t", 0, 1), ("t", 7, 0))
    yield "unknown topic", _alter(s, ("nothing", 0, 0))
    yield "not subscribed", _alter(s, ("other", 0, 0))
    yield "twice", _alter(s, ("t", 0, 3), ("t", 0, 4))
    yield "no topics", _alter(s)
    yield "no group id", s.say("alter_share_group_offsets", {"group_id": "", "topics": []})
    yield "offsets then", s.offsets("g")
    yield "joins again", one.join("t")
    one.session = 0
    yield "fetched then", acquired(one.look())


def _delete(s: ShareStage, *names: str, group: str = "g") -> Any:
    topics = [{"topic_name": s.named(each)} for each in names]
    return s.say("delete_share_group_offsets", {"group_id": s.named(group), "topics": topics})


def deleting(s: ShareStage) -> Steps:
    """DeleteShareGroupOffsets."""
    s.topic("t", 2)
    s.topic("other")
    s.fill(3)
    yield "no group", _delete(s, "t")
    one = s.reader()
    one.fetch()
    one.acknowledge(Ack(0, 1, [ACCEPT]))
    yield "a member is there", _delete(s, "t")
    one.fetch_all([], epoch=-1)
    one.leave()
    yield "not subscribed", _delete(s, "other")
    yield "unknown topic", _delete(s, "nothing")
    yield "no topics", _delete(s)
    yield "t and an unknown one", _delete(s, "t", "nothing")
    yield "state", s.state()
    yield "offsets", s.offsets("g")
    yield "again", _delete(s, "t")
    yield "no group id", s.say("delete_share_group_offsets", {"group_id": "", "topics": []})
    one.join("t")
    one.session = 0
    yield "fetched then", acquired(one.fetch())


def other_groups(s: ShareStage) -> Steps:
    """Altering and deleting offsets of groups that are no share groups."""
    s.topic()
    member = {"member_id": "m" * 22, "member_epoch": 0, "rebalance_timeout": 5000}
    member |= {"subscribed_topic_names": [s.named("t")], "topic_partitions": []}
    s.ask("consumer_group_heartbeat", {"group_id": s.named("consumer"), **member})
    yield "alters", _alter(s, ("t", 0, 0), group="consumer")
    yield "deletes", _delete(s, "t", group="consumer")
