"""The steps of a history: what can happen in it, how often it is drawn, and how it is done.

A step that no longer makes sense, because the history was shrunk, does nothing.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..cluster.liveness import Liveness
from ..protocol.api_keys import ApiKey
from ..protocol.batch_writing import key_values
from ..protocol.offsets_log import commit_key
from ..replication.internal_append import append_own
from ..verbs import brokers, followers, leaders
from ..verbs.subjects import Following
from ..verbs.table import VERBS
from . import batches
from .cleaning import clean
from .kinds import Args, Steps, a_broker
from .member_steps import STEPS as OF_MEMBERS
from .plan import COMPACT
from .producer import ModelProducer
from .scene import GROUP, TOPIC
from .share_steps import STEPS as OF_SHARERS
from .transactional_producer import TransactionalProducer

if TYPE_CHECKING:
    from .consumer import ModelConsumer
    from .member import ModelMember
    from .world import World

_MAX_RECORDS: Final = 4
_LATE_MS: Final = (50, 1_500)
_COMMITS: Final = 0.8
_ANOTHER_GROUP: Final = "h"
_NEWER_VALUE: Final = b"\0\x63"
"""A committed offset of version 99."""


_OF_CLUSTERS: Final = Steps()
_step: Final = _OF_CLUSTERS.step


# -- clients


@_step("produce", 0, lambda random: {"producer": 0, "count": random.randrange(1, _MAX_RECORDS + 1)})
def produce(world: "World", args: Args) -> None:
    """The application hands records to a producer."""
    if args["producer"] < len(world.producers):
        world.producers[args["producer"]].send(args["count"])


@_step(
    "end-transaction",
    0,
    lambda random: {"producer": random.randrange(0, 2), "commit": int(random.random() < _COMMITS)},
)
def end_transaction(world: "World", args: Args) -> None:
    """A producer commits or aborts its transaction, once all its records are written."""
    if args["producer"] < len(world.producers):
        producer = world.producers[args["producer"]]
        if isinstance(producer, TransactionalProducer):
            producer.end(commit=bool(args["commit"]))


@_step("new-instance", 0)
def new_instance(world: "World", args: Args) -> None:
    """Another instance with the first producer's transactional id starts, while the previous one goes on."""
    first = world.producers[0]
    if isinstance(first, TransactionalProducer):
        world.new_instance(first.transactional_id)


@_step("rebalance", 6)
def rebalance(world: "World", args: Args) -> None:
    """The partition is assigned to the next consumer; its owner commits first, as in a rebalance listener."""
    world.hand_over(commit=True)


@_step("consumer-dies", 2)
def consumer_dies(world: "World", args: Args) -> None:
    """The partition is assigned to the next consumer, and its owner commits nothing."""
    world.hand_over(commit=False)


@_step("stop-consumer")
def stop_consumer(world: "World", args: Args) -> None:
    """The owner of the partition commits and stops; nobody is assigned the partition."""
    world.stop_owner()


@_step("lose-answer", 3, lambda random: {"client": random.randrange(0, 3)})
def lose_answer(world: "World", args: Args) -> None:
    """The next answer to a client is lost with its connection; for a producer without transactions, the next
    answer to a Produce."""
    client = _client(world, args)
    only = isinstance(client, ModelProducer) and client.transactional_id is None
    world.network.lose_answer(client.name, ApiKey.PRODUCE if only else None)


@_step(
    "cut-client",
    2,
    lambda random: {"client": random.randrange(0, 3), **a_broker(random)},
    then="mend-client",
    follow_ms=(300, 3_000),
)
def cut_client(world: "World", args: Args) -> None:
    """Nothing gets through between a client and a broker."""
    world.network.cut(_client(world, args).name, args["broker"])


@_step("mend-client")
def mend_client(world: "World", args: Args) -> None:
    """The client and the broker reach each other again."""
    world.network.mend(_client(world, args).name, args["broker"])


