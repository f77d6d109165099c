"""Who is in sync: which followers may join the ISR, and which leave it because they lag."""

from typing import TYPE_CHECKING, Final

from ..policies.followers.isr_entry import isr_entry
from .follower import Follower, FollowerState

if TYPE_CHECKING:
    from .partition import Partition

_ORDERED_SINCE: Final = (4, 2)


def lag_ms(partition: "Partition") -> int:
    """`replica.lag.time.max.ms`."""
    return partition.environment.configs.broker_int("replica.lag.time.max.ms")


def is_joining(partition: "Partition", follower: Follower) -> bool:
    """Whether the high watermark waits for a follower that is not in the ISR yet."""
    cluster = partition.topic.cluster
    late = cluster.environment.now_ms - follower.caught_up_ms > lag_ms(partition)
    return not late and not cluster.brokers[follower.broker].fenced


def may_join(partition: "Partition", broker: int, offset: int) -> bool:
    """Whether a follower that has all below `offset` joins the ISR (KAFKA-7128)."""
    brokers = partition.topic.cluster.brokers
    if brokers[broker].fenced or not brokers[partition.leader].hears_controller:
        return False
    if partition.policies[isr_entry] == "high-watermark":
        return offset >= partition.log.high_watermark
    return offset >= max(partition.log.high_watermark, partition.epoch_start_offset)


def joined(partition: "Partition", broker: int) -> list[int]:
    """The ISR with one more: the leader puts it last, or since 4.2, out of a hash table, in the order of ids
    (`Partition.prepareIsrExpand`)."""
    isr = [*partition.isr, broker]
    return sorted(isr) if partition.topic.cluster.release.number >= _ORDERED_SINCE else isr


def drop_late(partition: "Partition") -> bool:
    """Takes followers from the ISR that lag; whether others may come to."""
    cluster = partition.topic.cluster
    leader = cluster.brokers.get(partition.leader)
    if leader is None or not leader.online:
        return False
    if not leader.hears_controller or partition.leader in partition.views:
        return True
    end, longest_ms = partition.log.end_offset, lag_ms(partition)
    late = [
        follower.broker
        for follower in partition.followers.values()
        if follower.broker in partition.isr
        and follower.end_offset != end
        and cluster.environment.now_ms - follower.caught_up_ms > longest_ms
    ]
    if late:
        cluster.shrink_isr(partition, late)
    partition.advance_high_watermark()
    resting = (f for f in partition.followers.values() if f.state is not FollowerState.IN_STEP)
    return any(follower.broker in partition.isr for follower in resting)


def at_rest(partition: "Partition") -> bool:
    """Whether no follower can come to lag, nor stop holding the high watermark, before the next append."""
    end = partition.log.end_offset
    return all(
        follower.end_offset == end and follower.state is not FollowerState.EXTERNAL
        if follower.broker in partition.isr
        else not is_joining(partition, follower)
        for follower in partition.followers.values()
    )
