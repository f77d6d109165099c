"""Descriptions of transactional ids."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .values import TopicPartition, TransactionDescription

if TYPE_CHECKING:
    from ..cluster import topic
    from ..cluster.cluster import Cluster
    from ..coordinators.transaction import Transaction


def transactions(cluster: "Cluster") -> dict[str, TransactionDescription]:
    """By transactional id: as the coordinators know them, or, without coordinator, as in the log of
    `__transaction_state`."""
    found = {
        name: _describe(name, each, coordinator)
        for partition in _partitions(cluster)
        for name, each, coordinator in _held(cluster, partition)
    }
    return dict(sorted(found.items()))


def transactional_ids(cluster: "Cluster") -> dict[int, str]:
    """By producer id."""
    return {
        producer_id: name
        for partition in _partitions(cluster)
        for name, each, _ in _held(cluster, partition)
        for producer_id in (each.previous_producer_id, each.producer_id)
        if producer_id >= 0
    }


def _partitions(cluster: "Cluster") -> "list[topic.TopicPartition]":
    found = cluster.topics.get("__transaction_state")
    return [] if found is None else [each for each in found.partitions if each.log.end_offset]


def _held(
    cluster: "Cluster", partition: "topic.TopicPartition"
) -> Iterator[tuple[str, "Transaction", int | None]]:
    leader = cluster.brokers.get(partition.leader)
    # Looking must not start a coordinator that nobody has asked yet.
    coordinator = None if leader is None else vars(leader).get("transactions")
    owned = None if coordinator is None else coordinator.owned.get(partition.index)
    online = leader.id if leader is not None and leader.online else None
    if owned is not None and owned.current:
        for name, entry in owned.entries.items():
            yield name, entry.now, online
        return
    # Importing it takes time, and it is rarely needed.
    from ..coordinators.transaction_log import load
    from ..coordinators.transaction_settings import read_layout

    for name, each in load(partition.log, read_layout(cluster.policies)).items():
        yield name, each, online


def _describe(name: str, found: "Transaction", coordinator: int | None) -> TransactionDescription:
    return TransactionDescription(
        name,
        found.state.value,
        coordinator,
        found.producer_id,
        found.epoch,
        found.timeout_ms,
        found.start_ms if found.start_ms >= 0 else None,
        found.last_update_ms,
        tuple(TopicPartition(*each) for each in sorted(found.partitions)),
    )
