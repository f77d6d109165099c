"""Appends what a broker writes itself: markers, and records of the internal topics."""

from typing import TYPE_CHECKING

from ..protocol.record_batch import header_of, place
from .follower import FollowerState

if TYPE_CHECKING:
    from ..protocol.record_batch import Batch
    from .partition import Partition


def append(partition: "Partition", batch: "Batch") -> int:
    """Appends to the leader's log, whatever its topic; the offset behind the batch.

    Producer state comes first: whom the append wakes must see a transaction as it is then.
    """
    log = partition.log
    place(batch, log.end_offset, partition.leader_epoch)
    header = header_of(batch)
    if header.producer_id >= 0:
        log.producers.transactions.decided(log.high_watermark)
        log.producers.appended_batch(batch, header)
        for follower in partition.followers.values():
            if follower.state is FollowerState.IN_STEP:
                follower.log.producers.transactions.decided(follower.log.high_watermark)
                follower.log.producers.appended_batch(batch, header)
    partition.append(batch, header.base_offset, header.last_offset_delta + 1, header.max_timestamp)
    return header.base_offset + header.last_offset_delta + 1
