"""What groups do, step by step: what was answered, and what was written to the offsets topic."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from mockbroker.rig import requests
from mockbroker.rig.setup import INTERNAL_TOPICS
from mockbroker.rig.stories import Setting, Steps, Told, named

from .actors import SUBSCRIPTION, StoryMember, StoryProducer, commit, create, offset
from .stage import OffsetsTopicStage

SHORT_MS: Final = 6_000
"""The shortest session that brokers allow."""
_WITH_MEMBER_ID_REQUIRED: Final = 4


def simple_commits(s: OffsetsTopicStage) -> Steps:
    """Without members: several topics and partitions, metadata, leader epochs, retention."""
    create(s, "orders", "bills")
    yield (
        "answers",
        commit(s, "g", offset(0, 5), offset(2, 7, metadata="m", epoch=3), offset(1, 1, topic="bills")),
    )
    yield "written", s.written()
    yield from s.then("null metadata", commit(s, "g", offset(0, 6, metadata=None)))
    yield from s.then("the same again", commit(s, "g", offset(0, 6, metadata=None)))
    yield "a partition twice", commit(s, "g", offset(0, 7), offset(0, 8))
    yield "twice", s.written()
    yield from s.then("retention", commit(s, "g", offset(0, 9), version=2, retention_time=100_000))
    yield from s.then(
        "retention 0", commit(s, "g", offset(0, 9), version=s.newest("offset_commit", 4), retention_time=0)
    )
    yield from s.then(
        "metadata too large, and not", commit(s, "g", offset(0, 10, metadata="x" * 5000), offset(1, 3))
    )
    yield from s.then("metadata too large", commit(s, "g", offset(0, 10, metadata="x" * 5000)), 0)
    yield from s.then("no partitions", commit(s, "none"), 0)
    yield from s.then(
        "a topic that is not there", commit(s, "g", offset(0, 1, topic="nowhere"), offset(1, 4))
    )
    yield from s.then("negative", commit(s, "g", offset(0, -1), offset(1, -5, epoch=-2)), 0)


def members(s: OffsetsTopicStage) -> Steps:
    """Join, sync, commit, a second member, leaving."""
    create(s, "orders")
    first, second = StoryMember(s, "g", "first"), StoryMember(s, "g", "second")
    yield from s.then("first joins", first.join(), 0)
    yield from s.then("first syncs", first.sync(**{first.id: b"all"}))
    yield from s.then("first syncs again", first.sync(**{first.id: b"other"}), 0)
    yield from s.then("first commits", first.commit(offset(0, 5, epoch=0)))
    if s.newest("join_group") >= _WITH_MEMBER_ID_REQUIRED:
        second.joined(second.send_join())
    waiting = second.send_join()
    yield "a rebalance begins", s.written(0)
    yield from s.then("first commits meanwhile", first.commit(offset(0, 6)))
    yield "first joins again", first.join()
    yield from s.then("second joined", second.joined(waiting), 0)
    waiting = second.send_sync()
    yield "leader syncs, one assignment is missing", first.sync(**{first.id: b"half"})
    yield from s.then("second synced", second.receive(waiting))
    yield from s.then("second leaves", second.leave(), 0)
    yield "first joins again", first.join()
    yield from s.then("first syncs", first.sync(**{first.id: b"all again"}))
    yield from s.then("first leaves", first.leave())
    yield from s.then("another commit", commit(s, "g", offset(0, 7)))
    yield from s.then("first joins anew", StoryMember(s, "g", "first").join(), 0)


def sessions_end(s: OffsetsTopicStage) -> Steps:
    """The last member is silent; one that never synced is, too."""
    member = StoryMember(s, "g", "only")
    member.join(session_timeout=SHORT_MS)
    member.sync(**{member.id: b"all"})
    yield "synced", s.written()
    yield "session over", s.written()
    member = StoryMember(s, "never", "only")
    member.join(session_timeout=SHORT_MS)
    yield "joined, not synced", s.written(0)
    yield "session over", s.written()
    member = StoryMember(s, "left", "only")
    member.join()
    yield "joined, not synced", s.written(0)
    member.leave()
    yield "left before it synced", s.written()


def static_members(s: OffsetsTopicStage) -> Steps:
    """KIP-345: a member comes back, with the same protocols and with others."""
    s.needs("join_group", 5)
    create(s, "orders")
    member = StoryMember(s, "g", "first", "i1")
    yield "joins", member.join()
    member.sync(**{member.id: b"all"})
    yield "written", s.written()
    yield from s.then("commits", member.commit(offset(0, 3)))
    again = StoryMember(s, "g", "again", "i1")
    yield from s.then("comes back", again.join())
    yield from s.then("syncs", again.sync(), 0)
    yield from s.then("the old one commits", member.commit(offset(0, 4)), 0)
    other = StoryMember(s, "g", "other", "i1")
    changed = [{"name": "range", "metadata": SUBSCRIPTION + b"x"}]
    yield from s.then("comes back with another subscription", other.join(protocols=changed))
    old = StoryMember(s, "g", "old", "i1")
    yield from s.then("comes back with an older request", old.joined(old.send_join(version=5)))
    fields = {"group_id": "g", "members": [{"member_id": "", "group_instance_id": "i1", "reason": None}]}
    yield from s.then("is removed", s.shown(s.ask("leave_group", fields)))


def deletions(s: OffsetsTopicStage) -> Steps:
    """OffsetDelete and DeleteGroups."""
    s.needs("offset_delete")
    create(s, "orders")
    commit(s, "g", offset(0, 1), offset(1, 1), offset(2, 1))
    commit(s, "h", offset(0, 1))
    s.written(2)
    yield from s.then("OffsetDelete", delete_offsets(s, "g", 0, 1, 9))
    yield from s.then("again", delete_offsets(s, "g", 0, 1, 9), 0)
    member = StoryMember(s, "m", "only")
    member.join()
    member.sync(**{member.id: b"all"})
    member.commit(offset(0, 3))
    member.leave()
    s.written(3)
    yield from s.then("DeleteGroups", delete(s, "m", "nobody"))
    yield from s.then("DeleteGroups of groups without generation", delete(s, "g", "h"))
    yield from s.then("deleted again", delete(s, "g"), 0)
    commit(s, "last", offset(0, 1))
    s.written()
    yield from s.then("OffsetDelete of the last one", delete_offsets(s, "last", 0))


def delete(s: OffsetsTopicStage, *groups: str) -> Any:
    answer = s.ask("delete_groups", {"groups_names": list(groups)})
    return sorted([each["group_id"], each["error_code"]] for each in answer["results"])


def delete_offsets(s: OffsetsTopicStage, group: str, *partitions: int) -> Any:
    parts = [{"partition_index": each} for each in partitions]
    fields = {"group_id": group, "topics": [{"name": "orders", "partitions": parts}]}
    answer = s.ask("offset_delete", fields)
    told = [[each["partition_index"], each["error_code"]] for each in answer["topics"][0]["partitions"]]
    return [answer["error_code"], sorted(told)]


def deleted_topic(s: OffsetsTopicStage) -> Steps:
    """What was committed for a topic is forgotten with it."""
    create(s, "orders", "bills")
    commit(s, "g", offset(0, 1), offset(0, 1, topic="bills"))
    commit(s, "h", offset(0, 1), offset(1, 1, topic="bills"))
    s.written(2)
    answer = s.ask("delete_topics", requests.delete_topics("bills"))
    yield "deleted", answer["responses"][0]["error_code"]
    yield "written", sorted(s.written(), key=str)


def transactions(s: OffsetsTopicStage) -> Steps:
    """Offsets in transactions: committed, aborted, of two groups in one, and beside those of a consumer."""
    create(s, "orders")
    producer = StoryProducer(s, "t")
    yield from s.then(
        "in a transaction", producer.commit("g", offset(0, 5, metadata="m"), offset(1, 6, epoch=2))
    )
    yield from s.then("of another group", producer.commit("h", offset(0, 1)))
    yield from s.then("commit", producer.end(True))
    yield from s.then("in the next", producer.commit("g", offset(0, 7)))
    yield from s.then("outside", commit(s, "g", offset(0, 8), offset(1, 8)))
    yield from s.then("abort", producer.end(False))
    producer.commit("new", offset(0, 7))
    yield "of a group that is not there", s.written()
    producer.end(False)
    yield "aborted", s.written()


def deletions_in_transactions(s: OffsetsTopicStage) -> Steps:
    """Groups are deleted that have offsets in transactions."""
    s.needs("delete_groups")
    create(s, "orders")
    producer = StoryProducer(s, "t")
    producer.commit("g", offset(0, 7))
    producer.end(False)
    commit(s, "h", offset(0, 8))
    s.written(3)
    yield from s.then("after an abort", delete(s, "g", "h"))
    producer.commit("k", offset(0, 1))
    s.written()
    yield from s.then("meanwhile", delete(s, "k"), 0)
    yield from s.then("commit", producer.end(True))


def other_types(s: OffsetsTopicStage) -> Steps:
    """A group that is no consumers', and an empty group id."""
    create(s, "orders")
    worker = StoryMember(s, "connect", "worker")
    worker.join(protocol_type="connect", protocols=[{"name": "sessioned", "metadata": b"w"}])
    fields = {**worker.who(), "protocol_type": "connect", "protocol_name": "sessioned"}
    tasks = [{"member_id": worker.id, "assignment": b"tasks"}]
    s.ask("sync_group", {**fields, "assignments": tasks}, by="worker")
    yield "synced", s.written()
    worker.leave()
    yield "left", s.written()


