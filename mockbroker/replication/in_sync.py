"""The ISR: which followers may join it, and which leave it because they lag."""

from ..policies.followers.isr_entry import isr_entry
from ..policies.followers.joined_isr import joined_isr
from .replica import Replica


def may_join(partition: Replica, broker: int, offset: int) -> bool:
    """Whether a follower that has everything below `offset` may join the ISR (KAFKA-7128)."""
    if partition.host.is_fenced(broker):
        return False
    if partition.policies[isr_entry] == "high-watermark":
        return offset >= partition.log.high_watermark
    return offset >= max(partition.log.high_watermark, partition.epoch_start_offset)


def joined(partition: Replica, broker: int) -> list[int]:
    """The ISR with one more member: the leader adds it at the end; since 4.2 the ISR comes out of a hash
    table, in the order of ids (`Partition.prepareIsrExpand`)."""
    isr = [*partition.isr, broker]
    return sorted(isr) if partition.policies[joined_isr] == "by-id" else isr


class IsrCheck:
    """Checks for followers that lag, every half `replica.lag.time.max.ms`, while there may be any."""

    __slots__ = ("_planned", "_rested_ms")

    def __init__(self) -> None:
        self._planned = False
        self._rested_ms: int | None = None

    def plan(self, partition: Replica) -> None:
        """The leader checks again, because there may be followers that lag."""
        if not self._planned and partition.followers and not partition.deleted:
            self._planned = True
            environment, delay_ms = partition.environment, max(1, partition.longest_lag_ms // 2)
            if self._rested_ms is not None:
                delay_ms -= (environment.now_ms - self._rested_ms) % delay_ms
                self._rested_ms = None
            environment.after(delay_ms, lambda: self._look(partition))

    def _look(self, partition: Replica) -> None:
        self._planned = False
        if not partition.leads or not partition.host.online or not _drop_late(partition):
            return
        if _at_rest(partition):
            # The checks keep their rhythm when something is appended.
            self._rested_ms = partition.environment.now_ms
        else:
            self.plan(partition)


def _drop_late(partition: Replica) -> bool:
    """Removes followers that lag from the ISR; returns whether others may begin to lag."""
    end = partition.log.end_offset
    late = [
        follower.broker
        for follower in partition.followers.values()
        if follower.broker in partition.isr and follower.end_offset != end and partition.lags(follower)
    ]
    if late:
        stay = [each for each in partition.isr if each not in late]
        if not partition.host.peers.alter_isr(partition, stay):
            return True
    partition.advance_high_watermark()
    for follower in partition.followers.values():
        if follower.replica is None and follower.broker in partition.isr:
            return True
    return False


def _at_rest(partition: Replica) -> bool:
    """Whether, before the next append, no follower can begin to lag or let the high watermark advance."""
    end = partition.log.end_offset
    return all(
        follower.end_offset == end if follower.broker in partition.isr else not partition.is_joining(follower)
        for follower in partition.followers.values()
    )
