"""What the controller decides: who leads, which brokers are there, where replicas lie
(`ReplicationControlManager.java`)."""

from typing import TYPE_CHECKING

from ..protocol.errors import ErrorCode
from .api_error import ApiError
from .follower import NEVER_MS, Follower, FollowerState
from .partition import NO_LEADER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .cluster import Cluster
    from .partition import Partition


def stop_broker(cluster: "Cluster", broker: int) -> None:
    """Takes a broker down: it leaves every ISR that has another member, and others lead its partitions."""
    cluster.brokers[broker].online = False
    replace(cluster, broker)
    for partition in _partitions(cluster):
        partition.set_follower(broker, FollowerState.OFFLINE)


def replace(cluster: "Cluster", broker: int) -> None:
    """A broker is gone: it leaves every ISR that has another member, and others lead its partitions."""
    for partition in _partitions(cluster):
        if broker not in partition.replicas:
            continue
        if partition.isr != [broker]:
            partition.isr = [r for r in partition.isr if r != broker]
        if partition.leader == broker:
            elect(cluster, partition)
        partition.advance_high_watermark()


def start_broker(cluster: "Cluster", broker: int) -> None:
    """Brings a broker back with the logs it had: it follows, or leads what nobody else may."""
    cluster.brokers[broker].online = True
    cluster.brokers[broker].dead_fetchers.clear()
    for partition in _partitions(cluster):
        if broker not in partition.replicas:
            continue
        if partition.leader == NO_LEADER:
            elect(cluster, partition)
        if partition.leader != broker:
            partition.set_follower(broker, FollowerState.BEHIND)


def elect(cluster: "Cluster", partition: "Partition") -> bool:
    """Elects the first replica that is online and in sync; one that is not in sync only where the topic's
    `unclean.leader.election.enable` allows it, and alone in the ISR then. False when there is none."""
    online = [r for r in partition.replicas if cluster.brokers[r].electable]
    clean = next((r for r in online if r in partition.isr), None)
    if clean is not None:
        partition.lead(clean)
        return True
    if online and (partition.policies.unclean_election or partition.topic.settings.unclean_leader_election):
        partition.isr = online[:1]
        partition.lead(online[0])
        return True
    if partition.leader != NO_LEADER:
        partition.lose_leader()
    return False


def elect_preferred(cluster: "Cluster", partition: "Partition") -> None:
    """Makes the first replica the leader. ApiError ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE."""
    preferred = partition.replicas[0]
    if partition.leader == preferred:
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED)
    if preferred not in partition.isr or not cluster.brokers[preferred].electable:
        raise ApiError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)
    partition.lead(preferred)


def elect_unclean(cluster: "Cluster", partition: "Partition") -> None:
    """Gives a partition without leader any that is online. ApiError ELECTION_NOT_NEEDED,
    ELIGIBLE_LEADERS_NOT_AVAILABLE."""
    if partition.leader != NO_LEADER:
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED)
    online = [r for r in partition.replicas if cluster.brokers[r].electable]
    if not online:
        raise ApiError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)
    if not any(r in partition.isr for r in online):
        partition.isr = online[:1]
    partition.lead(next(r for r in online if r in partition.isr))


def reassign(cluster: "Cluster", partition: "Partition", replicas: "Sequence[int]") -> None:
    """Moves a partition to `replicas`: new ones copy the log first, then the others go (KIP-455).

    ApiError INVALID_REPLICA_ASSIGNMENT.
    """
    if not replicas or len(set(replicas)) != len(replicas):
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "Duplicate or no replicas")
    for broker in replicas:
        if broker not in cluster.brokers:
            message = (
                f"The manual partition assignment includes broker {broker}, but no such broker is registered."
            )
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    for broker in replicas:
        if broker not in partition.replicas:
            log = partition.logs[broker] = partition.topic.new_log(broker)
            log.begin_at(partition.log.start_offset)
            partition.replicas = [*partition.replicas, broker]
            follower = partition.followers[broker] = Follower(broker, log, NEVER_MS)
            follower.cut = True
            follower.state = FollowerState.PAUSED
            partition.set_follower(broker, FollowerState.BEHIND)
    if partition.policies.reassignment_bumps_epoch and partition.leader != NO_LEADER:
        partition.bump_epoch()
    partition.replicas = list(replicas)
    partition.isr = [r for r in replicas if r in partition.isr]
    for broker in set(partition.logs) - set(replicas):
        if broker != partition.leader:
            del partition.logs[broker]
            partition.followers.pop(broker, None)
    if partition.leader not in replicas:
        old = partition.leader
        elect(cluster, partition)
        partition.logs.pop(old, None)
        partition.followers.pop(old, None)
    partition.advance_high_watermark()


def _partitions(cluster: "Cluster") -> "Iterator[Partition]":
    for topic in cluster.topics.values():
        yield from topic.partitions