def expiry(s: OffsetsTopicStage) -> Steps:
    """Offsets and groups that expire, a few seconds after each other."""
    create(s, "orders")
    member = StoryMember(s, "empty", "only")
    member.join()
    member.sync(**{member.id: b"all"})
    member.leave()
    s.brokers.sleep(1.5)
    yield "a group without offsets", s.written()
    commit(s, "early", offset(0, 1), version=2, retention_time=5_000)
    commit(s, "early", offset(1, 1))
    s.written(2)
    yield "retention of the request", s.written()
    member = StoryMember(s, "live", "only")
    member.join(session_timeout=300_000)
    member.sync(**{member.id: b"all"})
    member.commit(offset(0, 1), offset(1, 2))
    s.brokers.sleep(3)
    left = StoryMember(s, "left", "other")
    left.join()
    left.sync(**{left.id: b"all"})
    left.commit(offset(0, 1), offset(1, 2))
    s.brokers.sleep(3)
    left.leave()
    s.brokers.sleep(3)
    commit(s, "simple", offset(0, 1))
    s.written(6)
    yield "early", s.written()
    yield "topics of a stable group that it does not subscribe to", s.written()
    yield "offsets of a group that became empty", s.written()
    yield "offsets without a group", s.written()
    yield "nothing is left", s.shown(s.ask("list_groups", {"states_filter": [], "types_filter": []}))
    fields = {"group_id": "live", "topics": None, "groups": [{"group_id": "live", "topics": None}]}
    yield "nor there", s.shown(s.ask("offset_fetch", fields, version=s.newest("offset_fetch", 7)))


_CONFIG: Final = {
    "delete.topic.enable": "true",
    "group.initial.rebalance.delay.ms": "0",
    **INTERNAL_TOPICS,
}
STORIES: Final = Told(
    Path(__file__).parent,
    named(
        simple_commits,
        members,
        sessions_end,
        static_members,
        deletions,
        deleted_topic,
        transactions,
        deletions_in_transactions,
        other_types,
        expiry,
    ),
    OffsetsTopicStage,
    Setting(1, _CONFIG),
    configs={
        "expiry": {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"},
    },
    alone=True,
    indent=1,
)
