"""Descriptions of topics and their partitions."""

from typing import TYPE_CHECKING

from ..protocol.primitives import short_uuid
from .values import PartitionDescription, TopicDescription

if TYPE_CHECKING:
    from ..cluster.topic import Topic, TopicPartition


def describe(topic: "Topic") -> TopicDescription:
    return TopicDescription(
        topic.name,
        short_uuid(topic.id),
        topic.internal,
        tuple(map(_partition, topic.partitions)),
        dict(topic.overrides),
    )


def _partition(partition: "TopicPartition") -> PartitionDescription:
    log = partition.log
    return PartitionDescription(
        partition.index,
        partition.leader if partition.leader >= 0 else None,
        partition.leader_epoch,
        tuple(partition.replicas),
        tuple(partition.isr),
        log.start_offset,
        log.end_offset,
        log.high_watermark,
        log.last_stable_offset,
        tuple(partition.adding_replicas),
        tuple(partition.removing_replicas),
        tuple(partition.eligible_leader_replicas),
    )
