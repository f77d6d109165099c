"""Offsets of streams groups, and requests of other protocols."""

from typing import Any

from mockbroker.rig.stories import Steps

from .stage import StreamsStage


def _commit(
    s: StreamsStage, epoch: int, member: str, version: int = 9, name: str = "lines", partition: int = 0
) -> Any:
    part = {"partition_index": partition, "committed_offset": 7, "committed_metadata": ""}
    asked = {
        "group_id": s.named("g"),
        "generation_id_or_member_epoch": epoch,
        "member_id": member,
        "topics": [{"name": s.named(name), "partitions": [part]}],
    }
    answer = s.say("offset_commit", asked, version)
    return answer["topics"][0]["partitions"][0]["error_code"]


def _fetch(s: StreamsStage, epoch: int, member: str | None) -> Any:
    topics = [{"name": s.named("lines"), "partition_indexes": [0]}]
    group = {"group_id": s.named("g"), "member_id": member, "member_epoch": epoch, "topics": topics}
    return s.say("offset_fetch", {"groups": [group], "require_stable": False}, version=9)["groups"][0]


def committing(s: StreamsStage) -> Steps:
    """Who may commit, and when."""
    s.topic("lines", 2)
    one, two = s.member(), s.member("B")
    one.run(*s.words())
    s.settle([one])
    now = one.epoch
    yield "its epoch", _commit(s, now, one.id)
    yield "a later epoch", _commit(s, now + 1, one.id)
    yield "an earlier epoch", _commit(s, now - 1, one.id)
    yield "nobody", _commit(s, -1, "")
    yield "another member", _commit(s, now, two.id)
    yield "an old version", _commit(s, now, one.id, 8)
    two.join(*s.words())
    s.settle([one, two])
    later = one.epoch
    yield "epochs differ", [now < later, _commit(s, now, one.id, partition=_kept(one))]
    yield "not its task", _commit(s, now, one.id, partition=1 - _kept(one))
    yield "not its task, by the present epoch", _commit(s, later, one.id, partition=1 - _kept(one))
    s.topic("other")
    yield "another topic, an old epoch", _commit(s, now, one.id, name="other")
    yield "another topic", _commit(s, later, one.id, name="other")
    one.leave()
    two.leave()
    yield "an empty group", _commit(s, -1, "")
    yield "an empty group, a member", _commit(s, now, one.id)


def _kept(member: Any) -> int:
    """A partition of the first subtopology that the member has."""
    found = {each["subtopology_id"]: each["partitions"] for each in member.owned["active_tasks"]}
    return int(found["0"][0])


def fetching(s: StreamsStage) -> Steps:
    """Who may ask for offsets."""
    s.topic("lines")
    one = s.member()
    one.run(*s.words())
    s.settle([one])
    _commit(s, one.epoch, one.id)
    yield "nobody", _fetch(s, -1, None)
    yield "its epoch", _fetch(s, one.epoch, one.id)
    yield "a later epoch", _fetch(s, one.epoch + 1, one.id)
    yield "an earlier epoch", _fetch(s, one.epoch - 1, one.id)
    yield "another member", _fetch(s, one.epoch, "b")


def deleting(s: StreamsStage) -> Steps:
    """OffsetDelete."""
    for name in ("lines", "other"):
        s.topic(name)
    one = s.member()
    one.run(*s.words())
    s.settle([one])
    for name in ("lines", "other"):
        _commit(s, one.epoch, one.id, name=name)

    def delete(name: str) -> Any:
        topics = [{"name": s.named(name), "partitions": [{"partition_index": 0}]}]
        return s.say("offset_delete", {"group_id": s.named("g"), "topics": topics})

    yield "of a topic that it reads", delete("lines")
    yield "of another", delete("other")
    one.leave()
    yield "of an empty group", delete("lines")


def other_kinds(s: StreamsStage) -> Steps:
    """Requests of other protocols, and groups of other kinds."""
    s.topic("lines")
    one = s.member()
    one.run(*s.words())
    group = s.named("g")
    protocols = [{"name": "range", "metadata": b"\0\0\0\0\0\0\0\0\0\0"}]
    joining = {
        "group_id": group,
        "session_timeout": 30_000,
        "rebalance_timeout": 30_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": protocols,
    }
    yield "JoinGroup", s.say("join_group", joining, version=3)["error_code"]
    known = {"group_id": group, "generation_id": 2, "member_id": one.id}
    yield "Heartbeat", s.say("heartbeat", known, version=3)["error_code"]
    yield "SyncGroup", s.say("sync_group", {**known, "assignments": []}, version=3)["error_code"]
    leaving = {"group_id": group, "members": [{"member_id": one.id}]}
    yield "LeaveGroup", s.say("leave_group", leaving, version=4)
    consuming = {
        "group_id": group,
        "member_id": "m",
        "member_epoch": 0,
        "rebalance_timeout": 1000,
        "subscribed_topic_names": [s.named("lines")],
        "topic_partitions": [],
    }
    yield "ConsumerGroupHeartbeat", s.say("consumer_group_heartbeat", consuming, version=1)
    sharing = {key: consuming[key] for key in ("group_id", "member_id", "member_epoch")}
    sharing["subscribed_topic_names"] = [s.named("lines")]
    yield "ShareGroupHeartbeat", s.say("share_group_heartbeat", sharing)
    one.leave()
    yield "ConsumerGroupHeartbeat, empty", s.say("consumer_group_heartbeat", consuming, version=1)
    yield "ShareGroupHeartbeat, empty", s.say("share_group_heartbeat", sharing)
    s.say("consumer_group_heartbeat", {**consuming, "group_id": s.named("c")}, version=1)
    yield "a consumer group", s.member("A", "c").join(*s.words())
    yield "a consumer group, beats", s.member("A", "c").ask(3)
    yield "a consumer group, described", s.described("c")
    commit = {
        "group_id": s.named("k"),
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": [{"name": s.named("lines"), "partitions": [{"partition_index": 0, "committed_offset": 1}]}],
    }
    s.say("offset_commit", commit, version=9)
    yield "an empty classic group, beats", s.member("A", "k").ask(3)
    yield "an empty classic group", s.member("A", "k").join(*s.words())
    yield "it is a streams group", s.described("k")[0]["error_code"]