def _client(world: "World", args: Args) -> "ModelProducer | ModelConsumer | ModelMember":
    number: int = args["client"]
    return world.clients[number % len(world.clients)]


@_step("lose-producer-answer", 0, lambda random: {"producer": random.randrange(0, 2)}, producer_weight=6)
def lose_producer_answer(world: "World", args: Args) -> None:
    """A producer's next answer to a Produce is lost with its connection."""
    producer = world.producers[args["producer"] % len(world.producers)]
    world.network.lose_answer(producer.name, ApiKey.PRODUCE)


# -- brokers


@_step(brokers.stop_broker, 2, a_broker, producer_weight=2, then="start-broker", follow_ms=(500, 4_000))
def stop_broker(world: "World", args: Args) -> None:
    brokers.stop_broker.attempt(world.cluster, world.cluster.brokers[args["broker"]])
    world.network.broker_down(args["broker"])


@_step(brokers.kill_broker, 2, a_broker, then="start-broker", follow_ms=(700, 4_000))
def kill_broker(world: "World", args: Args) -> None:
    brokers.kill_broker.attempt(world.cluster, world.cluster.brokers[args["broker"]])
    world.network.broker_down(args["broker"])


@_step(
    "lose-power",
    1,
    lambda random: {**a_broker(random), "batches": random.randrange(1, 4)},
    then="start-broker",
    follow_ms=(700, 4_000),
)
def lose_power(world: "World", args: Args) -> None:
    """Kills a broker, which loses the last batches of its logs because they were not flushed."""
    if not world.cluster.brokers[args["broker"]].online:
        return
    kill_broker(world, args)
    for topic in world.cluster.topics.values():
        for partition in topic.partitions:
            log = partition.logs.get(args["broker"])
            if log is None or topic.internal:
                continue
            held = list(log)
            if len(held) >= args["batches"]:
                kept = held[: -args["batches"]]
                # A log ends where its last batch ends, even if compaction left a hole after it.
                end = batches.end_of(kept[-1])[0] if kept else log.start_offset
                world.lost_tail(partition, args["broker"], end)


_OF_CLUSTERS.verb(brokers.start_broker)


@_step(brokers.cut_off_broker, 4, a_broker, then="rejoin-broker", follow_ms=(800, 5_000))
def cut_off_broker(world: "World", args: Args) -> None:
    broker = world.cluster.brokers[args["broker"]]
    if broker.online and _all_connected(world):
        brokers.cut_off_broker.attempt(world.cluster, broker)


def _all_connected(world: "World") -> bool:
    return all(not each.unreachable for each in world.cluster.brokers.values())


_OF_CLUSTERS.verb(brokers.rejoin_broker)
_OF_CLUSTERS.verb(
    brokers.slow_metadata,
    draw=lambda random: {**a_broker(random), "delay_ms": random.randrange(*_LATE_MS)},
    then="metadata-in-time",
    follow_ms=(800, 5_000),
)


@_step("metadata-in-time")
def metadata_in_time(world: "World", args: Args) -> None:
    """The broker learns at once again what the controller decides."""
    brokers.slow_metadata.attempt(world.cluster, world.cluster.brokers[args["broker"]], delay_ms=0)


@_step(leaders.move_leader, 4, lambda random: {"topic": random.randrange(0, 2)}, producer_weight=1)
def move_leader(world: "World", args: Args) -> None:
    partition = _partition(world, args)
    if partition is not None:
        leaders.move_leader.attempt(world.cluster, partition)


@_step(leaders.move_coordinator, member_weight=4)
def move_coordinator(world: "World", args: Args) -> None:
    partition = world.cluster.offsets_partition(GROUP)
    leaders.move_coordinator.attempt(world.cluster, partition)
    world.tell(f"broker {partition.leader}", "coordinates the group")


