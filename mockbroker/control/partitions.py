"""Operations on partitions: who leads, how followers follow, who coordinates."""

from typing import Annotated, TypedDict

from ..cluster import controller, fetcher, replicas
from ..cluster.follower import Follower, FollowerState
from ..cluster.partition import Partition
from ..errors import ConflictError, NotThereError, OptionError
from ..nearest import nearest
from .brokers import BrokerId
from .registry import operation
from .target import Target

TopicName = Annotated[str, "A topic's name."]
PartitionIndex = Annotated[int, "A partition's index."]
NewLeader = Annotated[int | None, "A broker's id; the next that may, if it is left out."]


class ReplicaState(TypedDict):
    """`state` is leader, or that of a follower; `epochs` is the leader-epoch cache: [epoch, start offset]."""

    broker: int
    state: str
    in_sync: bool
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    epochs: list[list[int]]
    failure: str


class Leadership(TypedDict):
    """Who leads, and so coordinates what is kept in the partition."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: list[int]


@operation("partitions show", "GET", "/topics/{topic}/partitions/{partition}")
def show(target: Target, topic: TopicName, partition: PartitionIndex) -> Leadership:
    """Who leads a partition, and which replicas are in sync."""
    return _leadership(target.partition(topic, partition))


@operation("partitions replicas", "GET", "/topics/{topic}/partitions/{partition}/replicas")
def list_replicas(target: Target, topic: TopicName, partition: PartitionIndex) -> list[ReplicaState]:
    """What each replica of a partition holds, and how it follows."""
    return _replicas(target.partition(topic, partition))


@operation("partitions move-leader", "POST", "/topics/{topic}/partitions/{partition}/move-leader")
def move_leader(
    target: Target, topic: TopicName, partition: PartitionIndex, to: NewLeader = None
) -> Leadership:
    """Gives a partition another leader of its ISR."""
    return _move(target, target.partition(topic, partition), to)


@operation("followers pause", "POST", "/topics/{topic}/partitions/{partition}/followers/{broker}/pause")
def pause_follower(
    target: Target, topic: TopicName, partition: PartitionIndex, broker: BrokerId
) -> list[ReplicaState]:
    """A follower fetches no more: it leaves the ISR after `replica.lag.time.max.ms`."""
    found = target.partition(topic, partition)
    found.set_follower(_follower(target, found, broker).broker, FollowerState.PAUSED)
    return _replicas(found)


@operation("followers slow", "POST", "/topics/{topic}/partitions/{partition}/followers/{broker}/slow")
def slow_follower(
    target: Target,
    topic: TopicName,
    partition: PartitionIndex,
    broker: BrokerId,
    delay_ms: Annotated[int, "How long each of its fetches takes."],
) -> list[ReplicaState]:
    """Each fetch of a follower takes its time."""
    if delay_ms < 0:
        raise OptionError(f"delay_ms is {delay_ms}: give a number of milliseconds")
    found = target.partition(topic, partition)
    found.set_follower(_follower(target, found, broker).broker, FollowerState.SLOW, delay_ms=delay_ms)
    return _replicas(found)


@operation("followers resume", "POST", "/topics/{topic}/partitions/{partition}/followers/{broker}/resume")
def resume_follower(
    target: Target, topic: TopicName, partition: PartitionIndex, broker: BrokerId
) -> list[ReplicaState]:
    """A paused or slow follower fetches as ever, truncates if need be, and catches up."""
    found = target.partition(topic, partition)
    found.set_follower(_follower(target, found, broker).broker, FollowerState.BEHIND)
    return _replicas(found)


@operation("followers fail", "POST", "/topics/{topic}/partitions/{partition}/followers/{broker}/fail")
def fail_follower(
    target: Target, topic: TopicName, partition: PartitionIndex, broker: BrokerId
) -> list[ReplicaState]:
    """A follower's fetcher dies, alone or with all that its thread fetches (see `fetcher-failure`)."""
    found = target.partition(topic, partition)
    fetcher.fail(found, _follower(target, found, broker), "failed by the test")
    return _replicas(found)


@operation("groups move-coordinator", "POST", "/groups/{group}/move-coordinator")
def move_group(
    target: Target, group: Annotated[str, "A consumer group's id."], to: NewLeader = None
) -> Leadership:
    """Gives a group another coordinator, which has its records."""
    return _move(target, target.cluster.offsets_partition(group), to)


@operation("transactions move-coordinator", "POST", "/transactions/{transactional_id}/move-coordinator")
def move_transactional_id(
    target: Target,
    transactional_id: Annotated[str, "A producer's transactional id."],
    to: NewLeader = None,
) -> Leadership:
    """Gives a transactional id another coordinator, which has its records."""
    return _move(target, target.cluster.transaction_partition(transactional_id), to)


def _move(target: Target, partition: Partition, to: int | None) -> Leadership:
    if to is not None:
        target.broker(to)
    if not controller.move_leader(target.cluster, partition, to):
        raise ConflictError(controller.why_none_leads(partition, to))
    return _leadership(partition)


def _leadership(partition: Partition) -> Leadership:
    return {
        "topic": partition.topic.name,
        "partition": partition.index,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "isr": list(partition.isr),
    }


def _follower(target: Target, partition: Partition, broker: int) -> Follower:
    target.broker(broker)
    if broker not in partition.followers:
        followers = nearest(broker, map(str, partition.followers))
        name = f"{partition.topic.name}-{partition.index}"
        if not partition.followers:
            raise NotThereError(
                f"broker {broker} is no follower of {name}, which has one replica: topics that are created "
                "by use get default.replication.factor of them"
            )
        raise NotThereError(f"broker {broker} is no follower of {name}{followers}")
    return partition.followers[broker]


def _replicas(partition: Partition) -> list[ReplicaState]:
    return [
        {
            "broker": each.broker,
            "state": each.state,
            "in_sync": each.in_sync,
            "log_start_offset": each.log_start_offset,
            "log_end_offset": each.log_end_offset,
            "high_watermark": each.high_watermark,
            "epochs": [list(pair) for pair in each.epochs],
            "failure": each.failure,
        }
        for each in replicas.describe(partition)
    ]
