"""Classic consumer groups and their offsets."""

from typing import Any

from .members import claim, has_epochs
from .world import BoundMember, World

_MOST_MEMBERS = 3


def _member(world: World) -> BoundMember | None:
    return world.rng.choice(world.members) if world.members and world.chance(93) else None


def new_member(world: World) -> BoundMember:
    instance = "instance~" if world.chance(15) else None
    member = BoundMember(world.slot(), world.group(), instance, client=1 + len(world.members))
    world.members.append(member)
    return member


def join_group(world: World) -> None:
    again = bool(world.members) and (len(world.members) >= _MOST_MEMBERS or world.chance(65))
    member = world.rng.choice(world.members) if again else new_member(world)
    join_as(world, member, again=again)


def join_as(world: World, member: BoundMember, *, again: bool) -> None:
    """JoinGroup of that member, which has joined before if it does so `again`."""
    rng = world.rng
    names = rng.choice((["range"], ["range", "roundrobin"], ["roundrobin", "range"], ["sticky"]))
    if world.chance(85):
        names = ["range"]
    if world.chance(1.5):
        names = rng.choice(([], ["range", "range"]))
    fields = {
        "group_id": member.group,
        "session_timeout": rng.choices(
            (30_000, 10_000, 5_999, 6_000, 1_800_000, 1_800_001, 0), (80, 10, 2, 2, 2, 2, 2)
        )[0],
        "rebalance_timeout": rng.choices((60_000, 30_000, 0, -1), (92, 6, 1, 1))[0],
        "member_id": {"$member": member.slot}
        if again and world.chance(95)
        else ("" if world.chance(96) else "stranger"),
        "group_instance_id": member.instance,
        "protocol_type": rng.choices(("consumer", "connect", ""), (94, 4, 2))[0],
        "protocols": [
            {
                "name": name,
                "metadata": {"$hex": rng.choice(("0000000000000000", "00000000000000ffffffff", ""))},
            }
            for name in names
        ],
        "reason": rng.choice((None, "", "because")),
    }
    world.add("join_group", world.version("join_group"), fields, client=member.client, binds=member.slot)


def _identity(world: World, member: BoundMember | None) -> dict[str, Any]:
    rng = world.rng
    if member is None:
        return {
            "group_id": world.group(),
            "generation_id": rng.choice((-1, 0, 1)),
            "member_id": rng.choice(("", "stranger")),
            "group_instance_id": rng.choice((None, None, "nobody~")),
        }
    found: dict[str, Any] = {
        "group_id": member.group,
        "generation_id": {"$generation": [member.slot, 0]},
        "member_id": {"$member": member.slot},
        "group_instance_id": member.instance,
    }
    if world.chance(12):
        match rng.randrange(4):
            case 0:
                found["generation_id"] = {"$generation": [member.slot, rng.choice((1, -1))]}
            case 1:
                found["member_id"] = rng.choice(("", "stranger"))
            case 2:
                found["group_instance_id"] = rng.choice((None, "other~", ""))
            case 3:
                found["group_id"] = world.group()
    return found


def sync_group(world: World) -> None:
    member = _member(world)
    rng = world.rng
    given = [
        {"member_id": {"$member": each.slot}, "assignment": {"$hex": "0a0b"}}
        for each in world.members
        if world.chance(85)
    ]
    fields = {
        **_identity(world, member),
        "protocol_type": rng.choices(("consumer", None, "connect"), (80, 16, 4))[0],
        "protocol_name": rng.choices(("range", None, "roundrobin"), (80, 16, 4))[0],
        "assignments": given if world.chance(75) else [],
    }
    world.add("sync_group", world.version("sync_group"), fields, client=member.client if member else 0)


def heartbeat(world: World) -> None:
    member = _member(world)
    world.add("heartbeat", world.version("heartbeat"), _identity(world, member))


def leave_group(world: World) -> None:
    member = _member(world)
    identity = _identity(world, member)
    members = [
        {
            "member_id": identity["member_id"],
            "group_instance_id": identity["group_instance_id"],
            "reason": world.rng.choice((None, "bye")),
        }
    ]
    if world.chance(15):
        members.append(
            {
                "member_id": "stranger",
                "group_instance_id": world.rng.choice((None, "instance~")),
                "reason": None,
            }
        )
    if world.chance(2):
        members = []
    fields = {"group_id": identity["group_id"], "member_id": identity["member_id"], "members": members}
    world.add("leave_group", world.version("leave_group"), fields)


