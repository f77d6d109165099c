"""Moves leaders, and with them coordinators."""

from ..cluster.cluster import Cluster
from ..cluster.topic import TopicPartition
from ..controller import elections
from .parameters import NewLeader
from .subjects import GROUP, PARTITION, TRANSACTIONAL_ID
from .verb import verb


def _none_may_lead(cluster: Cluster, partition: TopicPartition, to: NewLeader = None) -> str:
    if elections.next_leader(partition, to) is not None:
        return ""
    return elections.why_none_leads(partition, to)


@verb("move-leader", PARTITION, unless=_none_may_lead)
def move_leader(cluster: Cluster, partition: TopicPartition, to: NewLeader = None) -> None:
    """Makes another broker of the ISR the partition's leader."""
    elections.move_leader(partition, to)


@verb("move-coordinator", GROUP, TRANSACTIONAL_ID, unless=_none_may_lead)
def move_coordinator(cluster: Cluster, partition: TopicPartition, to: NewLeader = None) -> None:
    """Makes another broker, one that has its records, the coordinator of a group or a transactional id."""
    elections.move_leader(partition, to)
