"""OffsetCommit: by members, by nobody in particular, into every state of a group."""

from typing import Any

from ...rig.consumer_scene import ConsumerMember, at_once
from ...rig.group_scene import Member, commit_fields, committed_offsets, joining, stable
from ...rig.scene import UNKNOWN_TOPIC_ID
from ..registry import Scene, Steps, question

FEW = (2, 3, 5, 6, 7, 8, 9, 10)


def _commit(s: Scene, group: str, topic: str, *, more: dict[str, Any] | None = None, **fields: Any) -> Any:
    return s.ask({"group_id": group, **commit_fields(s, topic, **fields), **(more or {})})


def outside_of_groups(s: Scene) -> Steps:
    """With generation -1 and no member id any client may commit for a group without members."""
    group, topic = s.name("g"), s.topic()
    yield "first", _commit(s, group, topic)
    yield "another offset", _commit(s, group, topic, offset=7, metadata="seven", epoch=3)


@question(at=FEW)
def values(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    for offset in (0, -1, -2, 2**63 - 1):
        yield f"offset {offset}", _commit(s, group, topic, offset=offset)
    yield "null metadata", _commit(s, group, topic, metadata=None)
    yield "leader epoch -2", _commit(s, group, topic, epoch=-2)
    yield "4096 bytes of metadata", _commit(s, group, topic, metadata="m" * 4096)
    yield "4097 bytes of metadata", _commit(s, group, topic, metadata="m" * 4097)


@question(at=FEW)
def unknown_partitions(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    yield "partition 1 of 1", _commit(s, group, topic, partition=1)
    yield "partition -1", _commit(s, group, topic, partition=-1)
    yield "unknown topic", _commit(s, group, s.name("unknown"))
    known, unknown = commit_fields(s, topic), commit_fields(s, s.name("unknown"))
    both = known["topics"] + unknown["topics"]
    yield "known and unknown", _commit(s, group, topic, more={"topics": both})


@question(since=10)
def topic_ids(s: Scene) -> Steps:
    """From v10 on topics are named by id only (KIP-848)."""
    group, topic = s.name("g"), s.topic()
    fields = commit_fields(s, topic)
    for label, ident in {"known": s.topic_id(topic), "unknown": UNKNOWN_TOPIC_ID, "zero": None}.items():
        fields["topics"][0]["topic_id"] = ident
        yield label, s.ask({"group_id": group, **fields})


@question(at=FEW)
def nothing(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    yield "no topics", _commit(s, group, topic, more={"topics": []})
    yield (
        "no partitions",
        _commit(s, group, topic, more={"topics": [{**s.topic_ref(topic), "partitions": []}]}),
    )
    yield "empty group id", _commit(s, "", topic)
    s.call("delete_groups", {"groups_names": [""]})


@question(at=FEW)
def repeated_partitions(s: Scene) -> Steps:
    """The last of them counts."""
    group, topic = s.name("g"), s.topic()
    twice = [commit_fields(s, topic, each)["topics"][0]["partitions"][0] for each in (3, 5)]
    yield "twice", _commit(s, group, topic, more={"topics": [{**s.topic_ref(topic), "partitions": twice}]})
    ((_, stored),) = committed_offsets(s, group)
    yield "stored", stored


def members(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    member = Member(s, group)
    member.join()
    yield "not synced", member.commit(topic)
    member.sync({member.id: b"x"})
    yield "stable", member.commit(topic)
    other, pending = joining(s, member)
    yield "preparing a rebalance", member.commit(topic)
    member.join()
    other.joined(pending)
    yield "completing, leader", member.commit(topic)
    yield "completing, follower", other.commit(topic)


@question(at=FEW)
def wrong_members(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    member = stable(s, group)
    yield "unknown member", member.commit(topic, member_id="nobody")
    yield "empty member id", member.commit(topic, member_id="")
    older, newer = member.generation - 1, member.generation + 1
    yield "older generation", member.commit(topic, generation_id_or_member_epoch=older)
    yield "newer generation", member.commit(topic, generation_id_or_member_epoch=newer)
    yield "generation -1", member.commit(topic, generation_id_or_member_epoch=-1)
    yield "no member, generation -1", _commit(s, group, topic)


@question(at=FEW)
def wrong_groups(s: Scene) -> Steps:
    """A commit by a member of a group that does not exist."""
    topic = s.topic()
    stranger = Member(s, s.name("none"))
    stranger.id, stranger.generation = "nobody", 1
    yield "unknown group, member and generation", stranger.commit(topic)
    yield "generation 0", stranger.commit(topic, generation_id_or_member_epoch=0)
    yield "member, generation -1", stranger.commit(topic, generation_id_or_member_epoch=-1)
    yield "no member, generation 1", stranger.commit(topic, member_id="")
    group = s.name("left")
    member = stable(s, group)
    member.leave()
    yield "who left", member.commit(topic)
    yield "no member, generation -1, empty group", _commit(s, group, topic)


@question(since=7)
def static_members(s: Scene) -> Steps:
    topic = s.topic()
    member = stable(s, s.name("g"), instance=s.name("instance"))
    yield "static", member.commit(topic)
    yield "wrong member id", member.commit(topic, member_id="nobody")
    yield "unknown instance", member.commit(topic, group_instance_id=s.name("other"))
    yield "without the instance", member.commit(topic, group_instance_id=None)


@question(at=(2, 3, 4))
def retention_time(s: Scene) -> Steps:
    """Up to v4 a client could choose how long its offsets are kept."""
    group, topic = s.name("g"), s.topic()
    yield "an hour", _commit(s, group, topic, more={"retention_time": 3_600_000})
    yield "zero", _commit(s, group, topic, more={"retention_time": 0})


@question(newest_only=True)
def internal_topic(s: Scene) -> Steps:
    fields = commit_fields(s, "__consumer_offsets")
    fields["topics"][0]["topic_id"] = s.described("__consumer_offsets")["topic_id"]
    yield "__consumer_offsets", s.ask({"group_id": s.name("g"), **fields})


@question(at=FEW)
def consumer_group(s: Scene) -> Steps:
    """Members of a group of KIP-848 name their epoch, from v9 on."""
    group, topic = s.name("g"), s.topic()
    member = ConsumerMember(s, group, [topic])
    at_once(s, group)
    member.join()

    def by(epoch: int, member_id: str = member.id) -> Any:
        fields = {"generation_id_or_member_epoch": epoch, "member_id": member_id}
        return _commit(s, group, topic, more=fields)

    yield "its epoch", by(member.epoch)
    yield "an epoch before", by(member.epoch - 1)
    yield "a later epoch", by(member.epoch + 1)
    yield "unknown member", by(member.epoch, "nobody")
    yield "from outside", _commit(s, group, topic)
    member.leave()
    yield "after it has left", by(member.epoch)
    yield "from outside, empty", _commit(s, group, topic)


@question(newest_only=True)
def more_than_a_batch(s: Scene) -> Steps:
    """A commit is one batch, however many offsets are in it."""
    group, topic = s.name("g"), s.topic(partitions=300)
    fields = commit_fields(s, topic)
    (part,) = fields["topics"][0]["partitions"]
    for count in (200, 252, 300):
        fields["topics"][0]["partitions"] = [
            {**part, "partition_index": index, "committed_metadata": "m" * 4096} for index in range(count)
        ]
        (answered,) = s.ask({"group_id": group, **fields})["topics"]
        yield (
            f"{count} offsets with 4096 bytes each",
            sorted({each["error_code"] for each in answered["partitions"]}),
        )


def topics_committed_twice(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)

    def ask(*offsets: tuple[int, int]) -> Any:
        topics = [commit_fields(s, topic, offset, index)["topics"][0] for index, offset in offsets]
        return _commit(s, group, topic, more={"topics": topics})

    yield "another partition", ask((0, 3), (1, 4))
    yield "stored", committed_offsets(s, group)
    yield "the same partition", ask((0, 7), (0, 6))
    yield "stored then", committed_offsets(s, group)
    yield "an unknown partition", ask((7, 1), (7, 1))