@_step("newer-commit")
def newer_commit(world: "World", args: Args) -> None:
    """A newer broker coordinates groups for a moment, and another group commits an offset: then
    `__consumer_offsets` has a record that the other brokers can't parse."""
    partition = world.cluster.offsets_partition(GROUP)
    if (leader := partition.led) is not None:
        broker, offset = f"broker {partition.leader}", leader.log.end_offset
        world.tell(broker, f"has a record of a newer version at offset {offset} of __consumer_offsets")
        record = commit_key(_ANOTHER_GROUP, TOPIC, 0), _NEWER_VALUE
        append_own(leader, key_values([record], world.cluster.now_ms))


@_step("elect-unclean", 1, a_broker)
def elect_unclean(world: "World", args: Args) -> None:
    """If unclean elections are enabled, stops every broker of the ISR except the one given, for 1.5 s: if
    that one is not in sync, it is elected uncleanly."""
    partition = world.partition()
    if not world.plan.unclean or partition.leader < 0:
        return
    for broker in partition.isr:
        if broker != args["broker"] and world.cluster.brokers[broker].liveness is Liveness.RUNNING:
            stop_broker(world, {"broker": broker})
            start = partial(_OF_CLUSTERS["start-broker"].do, world, {"broker": broker})
            world.cluster.environment.after(1_500, start)


# -- followers


@_step(followers.pause_follower, 4, a_broker, then="resume-follower", follow_ms=(300, 4_000))
def pause_follower(world: "World", args: Args) -> None:
    for following in _following(world, args):
        followers.pause_follower.do(world.cluster, following)


@_step(
    followers.slow_follower,
    4,
    lambda random: {**a_broker(random), "delay_ms": random.randrange(*_LATE_MS)},
    producer_weight=3,
    then="resume-follower",
    follow_ms=(1_500, 6_000),
)
def slow_follower(world: "World", args: Args) -> None:
    for following in _following(world, args):
        followers.slow_follower.do(world.cluster, following, args["delay_ms"])


@_step(followers.resume_follower)
def resume_follower(world: "World", args: Args) -> None:
    for following in _following(world, args):
        followers.resume_follower.attempt(world.cluster, following)


# -- logs


@_step("delete-records", 5, lambda random: {"percent": 10 * random.randrange(3, 11)}, producer_weight=3)
def delete_records(world: "World", args: Args) -> None:
    """Retention or DeleteRecords moves the log start offset some percent of the way to the high watermark."""
    if world.plan.cleanup == COMPACT:
        return
    for partition in _partitions(world):
        if (leader := partition.led) is not None:
            log = leader.log
            upto = log.start_offset + (log.high_watermark - log.start_offset) * args["percent"] // 100
            world.deleted(partition, upto)
            leader.advance_log_start(upto)


@_step("clean-log", 0, lambda random: {**a_broker(random), "active": random.randrange(1, 4)})
def clean_log(world: "World", args: Args) -> None:
    """A broker's log cleaner compacts its replicas, except for their last `active` batches."""
    if world.plan.compacted and world.cluster.brokers[args["broker"]].online:
        for partition in _partitions(world):
            # A broker that was down when a partition was added may not have it yet.
            if args["broker"] in partition.logs:
                clean(world, partition, args["broker"], args["active"])


def _partitions(world: "World") -> Any:
    return [p for topic in world.cluster.topics.values() if not topic.internal for p in topic.partitions]


def _following(world: "World", args: Args) -> list[Following]:
    """Every partition that a broker follows, whether or not it is fetching now."""
    found = [(each, each.follower(args["broker"])) for each in _partitions(world)]
    return [Following(each, follower) for each, follower in found if follower is not None]


def _partition(world: "World", args: Args) -> Any:
    found = _partitions(world)
    return found[args["topic"] % len(found)] if found else None


STEPS: Final = Steps({**_OF_CLUSTERS, **OF_MEMBERS, **OF_SHARERS})
for _verb in VERBS.values():
    if _verb.name not in STEPS:
        STEPS.verb(_verb)
