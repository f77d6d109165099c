"""When brokers hear what the controller wrote: at once, late, or not before they are connected again."""

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..metadata.records import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    RemoveTopicRecord,
)

if TYPE_CHECKING:
    from uuid import UUID

    from .broker import Broker
    from .cluster import Cluster
    from .topic_partition import TopicPartition


def slow_metadata(cluster: "Cluster", broker: int, delay_ms: int) -> None:
    """From now on a broker hears of each metadata record `delay_ms` after it was written; with 0 at once, and
    of those that it has missed. KeyError for a broker that is not there.

    Until then it leads, follows and tells clients as it knows it. One that is cut off hears nothing, and one
    that starts has read everything.
    """
    one = cluster.brokers[broker]
    one.metadata_delay_ms = delay_ms
    if not one.hears_controller:
        return
    if delay_ms:
        cluster.metadata.fall_behind(broker)
    else:
        catch_up(cluster, broker)


def catch_up(cluster: "Cluster", broker: int) -> None:
    """A broker hears everything; one whose metadata is slow falls behind again from here."""
    one = cluster.brokers[broker]
    cluster.metadata.behind.pop(broker, None)
    if one.metadata_delay_ms:
        cluster.metadata.fall_behind(broker)
    if one.online:
        _read_image(cluster, one)
        one.replicas.ask_again()
        cluster.settle()


def _read_image(cluster: "Cluster", one: "Broker") -> None:
    """A broker compares what it has with the image that it reads."""
    known = {partition.topic.id: partition.topic for partition in one.replicas}
    for topic_id, topic in known.items():
        if topic_id not in one.image.topic_ids:
            one.replicas.delete(topic)
    for topic in cluster.topics.values():
        for partition in topic.partitions:
            one.replicas.update(topic, partition.index, partition.registered)


def leader_knows(cluster: "Cluster", partition: "TopicPartition") -> bool:
    """Whether the leader has heard that it is the leader, of this epoch or an earlier one."""
    behind = cluster.metadata.behind.get(partition.leader)
    if behind is None:
        return True
    registered = behind.image.partition(partition.topic.id, partition.index)
    return registered is not None and registered.leader == partition.leader


def plan(cluster: "Cluster") -> None:
    """Records were written: those hear of them later who are slow."""
    for broker, behind in cluster.metadata.behind.items():
        one, next_ms = cluster.brokers[broker], behind.next_ms
        if next_ms is not None and one.hears_controller and not one.news_planned:
            one.news_planned = True
            delay_ms = max(0, next_ms + one.metadata_delay_ms - cluster.now_ms)
            cluster.environment.wait(delay_ms, functools.partial(_due, cluster, broker), owned=False)


def _due(cluster: "Cluster", broker: int) -> None:
    one, behind = cluster.brokers[broker], cluster.metadata.behind.get(broker)
    one.news_planned = False
    if behind is not None and one.online and one.hears_controller:
        hear(cluster, one, behind.hear(cluster.now_ms - one.metadata_delay_ms))
        cluster.settle()
        plan(cluster)


def hear(cluster: "Cluster", one: "Broker", records: Iterable[Record]) -> None:
    """A broker whose image has taken in these records does what follows from them."""
    changed: dict[tuple[UUID, int], None] = {}
    for record in records:
        match record:
            case PartitionRecord(topic_id, index) | PartitionChangeRecord(topic_id, index):
                changed[topic_id, index] = None
            case RemoveTopicRecord(topic_id):
                for gone in {each.topic for each in one.replicas if each.topic.id == topic_id}:
                    one.replicas.delete(gone)
            case BrokerRegistrationChangeRecord(fenced=False):
                one.replicas.ask_again()
    for topic_id, index in changed:
        registered = one.image.partition(topic_id, index)
        topic = cluster.topic_ids.get(topic_id)
        if topic is not None and registered is not None:
            one.replicas.update(topic, index, registered)
