"""Members of consumer groups (KIP-848): they join, are given partitions, and leave; and those of the classic
protocol in the same groups."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from .groups import join_as, new_member
from .members import NOBODY, set_config, to_join
from .world import ConsumerMember, World

_MOST_MEMBERS: Final = 4
_LONG_MS: Final = 300_000
_RANGE, _UNIFORM = "range", "uniform"


def _new_member(world: World) -> ConsumerMember:
    number = len(world.consuming)
    member = ConsumerMember(
        slot=world.slot(),
        id=f"member{number}AAAAAAAAAAAAAAA",
        group=world.groups[0] if world.chance(75) else world.groups[1],
        client=10 + number,
        instance=f"i{number if world.chance(80) else 0}" if world.chance(25) else None,
    )
    world.consuming.append(member)
    return member


def _member(world: World) -> ConsumerMember:
    if not world.consuming:
        join(world)
    return world.rng.choice(world.consuming)


def _topics(world: World, group: str) -> list[str]:
    """The first group assigns by range. The second assigns uniformly, and has one topic: with several, which
    partitions a member gets goes by the order of their ids."""
    if group == world.groups[1]:
        return ["t0~"]
    names = [*world.topics, "missing~"]
    return world.rng.sample(names, world.rng.choices((1, min(2, len(names)), 0), (55, 42, 3))[0])


def join(world: World) -> None:
    """A member joins, and heartbeats until it has partitions."""
    member = to_join(world, world.consuming, _MOST_MEMBERS, _new_member)
    if member is None:
        consumer_group_heartbeat(world)
        return
    member.joined = True
    _beat(world, member, _joining(world, member))
    for _ in world.some((1, 2)):
        _beat(world, member, _staying(world, member))


def settle(world: World) -> None:
    """All members of a group heartbeat: they give up what they have to, and take what they are given."""
    group = _member(world).group
    for _ in world.some((1, 2)):
        for each in [each for each in world.consuming if each.group == group and each.joined]:
            _beat(world, each, _staying(world, each))


def join_classic(world: World) -> None:
    """One member of the classic protocol. Its id has a random part, so two could not be put in order."""
    again = bool(world.members)
    member = world.members[0] if again else new_member(world)
    join_as(world, member, again=again)
    step = world.steps[-1]
    topics = [each for each in _topics(world, member.group) if each != "missing~"]
    protocols = [{"name": _RANGE, "metadata": {"$subscription": [topics, {}]}}]
    world.steps[-1] = replace(step, fields={**step.fields, "protocols": protocols})


def _beat(world: World, member: ConsumerMember, fields: dict[str, Any]) -> None:
    version = world.version("consumer_group_heartbeat")
    world.add("consumer_group_heartbeat", version, fields, client=member.client, binds=member.slot)


def _heartbeat(member: ConsumerMember, epoch: Any, **fields: Any) -> dict[str, Any]:
    """What has not changed is null."""
    return {
        "group_id": member.group,
        "member_id": member.id,
        "member_epoch": epoch,
        "instance_id": member.instance,
        "rack_id": None,
        "rebalance_timeout": -1,
        "subscribed_topic_names": None,
        "subscribed_topic_regex": None,
        "server_assignor": None,
        "topic_partitions": None,
        **fields,
    }


def _joining(world: World, member: ConsumerMember) -> dict[str, Any]:
    uniform = member.group == world.groups[1]
    fields = {
        "rebalance_timeout": _LONG_MS,
        "subscribed_topic_names": _topics(world, member.group),
        "server_assignor": world.rng.choice((None, _UNIFORM)) if uniform else _RANGE,
        "rack_id": world.rng.choices((None, "r1", ""), (80, 18, 2))[0],
        "topic_partitions": [],
    }
    if world.chance(8):
        wrong: list[dict[str, Any]] = [
            {"rebalance_timeout": -1},
            {"rebalance_timeout": 0},
            {"subscribed_topic_names": None},
            {"topic_partitions": None},
            {"topic_partitions": {"$owned": [member.slot, "more"]}},
            {"server_assignor": "nonsense"},
            {"server_assignor": ""},
            {"subscribed_topic_regex": "("},
            {"subscribed_topic_names": None, "subscribed_topic_regex": ""},
        ]
        fields |= world.rng.choice(wrong)
    return _heartbeat(member, 0, **fields)


def _staying(world: World, member: ConsumerMember) -> dict[str, Any]:
    epoch = {"$consumer_epoch": [member.slot, 0]}
    return _heartbeat(member, epoch, topic_partitions={"$owned": [member.slot, "all"]})


def consumer_group_heartbeat(world: World) -> None:
    """Of a member that is there, mostly as it should be."""
    member = _member(world)
    draw = world.rng.choices(list(_BEATS), list(_BEATS.values()))[0]
    _beat(world, member, draw(world, member))
    if world.chance(6):
        _spoil(world)


def _rejoining(world: World, member: ConsumerMember) -> dict[str, Any]:
    member.joined = True
    return _joining(world, member)


def _leaving(world: World, member: ConsumerMember) -> dict[str, Any]:
    member.joined = False
    epoch = world.rng.choice((-1, -2)) if member.instance else world.rng.choices((-1, -2), (92, 8))[0]
    return _heartbeat(member, epoch)


def _saying_nothing(world: World, member: ConsumerMember) -> dict[str, Any]:
    return _staying(world, member) | {"topic_partitions": None}


def _having_others(world: World, member: ConsumerMember) -> dict[str, Any]:
    """As if it had other partitions than it was told. Which topic is the first goes by topic ids."""
    shape = world.rng.choice(("none", "fewer", "backwards", "more", "twice", "negative", "unknown"))
    return _staying(world, member) | {"topic_partitions": {"$owned": [member.slot, shape]}}


def _of_wrong_epoch(world: World, member: ConsumerMember) -> dict[str, Any]:
    plus = world.rng.choice((-1, -1, -1, 1, 2, 100, -2))
    epoch: Any = (
        {"$consumer_epoch": [member.slot, plus]} if world.chance(90) else world.rng.choice((-3, 2**31 - 1))
    )
    shape = world.rng.choice(("all", "all", "none", "fewer", "more"))
    owned = {"$owned": [member.slot, shape]} if world.chance(75) else None
    return _heartbeat(member, epoch, topic_partitions=owned)


def _changed(world: World, member: ConsumerMember) -> dict[str, Any]:
    """It says something else of itself."""
    rng = world.rng
    return _staying(world, member) | rng.choice(
        (
            {"rack_id": rng.choice(("r1", "r2", "", " "))},
            {"rebalance_timeout": rng.choice((_LONG_MS, _LONG_MS + 1, 0))},
            {"subscribed_topic_names": _topics(world, member.group)},
            {"subscribed_topic_names": _topics(world, member.group)},
            {"subscribed_topic_names": _topics(world, member.group) * 2},
            {"subscribed_topic_names": [rng.choice(("", "a b", "missing~"))]},
            {"subscribed_topic_regex": rng.choice(("", "(", "[", "*"))},
            {"server_assignor": rng.choice(("nonsense", "", _RANGE))},
            {"instance_id": rng.choice((None, "i0", "nobody", ""))},
        )
    )


_BEATS: Final[dict[Callable[[World, ConsumerMember], dict[str, Any]], int]] = {
    _staying: 25,
    _having_others: 20,
    _saying_nothing: 15,
    _changed: 17,
    _of_wrong_epoch: 10,
    _leaving: 9,
    _rejoining: 8,
}


def _spoil(world: World) -> None:
    """Somebody else asks, or in another group. No member is made whose id is random."""
    step = world.steps[-1]
    wrong: dict[str, Any] = world.rng.choice(
        (
            {"member_id": "", "member_epoch": 1},
            {"member_id": NOBODY},
            {"group_id": ""},
            {"group_id": "unheard~"},
            {"group_id": world.groups[1], "server_assignor": None},
        )
    )
    world.steps[-1] = replace(step, fields={**step.fields, **wrong}, binds=None)


_CONFIGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("consumer.heartbeat.interval.ms", ("5000", "6000", "1", "x")),
    ("consumer.session.timeout.ms", ("60000", "1", "300000")),
    ("consumer.assignment.interval.ms", ("0", "-1")),
)


def configure_group(world: World) -> None:
    name, values = world.rng.choice(_CONFIGS)
    operation = world.rng.choices((0, 1), (85, 15))[0]
    set_config(world, world.group(), name, world.rng.choice(values), operation)


def consumer_group_describe(world: World) -> None:
    groups = [world.group() for _ in world.some((1, 1, 1, 2))]
    fields = {"group_ids": groups, "include_authorized_operations": world.chance(15)}
    world.add("consumer_group_describe", world.version("consumer_group_describe"), fields)


def list_groups(world: World) -> None:
    rng = world.rng
    states = ("Stable", "Empty", "stable", "Assigning", "Reconciling", "Dead", "PreparingRebalance")
    fields = {
        "states_filter": rng.sample(states, rng.choice((0, 0, 1, 2))),
        "types_filter": rng.sample(("classic", "consumer", "Consumer"), rng.choice((0, 0, 1, 2))),
    }
    world.add("list_groups", world.version("list_groups"), fields)
