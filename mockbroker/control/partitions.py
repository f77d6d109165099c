"""Operations that look at partitions: who leads, and what replicas hold."""

from typing import TypedDict

from ..cluster.replicas import describe
from ..cluster.topic import TopicPartition
from ..verbs.parameters import PartitionIndex, TopicName
from .registry import operation
from .shaping import shaped
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
    return shaped(Leadership, partition, topic=partition.topic.name, partition=partition.index)


def replicas(partition: TopicPartition) -> list[ReplicaState]:
    """What each of its replicas holds now."""
    return [shaped(ReplicaState, each) for each in describe(partition)]
