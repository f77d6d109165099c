"""Members of share groups: they join, fetch and acknowledge."""

from typing import Any, Final

from ..acknowledging import SHAPES
from ..sharing import SHORT_LOCK_MS
from ..steps import DISCONNECT, LOCKS_END, Fields
from .members import NOBODY, set_config, spoil, to_join
from .world import SharingMember, World

_MOST_MEMBERS: Final = 3
_ACCEPT, _RELEASE, _REJECT, _RENEW, _GAP = 1, 2, 3, 4, 0
_USUAL: Final = ("each", "each typed", "whole", "whole typed", "records", "head", "tail", "middle")
_DIVIDED: Final = 2
"""The version since which records are renewed, and batches divided."""


def begin(world: World) -> None:
    """Groups begin with the earliest records, in most sequences."""
    for group in world.groups:
        if world.chance(80):
            set_config(world, group, "share.auto.offset.reset", "earliest")
    join(world)


# -- membership


def _new_member(world: World) -> SharingMember:
    number = len(world.sharing)
    group = world.groups[0] if world.chance(80) else world.groups[1]
    member = SharingMember(world.slot(), f"member{number}AAAAAAAAAAAAAAA", group, client=10 + number)
    world.sharing.append(member)
    return member


def _member(world: World) -> SharingMember:
    if not world.sharing:
        join(world)
    return world.rng.choice(world.sharing)


def _topics(world: World) -> list[str]:
    names = [each for each in world.topics if world.chance(75)] or [world.topic()]
    return [*names, world.topic()] if world.chance(8) else names


def join(world: World) -> None:
    """A member heartbeats until it has its partitions."""
    member = to_join(world, world.sharing, _MOST_MEMBERS, _new_member)
    if member is None:
        share_group_heartbeat(world)
        return
    member.joined = True
    _beat(world, member, 0, _topics(world))
    for _ in world.some((2, 1, 3)):
        _beat(world, member, {"$share_epoch": [member.slot, 0]}, None)


def _beat(world: World, member: SharingMember, epoch: Any, topics: list[str] | None) -> None:
    fields = {
        "group_id": member.group,
        "member_id": member.id,
        "member_epoch": epoch,
        "rack_id": world.rng.choices((None, "r1", ""), (75, 22, 3))[0],
        "subscribed_topic_names": topics,
    }
    version = world.version("share_group_heartbeat")
    world.add("share_group_heartbeat", version, fields, client=member.client, binds=member.slot)


def share_group_heartbeat(world: World) -> None:
    """Of a member that is there, mostly as it should be."""
    rng, member = world.rng, _member(world)
    epoch: Any = {"$share_epoch": [member.slot, 0]}
    topics: Any = None
    choice = rng.random()
    if choice < 0.10:
        epoch, member.joined = -1, False
    elif choice < 0.25:
        topics = _topics(world) if world.chance(85) else rng.choice(([], [""], ["missing~", "missing~"]))
    elif choice < 0.37:
        epoch = rng.choice(
            (0, {"$share_epoch": [member.slot, 1]}, {"$share_epoch": [member.slot, -1]}, -2, 7, 2**31 - 1)
        )
        topics = _topics(world) if epoch == 0 and world.chance(60) else None
    _beat(world, member, epoch, topics)
    if world.chance(10):
        spoil(world, _wrong(world))


def _wrong(world: World) -> list[Fields]:
    return [
        {"member_id": ""},
        {"member_id": NOBODY},
        {"member_id": "m" * 37},
        {"group_id": ""},
        {"group_id": "unheard~"},
        {"group_id": world.groups[1]},
    ]


# -- fetching


