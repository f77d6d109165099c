"""`follower-truncation`: where a follower truncates its log before it fetches from a new leader.

With `high-watermark`, before KIP-101, it truncates to its own high watermark: acknowledged records are lost
if it becomes the leader right afterwards. With `epoch-v0` (KIP-101) it truncates to the end of its latest
leader epoch, for which it asks the leader without learning which epoch the answer is about: after two fast
failovers logs stay different. With `epoch` (KIP-279) it asks again until both agree. With `diverging-epoch`
(KIP-595) the answer to its first fetch says where to truncate.
"""

from collections.abc import Callable
from typing import Final, Protocol

from ..behaviour import Behaviour

UNDEFINED: Final = -1


class ReplicaLog(Protocol):
    """A follower's own log."""

    high_watermark: int
    end_offset: int

    @property
    def latest_epoch(self) -> int:
        """The latest cached leader epoch, -1 if there is none."""

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """The highest cached epoch at or below `epoch`, and where it ends; (-1, -1) if none is cached."""


Leader = Callable[[int], tuple[int, int]]
"""OffsetForLeaderEpoch: leader epoch -> (leader epoch, end offset)."""
Answer = Callable[[ReplicaLog, Leader], tuple[int, bool]]
"""(own log, leader) -> (offset to truncate to, whether that is final; if not, it asks again)."""


def to_high_watermark(log: ReplicaLog, leader: Leader) -> tuple[int, bool]:
    return log.high_watermark, True


def by_epoch_v0(log: ReplicaLog, leader: Leader) -> tuple[int, bool]:
    if log.latest_epoch == UNDEFINED:
        return log.high_watermark, True
    _, end_offset = leader(log.latest_epoch)
    return (log.high_watermark if end_offset == UNDEFINED else min(end_offset, log.end_offset)), True


def by_epoch(log: ReplicaLog, leader: Leader) -> tuple[int, bool]:
    """`AbstractFetcherThread.getOffsetTruncationState`."""
    if log.latest_epoch == UNDEFINED:
        return log.high_watermark, True
    epoch, end_offset = leader(log.latest_epoch)
    if end_offset == UNDEFINED:
        return log.high_watermark, True
    own_epoch, own_end = log.epoch_end(epoch)
    if own_epoch == UNDEFINED:
        return min(end_offset, log.end_offset), True
    if own_epoch != epoch:
        return min(own_end, log.end_offset), False
    return min(end_offset, own_end, log.end_offset), True


def by_diverging_epoch(log: ReplicaLog, leader: Leader) -> tuple[int, bool]:
    """`AbstractFetcherThread.partitionFetchState`: without epochs there is nothing to compare."""
    return (log.high_watermark if log.latest_epoch == UNDEFINED else log.end_offset), True


follower_truncation: Final = Behaviour[Answer](
    name="follower-truncation",
    summary="where a follower truncates its log before it fetches from a new leader",
    answers={
        "high-watermark": to_high_watermark,
        "epoch-v0": by_epoch_v0,
        "epoch": by_epoch,
        "diverging-epoch": by_diverging_epoch,
    },
    history=(("0.11", "epoch-v0"), ("2.0", "epoch"), ("2.7", "diverging-epoch")),
    ids=("KIP-101", "KIP-279", "KAFKA-6361", "KIP-595"),
)
