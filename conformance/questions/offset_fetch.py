"""OffsetFetch: KIP-88 (all partitions), KIP-447 (stable offsets), KIP-709 (several groups), KIP-848."""

from typing import Any

from ...rig.consumer_scene import ConsumerMember
from ...rig.group_scene import commit, commit_fields, committed, stable
from ...rig.scene import UNKNOWN_TOPIC_ID
from ..registry import Scene, Steps, question


def _fetch(
    s: Scene, group: str, *topics: tuple[str, list[int]], everything: bool = False, **more: Any
) -> Any:
    asked = [{**s.topic_ref(name), "partition_indexes": parts} for name, parts in topics]
    named = [{"name": name, "partition_indexes": parts} for name, parts in topics]  # ids came with groups
    wanted = None if everything else asked
    one = {"group_id": group, "member_id": None, "member_epoch": -1, "topics": wanted}
    return s.ask(
        {
            "group_id": group,
            "topics": None if everything else named,
            "groups": [one],
            "require_stable": False,
            **more,
        }
    )


def one_partition(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)
    commit(s, group, topic, 5)
    yield "committed", _fetch(s, group, (topic, [0]))
    yield "not committed", _fetch(s, group, (topic, [1]))
    yield "both", _fetch(s, group, (topic, [0, 1]))


def stored_values(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=3)
    for partition, (offset, metadata, epoch) in enumerate(((7, "seven", 3), (0, None, -1), (-1, "x", -2))):
        asked = commit_fields(s, topic, offset, partition, metadata=metadata, epoch=epoch)
        s.call("offset_commit", {"group_id": group, **asked})
    yield "three partitions", _fetch(s, group, (topic, [0, 1, 2]))