def share_fetch(world: World) -> None:
    """One request that begins, continues or ends a session."""
    rng, member = world.rng, _member(world)
    version = world.version("share_fetch")
    place = member.group
    sizes = {
        "max_wait": rng.choices((0, 5, 50), (80, 10, 10))[0],
        "min_bytes": rng.choices((1, 0, 10_000, -1), (80, 12, 6, 2))[0],
        "max_bytes": rng.choices((1_000_000, 2**31 - 1, 200, 1, 0), (78, 10, 6, 4, 2))[0],
        "max_records": rng.choices((500, 1, 2, 4, 0, -1), (58, 12, 12, 12, 4, 2))[0],
        "batch_size": rng.choices((500, 1, 2, 3, 0, -1), (58, 15, 15, 8, 2, 2))[0],
        "share_acquire_mode": rng.choices((0, 1, 2, -1), (60, 36, 2, 2))[0],
        "is_renew_ack": False,
    }
    fields: dict[str, Any] = {"group_id": place, "member_id": member.id, **sizes, "forgotten_topics_data": []}
    if not member.reads or world.chance(12):
        member.reads = True
        fields |= {"share_session_epoch": 0, "topics": _read(world, few=sizes["max_records"] < 500)}
        if world.chance(3):
            fields["topics"] = _with_acknowledgements(world, member, fields["topics"], version)
    else:
        _continue(world, member, fields, version)
    world.add("share_fetch", version, fields, client=member.client, binds=member.slot)
    if world.chance(4):
        spoil(world, _wrong(world))


def _continue(world: World, member: SharingMember, fields: dict[str, Any], version: int) -> None:
    rng = world.rng
    fields |= {"share_session_epoch": {"$share_session": [member.slot, 0]}, "topics": []}
    if world.chance(25):
        fields["topics"] = _read(world, few=True)
    if world.chance(45):
        # What is released is there a moment later: nothing is to wait for that.
        fields["max_wait"] = 0
        fields["topics"] = _with_acknowledgements(world, member, fields["topics"], version)
    if world.chance(12):
        topic = world.topic()
        forgotten = {"topic_id": {"$topic_id": topic}, "partitions": [world.partition(topic)]}
        fields["forgotten_topics_data"] = [forgotten]
    choice = rng.random()
    if choice < 0.08:
        fields["share_session_epoch"], member.reads = -1, False
        fields["topics"] = fields["topics"] if world.chance(60) else []
    elif choice < 0.14:
        plus = rng.choice((1, -1, -2))
        wrong = ({"$share_session": [member.slot, plus]}, 2**31 - 1, -2)
        fields["share_session_epoch"] = rng.choice(wrong)
    if version >= _DIVIDED and world.chance(7):
        fields["is_renew_ack"] = True
        if world.chance(80):
            fields |= {"max_wait": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}


def _read(world: World, *, few: bool) -> list[dict[str, Any]]:
    """Topics to read: a single partition where it matters which one comes first."""
    found = []
    names = [world.topic()] if few or world.chance(60) else list(world.topics)
    for topic in names:
        count = world.topics.get(topic, 1)
        every = not few and world.chance(60)
        indexes = list(range(count)) if every else [world.partition(topic)]
        found.append(_topic(topic, {index: [] for index in indexes}))
    return found


def _topic(topic: str, parts: dict[int, Any]) -> dict[str, Any]:
    asked = [{"partition_index": index, "acknowledgement_batches": said} for index, said in parts.items()]
    return {"topic_id": {"$topic_id": topic}, "partitions": asked}


# -- acknowledging


def _with_acknowledgements(
    world: World, member: SharingMember, topics: list[dict[str, Any]], version: int
) -> list[dict[str, Any]]:
    """Of partitions that are read, and of others."""
    topic = world.topic()
    count = world.topics.get(topic, 1)
    indexes = range(count) if world.chance(35) else [world.partition(topic)]
    said = {index: _said(world, member, topic, index, version) for index in indexes}
    kept = [each for each in topics if each["topic_id"] != {"$topic_id": topic}]
    return [*kept, _topic(topic, said)]


