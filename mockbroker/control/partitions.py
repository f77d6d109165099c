"""Operations that look at partitions: who leads, and what replicas hold."""

from typing import TypedDict

from ..cluster.replicas import describe
from ..cluster.topic import TopicPartition
from ..verbs.parameters import PartitionIndex, TopicName
from .registry import operation
from .target import Target


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
    """Which broker leads a partition, and so coordinates what is kept in it."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: list[int]


@operation("partitions show", "GET", "/topics/{topic}/partitions/{partition}")
def show(target: Target, topic: TopicName, partition: PartitionIndex) -> Leadership:
    """Shows a partition's leader and ISR."""
    return leadership(target.partition(topic, partition))


@operation("partitions replicas", "GET", "/topics/{topic}/partitions/{partition}/replicas")
def list_replicas(target: Target, topic: TopicName, partition: PartitionIndex) -> list[ReplicaState]:
    """Shows what each replica of a partition holds, and how it follows."""
    return replicas(target.partition(topic, partition))


def leadership(partition: TopicPartition) -> Leadership:
    """Who leads it now."""
    return {
        "topic": partition.topic.name,
        "partition": partition.index,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "isr": list(partition.isr),
    }


def replicas(partition: TopicPartition) -> list[ReplicaState]:
    """What each of its replicas holds now."""
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
        for each in describe(partition)
    ]
