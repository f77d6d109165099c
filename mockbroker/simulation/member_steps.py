"""The steps of a consumer group to whose members the coordinator assigns partitions (KIP-848)."""

from typing import TYPE_CHECKING, Final

from ..protocol.api_keys import ApiKey
from .group_setting import SUBSCRIPTIONS
from .kinds import Args, Steps, a_broker
from .network import Random

if TYPE_CHECKING:
    from .member import ModelMember
    from .world import World

STEPS: Final = Steps()


def _member(random: Random) -> Args:
    return {"member": random.randrange(0, 4)}


def _members(world: "World", args: Args) -> "list[ModelMember]":
    """The one that is meant; none where there is no such group."""
    return [world.members[args["member"] % len(world.members)]] if world.members else []


@STEPS.step("feed", 0, lambda random: {"partition": random.randrange(0, 6), "count": random.randrange(1, 5)})
def feed(world: "World", args: Args) -> None:
    """The application hands records to the producer of a partition that the coordinator assigns."""
    if world.feeders:
        world.feeders[args["partition"] % len(world.feeders)].send(args["count"])


@STEPS.step("start-member")
def start_member(world: "World", args: Args) -> None:
    """A member joins the consumer group."""
    for member in _members(world, args):
        member.start()


@STEPS.step("stop-member", draw=_member, member_weight=4, then="start-member", follow_ms=(300, 4_000))
def stop_member(world: "World", args: Args) -> None:
    """A member commits and leaves, a static one for a while only."""
    for member in _members(world, args):
        member.stop()


@STEPS.step("kill-member", draw=_member, member_weight=3, then="start-member", follow_ms=(300, 4_000))
def kill_member(world: "World", args: Args) -> None:
    """A member dies without leaving."""
    for member in _members(world, args):
        member.kill()


@STEPS.step(
    "pause-member",
    draw=lambda random: {**_member(random), "ms": random.randrange(200, 4_000)},
    member_weight=3,
)
def pause_member(world: "World", args: Args) -> None:
    """A member does nothing for a while, and goes on as if no time had passed."""
    for member in _members(world, args):
        member.pause(args["ms"])


@STEPS.step(
    "subscribe-member",
    draw=lambda random: {**_member(random), "to": random.randrange(0, SUBSCRIPTIONS)},
    member_weight=4,
)
def subscribe_member(world: "World", args: Args) -> None:
    """A member subscribes to something else."""
    for member in _members(world, args):
        member.subscribe(args["to"] % SUBSCRIPTIONS)


@STEPS.step("lose-heartbeat", draw=_member, member_weight=5)
def lose_heartbeat(world: "World", args: Args) -> None:
    """The next answer to a member's heartbeat is lost with its connection."""
    for member in _members(world, args):
        world.network.lose_answer(member.name, ApiKey.CONSUMER_GROUP_HEARTBEAT)


@STEPS.step(
    "cut-member",
    draw=lambda random: {**_member(random), **a_broker(random)},
    member_weight=4,
    then="mend-member",
    follow_ms=(300, 3_000),
)
def cut_member(world: "World", args: Args) -> None:
    """Nothing gets through between a member and a broker."""
    for member in _members(world, args):
        world.network.cut(member.name, args["broker"])


@STEPS.step("mend-member")
def mend_member(world: "World", args: Args) -> None:
    """The member and the broker reach each other again."""
    for member in _members(world, args):
        world.network.mend(member.name, args["broker"])
