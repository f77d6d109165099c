"""The steps of a share group."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..protocol.api_keys import ApiKey
from ..verbs import leaders, sharing
from .kinds import Args, Steps, a_broker
from .network import Random
from .scene import SHARERS

if TYPE_CHECKING:
    from .share_member import ModelShareMember
    from .world import World

STEPS: Final = Steps()
_APIS: Final = (ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE, ApiKey.SHARE_GROUP_HEARTBEAT)


def _member(random: Random) -> Args:
    return {"member": random.randrange(0, 4)}


def _members(world: "World", args: Args) -> "list[ModelShareMember]":
    """The one that is meant; none where there is no such group."""
    return [world.sharers[args["member"] % len(world.sharers)]] if world.sharers else []


@STEPS.step(
    "feed-share", draw=lambda random: {"partition": random.randrange(0, 6), "count": random.randrange(1, 7)}
)
def feed_share(world: "World", args: Args) -> None:
    """The application hands records to the producer of a partition that the share group reads."""
    if world.share_feeders:
        world.share_feeders[args["partition"] % len(world.share_feeders)].send(args["count"])


@STEPS.step("start-sharer")
def start_sharer(world: "World", args: Args) -> None:
    """A member joins the share group."""
    for member in _members(world, args):
        member.start()


@STEPS.step("stop-sharer", draw=_member, share_weight=4, then="start-sharer", follow_ms=(300, 4_000))
def stop_sharer(world: "World", args: Args) -> None:
    """A member of the share group says what is left to say, ends its share sessions and leaves."""
    for member in _members(world, args):
        member.stop()


@STEPS.step("kill-sharer", draw=_member, share_weight=4, then="start-sharer", follow_ms=(300, 4_000))
def kill_sharer(world: "World", args: Args) -> None:
    """A member of the share group dies without leaving."""
    for member in _members(world, args):
        member.kill()


@STEPS.step(
    "pause-sharer",
    draw=lambda random: {**_member(random), "ms": random.randrange(200, 4_000)},
    share_weight=4,
)
def pause_sharer(world: "World", args: Args) -> None:
    """A member of the share group does nothing for a while, and goes on as if no time had passed."""
    for member in _members(world, args):
        member.pause(args["ms"])


@STEPS.step(
    "lose-share-answer",
    draw=lambda random: {**_member(random), "api": random.randrange(0, len(_APIS))},
    share_weight=5,
)
def lose_share_answer(world: "World", args: Args) -> None:
    """The next answer to a member's ShareFetch, ShareAcknowledge or ShareGroupHeartbeat is lost with its
    connection."""
    for member in _members(world, args):
        world.network.lose_answer(member.name, _APIS[args["api"] % len(_APIS)])


@STEPS.step(
    "cut-sharer",
    draw=lambda random: {**_member(random), **a_broker(random)},
    share_weight=3,
    then="mend-sharer",
    follow_ms=(300, 3_000),
)
def cut_sharer(world: "World", args: Args) -> None:
    """Nothing gets through between a member of the share group and a broker."""
    for member in _members(world, args):
        world.network.cut(member.name, args["broker"])


@STEPS.step("mend-sharer")
def mend_sharer(world: "World", args: Args) -> None:
    """The member and the broker reach each other again."""
    for member in _members(world, args):
        world.network.mend(member.name, args["broker"])


@STEPS.step(
    "mute-sharer",
    draw=lambda random: {**_member(random), "ms": random.randrange(1_000, 5_000)},
    share_weight=2,
)
def mute_sharer(world: "World", args: Args) -> None:
    """A member of the share group sends no heartbeats for a while, and goes on reading: the coordinator
    fences it, but leaders do not know that."""
    for member in _members(world, args):
        member.mute(args["ms"])


@STEPS.step("rest-sharers", then="wake-sharers", follow_ms=(1_500, 4_000))
def rest_sharers(world: "World", args: Args) -> None:
    """All members leave the share group, but for those that send no heartbeats."""
    for member in world.sharers:
        if not member.muted:
            member.stop()


@STEPS.step("wake-sharers")
def wake_sharers(world: "World", args: Args) -> None:
    """All members are in the share group again."""
    for member in world.sharers:
        member.start()


@STEPS.step("alter-share-offsets", draw=lambda random: {"percent": 10 * random.randrange(0, 11)})
def alter_share_offsets(world: "World", args: Args) -> None:
    """Once the share group is empty, it is told to begin anew some percent of the way from the log start to
    the high watermark of each partition."""
    if world.share_admin is not None:
        world.share_admin.alter(args["percent"])


@STEPS.step("add-share-partition", share_weight=3)
def add_share_partition(world: "World", args: Args) -> None:
    """The topic of the share group is given another partition."""
    world.add_share_partition()


@STEPS.step("move-share-leader", draw=lambda random: {"partition": random.randrange(0, 6)}, share_weight=5)
def move_share_leader(world: "World", args: Args) -> None:
    """Another broker of the ISR leads a partition that the share group reads."""
    if places := world.shared:
        leaders.move_leader.attempt(world.cluster, world.partition(places[args["partition"] % len(places)]))


@STEPS.step("move-share-states", share_weight=5)
def move_share_states(world: "World", args: Args) -> None:
    """Another broker is the share coordinator: it leads `__share_group_state`."""
    topic = world.cluster.topics.get("__share_group_state")
    if topic is not None:
        leaders.move_leader.attempt(world.cluster, topic.partitions[0])
        world.tell(f"broker {topic.partitions[0].leader}", "keeps the states of share partitions")


@STEPS.step("move-share-coordinator", share_weight=3)
def move_share_coordinator(world: "World", args: Args) -> None:
    """Another broker coordinates the share group."""
    partition = world.cluster.offsets_partition(SHARERS)
    leaders.move_coordinator.attempt(world.cluster, partition)
    world.tell(f"broker {partition.leader}", "coordinates the share group")


STEPS.verb(sharing.drop_share_sessions, draw=a_broker, share_weight=3)
STEPS.verb(sharing.expire_locks, draw=lambda random: {"group": SHARERS}, share_weight=2)


def _let_go(name: str, broker: Callable[[Args], int | None]) -> None:
    """A verb by which brokers let go what members have."""
    kind = STEPS[name]

    def do(world: "World", args: Args) -> None:
        if world.sharing is not None:
            world.sharing.locks_end(broker(args))
        kind.do(world, args)

    STEPS[name] = replace(kind, do=do)


_let_go("drop-share-sessions", lambda args: args["broker"])
_let_go("expire-locks", lambda args: None)
