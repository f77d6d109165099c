"""Members of streams groups: they join, are given tasks, and leave."""

from typing import Any, Final

from ..steps import Fields
from ..streams_binding import KINDS, SHAPES
from .heartbeats import Heartbeats, leaving_epoch, wrong_epoch
from .members import NOBODY, set_config
from .topologies import topology
from .world import StreamsMember, World

_LONG_MS: Final = 300_000
_TAGS: Final[tuple[list[dict[str, str]], ...]] = (
    [],
    [{"key": "zone", "value": "a"}],
    [{"key": "zone", "value": "b"}],
    [{"key": "k", "value": ""}],
)


def begin(world: World) -> None:
    """Groups begin with a member; half of them keep copies of tasks."""
    if world.chance(50):
        set_config(world, world.groups[0], "streams.num.standby.replicas", world.rng.choice(("1", "1", "2")))
    join(world)


def _new_member(world: World) -> StreamsMember:
    number = len(world.streaming)
    member = StreamsMember(
        slot=world.slot(),
        id=f"member{number}AAAAAAAAAAAAAAA",
        group=world.groups[0] if world.chance(85) else world.groups[1],
        client=10 + number,
        process=f"process{number if world.chance(70) else 0}AAAAAAAAAAAAAA",
        instance=f"i{number if world.chance(85) else 0}" if world.chance(20) else None,
        endpoint={"host": f"h{number}", "port": number + 1} if world.chance(30) else None,
    )
    world.streaming.append(member)
    return member


def _heartbeat(world: World, member: StreamsMember, epoch: Any, **fields: Any) -> dict[str, Any]:
    """What has not changed is null."""
    known: Any = {"$endpoint_epoch": [member.slot, 0]} if world.chance(70) else world.rng.choice((0, -1, 1))
    return {
        "group_id": member.group,
        "member_id": member.id,
        "member_epoch": epoch,
        "endpoint_information_epoch": known,
        "instance_id": member.instance,
        "rack_id": None,
        "rebalance_timeout": -1,
        "topology": None,
        **dict.fromkeys(KINDS),
        "process_id": None,
        "user_endpoint": None,
        "client_tags": None,
        "task_offsets": None,
        "task_end_offsets": None,
        "shutdown_application": False,
        **fields,
    }


def _joining(world: World, member: StreamsMember) -> dict[str, Any]:
    fields = {
        "rebalance_timeout": _LONG_MS,
        "topology": topology(world, member.group),
        "process_id": member.process,
        "user_endpoint": member.endpoint,
        "client_tags": world.rng.choices(_TAGS, (70, 12, 12, 6))[0],
        "rack_id": world.rng.choices((None, "r1", ""), (80, 18, 2))[0],
        **{kind: [] for kind in KINDS},
    }
    if world.chance(5):
        wrong: list[dict[str, Any]] = [
            {"rebalance_timeout": -1},
            {"topology": None},
            {"process_id": None},
            {"client_tags": None},
            {"active_tasks": None},
            {"standby_tasks": [{"subtopology_id": "0", "partitions": [0]}]},
        ]
        fields |= world.rng.choice(wrong)
    return _heartbeat(world, member, 0, **fields)


def _staying(world: World, member: StreamsMember) -> dict[str, Any]:
    epoch = {"$streams_epoch": [member.slot, 0]}
    return _heartbeat(world, member, epoch, **_has(member, "all"))


def _has(member: StreamsMember, shape: str) -> dict[str, Any]:
    return {kind: {"$tasks": [member.slot, kind, shape]} for kind in KINDS}


def _rejoining(world: World, member: StreamsMember) -> dict[str, Any]:
    member.joined = True
    return _joining(world, member)


def _leaving(world: World, member: StreamsMember) -> dict[str, Any]:
    epoch = leaving_epoch(world, member)
    return _heartbeat(world, member, epoch, shutdown_application=world.chance(5))


def _saying_nothing(world: World, member: StreamsMember) -> dict[str, Any]:
    return _staying(world, member) | dict.fromkeys(KINDS)


def _having_others(world: World, member: StreamsMember) -> dict[str, Any]:
    """As if it had other tasks than it was told."""
    return _staying(world, member) | _has(member, world.rng.choice(list(SHAPES)))


def _of_wrong_epoch(world: World, member: StreamsMember) -> dict[str, Any]:
    epoch = wrong_epoch(world, member, "$streams_epoch")
    shape = world.rng.choice(("all", "all", "none", "fewer", "more"))
    tasks: dict[str, Any] = _has(member, shape) if world.chance(75) else dict.fromkeys(KINDS)
    return _heartbeat(world, member, epoch, **tasks)


def _changed(world: World, member: StreamsMember) -> dict[str, Any]:
    """It says something else of itself."""
    rng = world.rng
    return _staying(world, member) | rng.choice(
        (
            {"rack_id": rng.choice(("r1", "r2", "", " "))},
            {"client_tags": rng.choice(_TAGS)},
            {"process_id": rng.choice((f"process{rng.randrange(3)}AAAAAAAAAAAAAA", ""))},
            {"user_endpoint": {"host": "elsewhere", "port": rng.choice((0, 65_535))}},
            {"rebalance_timeout": rng.choice((_LONG_MS, _LONG_MS + 1))},
            {"topology": topology(world, member.group)},
            {"shutdown_application": world.chance(50)},
            {"standby_tasks": None},
            {"instance_id": rng.choice((None, "i0", "nobody", ""))},
        )
    )


def _wrong(world: World) -> list[Fields]:
    return [
        {"member_id": ""},
        {"member_id": NOBODY},
        {"group_id": ""},
        {"group_id": "unheard~"},
        {"group_id": world.groups[1]},
    ]


_HEARTBEATS: Final = Heartbeats(
    api="streams_group_heartbeat",
    members=lambda world: world.streaming,
    new=_new_member,
    joining=_joining,
    staying=_staying,
    others={
        _staying: 25,
        _having_others: 20,
        _saying_nothing: 15,
        _changed: 13,
        _of_wrong_epoch: 10,
        _leaving: 9,
        _rejoining: 8,
    },
    wrong=_wrong,
)
join, rebalance = _HEARTBEATS.join, _HEARTBEATS.rebalance


def streams_group_heartbeat(world: World) -> None:
    _HEARTBEATS.any(world)
