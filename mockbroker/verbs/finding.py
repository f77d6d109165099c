"""Brokers, topics and partitions by their names. NotThereError says which are there."""

from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..cluster.topic import Topic, TopicPartition
from ..errors import NotThereError
from ..nearest import among, nearest


def find_broker(cluster: Cluster, broker: int) -> Broker:
    if broker not in cluster.brokers:
        raise NotThereError(f"no broker {broker}{among(cluster.brokers)}")
    return cluster.brokers[broker]


def find_topic(cluster: Cluster, topic: str) -> Topic:
    if topic not in cluster.topics:
        raise NotThereError(f"no topic {topic!r}{nearest(topic, cluster.topics)}")
    return cluster.topics[topic]


def find_partition(cluster: Cluster, topic: str, partition: int) -> TopicPartition:
    found = find_topic(cluster, topic).partitions
    if not 0 <= partition < len(found):
        raise NotThereError(f"no partition {topic}-{partition}: choose 0 to {len(found) - 1}")
    return found[partition]