def _said(world: World, member: SharingMember, topic: str, index: int, version: int) -> Any:
    rng = world.rng
    most = _RENEW if version >= _DIVIDED else _REJECT
    kinds = [_ACCEPT, _RELEASE, _REJECT, _GAP]
    types = [rng.choices(kinds, (50, 30, 12, 8))[0] for _ in world.some((1, 2, 3, 5), (60, 15, 15, 10))]
    if world.chance(6):
        types = rng.choice(([_RENEW], [_RENEW, _ACCEPT], [most + 1], [-1], [_ACCEPT, 9], []))
    if world.chance(6):
        first = rng.randint(-1, world.ends.get((topic, index), 0) + 2)
        one = {"first_offset": first, "last_offset": first + rng.choice((0, 1, 4, -1))}
        return [{**one, "acknowledge_types": types}]
    shape = rng.choice(_USUAL) if world.chance(80) else rng.choice(list(SHAPES))
    # Sometimes what somebody else has acquired.
    whose = member if world.chance(93) else rng.choice(world.sharing)
    return {"$acquired": [whose.slot, topic, index, shape, types]}


def share_acknowledge(world: World) -> None:
    rng, member = world.rng, _member(world)
    if not member.reads and world.chance(85):
        share_fetch(world)
        return
    version = world.version("share_acknowledge")
    fields: dict[str, Any] = {
        "group_id": member.group,
        "member_id": member.id,
        "share_session_epoch": {"$share_session": [member.slot, 0]},
        "is_renew_ack": False,
        "topics": _with_acknowledgements(world, member, [], version),
    }
    if world.chance(20):
        fields["topics"] = _with_acknowledgements(world, member, fields["topics"], version)
    if version >= _DIVIDED and world.chance(10):
        fields["is_renew_ack"] = True
    choice = rng.random()
    if choice < 0.07:
        fields["share_session_epoch"], member.reads = -1, False
    elif choice < 0.13:
        wrong = ({"$share_session": [member.slot, 1]}, {"$share_session": [member.slot, -1]}, 0, -2)
        fields["share_session_epoch"] = rng.choice(wrong)
    elif choice < 0.16:
        fields["topics"] = []
    world.add("share_acknowledge", version, fields, client=member.client, binds=member.slot)
    if world.chance(4):
        spoil(world, _wrong(world))


def deliver(world: World) -> None:
    """Records are written, fetched and acknowledged."""
    write(world)
    share_fetch(world)
    for _ in world.some((1, 2)):
        share_acknowledge(world)


def write(world: World) -> None:
    """A Produce that is right: of several batches, and of all codecs."""
    rng = world.rng
    topic = rng.choice(list(world.topics) or ["missing~"])
    index = rng.randrange(max(1, world.topics.get(topic, 1)))
    made = []
    for _ in world.some((1, 2, 3), (55, 25, 20)):
        count = rng.choices((1, 2, 3, 5, 8), (30, 20, 20, 20, 10))[0]
        described: dict[str, Any] = {"records": [{"time": world.time()} for _ in range(count)]}
        if world.chance(30):
            described["codec"] = rng.choice((1, 2, 3, 4))
        made.append(described)
        world.ends[topic, index] = world.ends.get((topic, index), 0) + count
    # Only one batch fits into a request.
    for each in made:
        part = {"index": index, "records": {"$batches": [each]}}
        fields = {
            "transactional_id": None,
            "acks": -1,
            "timeout": 5000,
            "topic_data": [{**world.refer(topic), "partition_data": [part]}],
        }
        world.add("produce", world.version("produce", low=3), fields)


# -- ends of sessions and locks


def disconnect(world: World) -> None:
    """The connection of a member is closed."""
    member = _member(world)
    member.reads = False
    world.add(DISCONNECT, 0, {}, client=member.client, binds=member.slot)


def let_locks_end(world: World) -> None:
    """A member acquires something, and is too slow."""
    member = _member(world)
    set_config(world, member.group, "share.record.lock.duration.ms", str(SHORT_LOCK_MS))
    write(world)
    share_fetch(world)
    if world.chance(40):
        share_acknowledge(world)
    world.add(LOCKS_END, 0, {})
    set_config(world, member.group, "share.record.lock.duration.ms", None, operation=1)
    if world.chance(50):
        share_acknowledge(world)
    share_fetch(world)
