"""Members of consumer groups (KIP-848): they join, are given partitions, and leave; and those of the classic
protocol in the same groups."""

from dataclasses import replace
from typing import Any, Final

from ..steps import Fields
from . import members
from .groups import join_as, new_member
from .heartbeats import Heartbeats, leaving_epoch, wrong_epoch
from .members import NOBODY, configure
from .world import ConsumerMember, World

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


def _topics(world: World, group: str) -> list[str]:
    """The first group assigns by range. The second assigns uniformly, and has one topic: with several, which
    partitions a member gets goes by the order of their ids."""
    if group == world.groups[1]:
        return ["t0~"]
    names = [*world.topics, "missing~"]
    return world.rng.sample(names, world.rng.choices((1, min(2, len(names)), 0), (55, 42, 3))[0])


def join_classic(world: World) -> None:
    """One member of the classic protocol. Its id has a random part, so two could not be put in order."""
    again = bool(world.members)
    member = world.members[0] if again else new_member(world)
    join_as(world, member, again=again)
    step = world.steps[-1]
    topics = [each for each in _topics(world, member.group) if each != "missing~"]
    protocols = [{"name": _RANGE, "metadata": {"$subscription": [topics, {}]}}]
    world.steps[-1] = replace(step, fields={**step.fields, "protocols": protocols})


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


def _rejoining(world: World, member: ConsumerMember) -> dict[str, Any]:
    member.joined = True
    return _joining(world, member)


def _leaving(world: World, member: ConsumerMember) -> dict[str, Any]:
    return _heartbeat(member, leaving_epoch(world, member))


def _saying_nothing(world: World, member: ConsumerMember) -> dict[str, Any]:
    return _staying(world, member) | {"topic_partitions": None}


def _having_others(world: World, member: ConsumerMember) -> dict[str, Any]:
    """As if it had other partitions than it was told. Which topic is the first goes by topic ids."""
    shape = world.rng.choice(("none", "fewer", "backwards", "more", "twice", "negative", "unknown"))
    return _staying(world, member) | {"topic_partitions": {"$owned": [member.slot, shape]}}


def _of_wrong_epoch(world: World, member: ConsumerMember) -> dict[str, Any]:
    epoch = wrong_epoch(world, member, "$consumer_epoch")
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


def _wrong(world: World) -> list[Fields]:
    """No member is made whose id is random."""
    return [
        {"member_id": "", "member_epoch": 1},
        {"member_id": NOBODY},
        {"group_id": ""},
        {"group_id": "unheard~"},
        {"group_id": world.groups[1], "server_assignor": None},
    ]


_HEARTBEATS: Final = Heartbeats(
    api="consumer_group_heartbeat",
    members=lambda world: world.consuming,
    new=_new_member,
    joining=_joining,
    staying=_staying,
    others={
        _staying: 25,
        _having_others: 20,
        _saying_nothing: 15,
        _changed: 17,
        _of_wrong_epoch: 10,
        _leaving: 9,
        _rejoining: 8,
    },
    wrong=_wrong,
)
join, rebalance = _HEARTBEATS.join, _HEARTBEATS.rebalance


def consumer_group_heartbeat(world: World) -> None:
    _HEARTBEATS.any(world)


_CONFIGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("consumer.heartbeat.interval.ms", ("5000", "6000", "1", "x")),
    ("consumer.session.timeout.ms", ("60000", "1", "300000")),
    ("consumer.assignment.interval.ms", ("0", "-1")),
)


def configure_group(world: World) -> None:
    configure(world, _CONFIGS)


def consumer_group_describe(world: World) -> None:
    groups = [world.group() for _ in world.some((1, 1, 1, 2))]
    fields = {"group_ids": groups, "include_authorized_operations": world.chance(15)}
    world.add("consumer_group_describe", world.version("consumer_group_describe"), fields)


def list_groups(world: World) -> None:
    states = ("Stable", "Empty", "stable", "Assigning", "Reconciling", "Dead", "PreparingRebalance")
    members.list_groups(world, states, ("classic", "consumer", "Consumer"))