def unknown(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    commit(s, group, topic)
    yield "unknown group", _fetch(s, s.name("none"), (topic, [0]))
    yield "empty group id", _fetch(s, "", (topic, [0]))
    yield "partition 7", _fetch(s, group, (topic, [7]))
    yield "partition -1", _fetch(s, group, (topic, [-1]))
    yield "unknown topic", _fetch(s, group, (s.name("unknown"), [0]))
    yield "no topics", _fetch(s, group)
    yield "no partitions", _fetch(s, group, (topic, []))
    yield "the same partition twice", _fetch(s, group, (topic, [0, 0]))


@question(since=2)
def everything(s: Scene) -> Steps:
    """null asks for all partitions with an offset."""
    group, a, b = s.name("g"), s.topic("a", partitions=2), s.topic("b")
    commit(s, group, a, 3, 1)
    commit(s, group, b, 4)
    yield "all", _fetch(s, group, everything=True)
    yield "unknown group", _fetch(s, s.name("none"), everything=True)


@question(since=7)
def require_stable(s: Scene) -> Steps:
    """No transaction is open."""
    group, topic = s.name("g"), s.topic()
    commit(s, group, topic)
    yield "one partition", _fetch(s, group, (topic, [0]), require_stable=True)
    yield "all", _fetch(s, group, everything=True, require_stable=True)


@question(since=8)
def several_groups(s: Scene) -> Steps:
    a, b, topic = s.name("a"), s.name("b"), s.topic()
    commit(s, a, topic, 1)
    commit(s, b, topic, 2)

    def ask(*groups: str) -> Any:
        topics = [{**s.topic_ref(topic), "partition_indexes": [0]}]
        return s.ask(
            groups=[{"group_id": group, "member_epoch": -1, "topics": topics} for group in groups],
            require_stable=False,
            within=1.0,
        )

    yield "two", ask(a, b)
    yield "one unknown, one empty", ask(a, s.name("none"), "")
    yield "the same twice", ask(a, a)
    yield "none", ask()


@question(since=9)
def member_fields(s: Scene) -> Steps:
    """The new fields of v9 are for groups of the new protocol; this asks what they do for a classic group."""
    group, topic = s.name("g"), s.topic()
    commit(s, group, topic)
    wanted = [{**s.topic_ref(topic), "partition_indexes": [0]}]

    def ask(group_id: str, member: str | None, epoch: int) -> Any:
        one = {"group_id": group_id, "member_id": member, "member_epoch": epoch, "topics": wanted}
        return s.ask(groups=[one], require_stable=False)

    for member, epoch in ((None, -1), ("nobody", -1), ("nobody", 3), (None, 0), ("", 0)):
        yield f"no members; member {member!r}, epoch {epoch}", ask(group, member, epoch)
    live = stable(s, s.name("live"))
    yield "stable group; a member, its generation", ask(live.group, live.id, live.generation)
    yield "stable group; nobody, epoch 9", ask(live.group, "nobody", 9)
    yield "unknown group; nobody, epoch 1", ask(s.name("none"), "nobody", 1)


@question(since=10)
def topic_ids(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    commit(s, group, topic, 6)
    for label, ident in {"known": s.topic_id(topic), "unknown": UNKNOWN_TOPIC_ID, "zero": None}.items():
        wanted = [{"topic_id": ident, "partition_indexes": [0]}]
        one = {"group_id": group, "member_epoch": -1, "topics": wanted}
        yield label, s.ask(groups=[one], require_stable=False)


@question(at=(1, 2, 7, 8, 10))
def deleted_topic(s: Scene) -> Steps:
    """Offsets are deleted with their topic."""
    group, topic, kept = s.name("g"), s.topic(), s.topic("kept")
    commit(s, group, topic)
    commit(s, group, kept)
    s.delete_topic(topic)
    s.until(lambda: len(committed(s, group)) == 1, "the offsets to go")
    yield "deleted", _fetch(s, group, (topic, [0]), (kept, [0]))


@question(since=8)
def consumer_group(s: Scene) -> Steps:
    """Members of a group of KIP-848 name their epoch, from v9 on."""
    group, topic = s.name("g"), s.topic()
    member = ConsumerMember(s, group, [topic])
    commit(s, group, topic, 5)
    member.join()

    def by(member_id: str | None, epoch: int) -> Any:
        topics = [{**s.topic_ref(topic), "partition_indexes": [0]}]
        one = {"group_id": group, "member_id": member_id, "member_epoch": epoch, "topics": topics}
        return s.ask({"groups": [one], "require_stable": False})

    yield "its epoch", by(member.id, member.epoch)
    yield "an epoch before", by(member.id, member.epoch - 1)
    yield "a later epoch", by(member.id, member.epoch + 1)
    yield "unknown member", by("nobody", member.epoch)
    yield "nobody", by(None, -1)
    yield "empty member id", by("", -1)


@question(since=8)
def group_named_twice(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)
    for partition in range(2):
        commit(s, group, topic, 5 + partition, partition)

    def ask(*topics: list[dict[str, Any]] | None, name: str = group) -> Any:
        wanted = [{"group_id": name, "member_epoch": -1, "topics": each} for each in topics]
        return s.ask(groups=wanted, require_stable=False, within=1.0)

    zero, one = ([{**s.topic_ref(topic), "partition_indexes": [index]}] for index in range(2))
    yield "all of it, twice", ask(None, None)
    yield "all of it, three times", ask(None, None, None)
    yield "one partition, then the other", ask(zero, one)
    yield "all, then one partition", ask(None, zero)
    yield "one partition, then all", ask(zero, None)
    yield "unknown, twice", ask(None, None, name=s.name("none"))
    yield "empty, twice", ask(None, None, name="")


def topic_named_twice(s: Scene) -> Steps:
    group, topic, unknown = s.name("g"), s.topic(partitions=2), s.name("unknown")
    commit(s, group, topic, 5)
    yield "the same partition", _fetch(s, group, (topic, [0]), (topic, [0]))
    yield "another partition", _fetch(s, group, (topic, [0]), (topic, [1]))
    yield "unknown", _fetch(s, group, (unknown, [0]), (unknown, [0]))