def offset_commit(world: World) -> None:
    rng = world.rng
    if has_epochs(world) and world.chance(70):
        identity = claim(world)
    else:
        identity = _identity(world, _member(world) if world.chance(60) else None)
        if world.chance(50):
            identity |= {"generation_id": -1, "member_id": "", "group_instance_id": None}
    generation = identity.pop("generation_id")
    topics = []
    for _ in range(rng.choices((1, 2, 0), (80, 18, 2))[0]):
        topic = world.topic()
        parts = [
            {
                "partition_index": world.partition(topic),
                "committed_offset": rng.choice((0, 1, 5, 100, -1, 2**63 - 1)),
                "committed_leader_epoch": rng.choice((-1, 0, 3)),
                "committed_metadata": rng.choices(
                    ("", "meta", None, "x" * 4096, "x" * 4097), (75, 10, 9, 3, 3)
                )[0],
            }
            for _ in range(rng.choice((1, 1, 2)))
        ]
        topics.append({**world.refer(topic), "partitions": parts})
    fields = {
        **identity,
        "group_id": identity["group_id"] or "unheard~",
        "generation_id_or_member_epoch": generation,
        "retention_time": rng.choice((-1, -1, 0, 60_000)),
        "topics": topics,
    }
    world.add("offset_commit", world.version("offset_commit"), fields)


def offset_fetch(world: World) -> None:
    rng = world.rng

    def topics() -> list[dict[str, Any]] | None:
        if world.chance(25):
            return None
        found = []
        for _ in range(rng.choices((1, 2, 0), (75, 20, 5))[0]):
            topic = world.topic()
            found.append(
                {
                    **world.refer(topic),
                    "partition_indexes": [world.partition(topic) for _ in range(rng.choice((1, 2)))],
                }
            )
        return found

    version = world.version("offset_fetch")
    asked = topics()
    if version < 2 and asked is None:
        asked = []
    for each in asked or ():
        # Topic ids came with groups of topics.
        del each["topic_id"]
    groups = [{**_reader(world), "topics": topics()} for _ in range(rng.choice((1, 1, 2)))]
    fields = {
        "group_id": world.group(),
        "topics": asked,
        "groups": groups,
        "require_stable": world.chance(30),
    }
    world.add("offset_fetch", version, fields)


def _reader(world: World) -> dict[str, Any]:
    """Who fetches offsets, if it says so."""
    if has_epochs(world) and world.chance(50):
        found = claim(world)
        return {
            "group_id": found["group_id"],
            "member_id": found["member_id"],
            "member_epoch": found["generation_id"],
        }
    return {
        "group_id": world.group(),
        "member_id": world.rng.choice((None, None, "", "stranger")),
        "member_epoch": world.rng.choice((-1, -1, 0, 3)),
    }


def offset_delete(world: World) -> None:
    topic = world.topic()
    fields = {
        "group_id": world.group(),
        "topics": [{"name": topic, "partitions": [{"partition_index": world.partition(topic)}]}],
    }
    world.add("offset_delete", world.version("offset_delete"), fields)


def delete_groups(world: World) -> None:
    fields = {"groups_names": [world.group() for _ in range(world.rng.choice((1, 1, 2)))]}
    world.add("delete_groups", world.version("delete_groups"), fields)


def describe_groups(world: World) -> None:
    fields = {
        "groups": [world.group() for _ in range(world.rng.choice((1, 1, 2)))],
        "include_authorized_operations": world.chance(30),
    }
    world.add("describe_groups", world.version("describe_groups"), fields)


def list_groups(world: World) -> None:
    rng = world.rng
    fields = {
        "states_filter": rng.sample(
            ("Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "nonsense"),
            rng.choice((0, 0, 1, 2)),
        ),
        "types_filter": rng.sample(("classic", "consumer", "Classic", "nonsense"), rng.choice((0, 0, 1))),
    }
    world.add("list_groups", world.version("list_groups"), fields)


def find_coordinator(world: World) -> None:
    rng = world.rng
    keys = [
        world.group() if world.chance(60) else world.transactional_id()
        for _ in range(rng.choice((1, 1, 2, 0)))
    ]
    fields = {
        "key": world.group(),
        "key_type": rng.choices((0, 1, 2, 3, -1), (45, 43, 4, 4, 4))[0],
        "coordinator_keys": keys,
    }
    world.add("find_coordinator", world.version("find_coordinator"), fields)


def rebalance(world: World) -> None:
    """What a member does at its start."""
    version = world.version("join_group")
    join_group(world)
    joined = world.steps[-1]
    if version >= 4 and joined.fields["member_id"] == "":
        fields = {**joined.fields, "member_id": {"$member": joined.binds}}
        world.add("join_group", joined.version, fields, client=joined.client, binds=joined.binds)
    member = next(each for each in world.members if each.slot == joined.binds)
    if world.chance(90):
        fields = {
            **_identity(world, member),
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": [{"member_id": {"$member": member.slot}, "assignment": {"$hex": "0a0b"}}],
        }
        world.add("sync_group", world.version("sync_group"), fields, client=member.client)
