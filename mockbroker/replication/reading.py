"""What a Fetch reads of one partition, for consumers and followers alike (`Partition.readRecords`)."""

from ..policies.fetching.consumer_read_limit import consumer_read_limit
from ..policies.fetching.fetch_below_log_start import fetch_below_log_start
from ..policies.fetching.fetch_of_no_replica import fetch_of_no_replica
from ..policies.fetching.last_stable_offset import last_stable_offset
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartition,
    PartitionData,
)
from . import replica_selector
from .replica import Replica

CONSUMER = -1


def refused(index: int, error: ErrorCode, aborted: tuple[()] | None = None) -> PartitionData:
    """The answer for a partition that can't be read: all offsets -1."""
    return PartitionData(index, error, -1, -1, -1, aborted_transactions=aborted, records=())


def diverging_epoch(partition: Replica, last_fetched_epoch: int, offset: int) -> tuple[int, int] | None:
    """Where a reader at `offset` with `last_fetched_epoch` diverged from the log (KIP-595): (epoch, end
    offset).

    (-1, -1) if it did not, None if its epoch is unknown.
    """
    epoch, end_offset = partition.end_offset_for_epoch(last_fetched_epoch)
    if epoch == -1 or end_offset == -1:
        return None
    if (
        offset < partition.log.start_offset
        and partition.policies[fetch_below_log_start] == "offset-out-of-range"
    ):
        return None
    if epoch < last_fetched_epoch or end_offset < offset:
        return epoch, end_offset
    return -1, -1


def read(
    partition: Replica,
    asked: FetchPartition,
    *,
    replica: int = CONSUMER,
    committed: bool = False,
    followers_serve: bool = True,
    rack: str = "",
    max_bytes: int = 0x7FFFFFFF,
    at_least_one: bool = True,
    at_once: bool = False,
) -> PartitionData:
    """Its broker's answer: up to the log end offset for a follower (`replica`); for a consumer up to the high
    watermark, or to the last stable offset if `committed`. A consumer in `rack` may be sent to another
    replica. If the records are used `at_once`, before the log changes, they need not be copied."""
    error = partition.check_leader(
        max(asked.current_leader_epoch, -1), any_replica=followers_serve and replica < 0
    )
    policies = partition.policies
    stranger = replica >= 0 and (replica not in partition.replicas or replica == partition.leader)
    if not error and stranger and policies[fetch_of_no_replica] == "refused":
        # The client may have learned of a replica before the leader.
        knows = asked.current_leader_epoch >= 0
        error = ErrorCode.UNKNOWN_LEADER_EPOCH if knows else ErrorCode.NOT_LEADER_OR_FOLLOWER
    if error:
        return refused(asked.partition, error)
    if partition.fetcher is not None and partition.fetcher.source is not None:
        partition.fetcher.source.tell_followers()
    log = partition.log
    offset = asked.fetch_offset
    aborted: list[AbortedTransaction] | None = [] if committed else None
    is_stated = committed or policies[last_stable_offset] == "always"
    result = PartitionData(
        asked.partition,
        0,
        log.high_watermark,
        log.last_stable_offset if is_stated else -1,
        log.start_offset,
        aborted_transactions=aborted,
        records=(),
    )
    if rack and replica < 0 and partition.leads:
        preferred = replica_selector.select(partition, rack, offset)
        if preferred is not None:
            result.preferred_read_replica = preferred
            result.aborted_transactions = None
            return result
    if asked.last_fetched_epoch >= 0:
        diverging = diverging_epoch(partition, asked.last_fetched_epoch, offset)
        if diverging is None:
            return refused(asked.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
        if diverging != (-1, -1):
            result.diverging_epoch = EpochEndOffset(*diverging)
            result.aborted_transactions = None
            return result
    if not log.start_offset <= offset <= log.end_offset:
        return refused(asked.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
    end = log.end_offset if replica >= 0 else log.last_stable_offset if committed else log.high_watermark
    if offset < end == log.high_watermark and policies[consumer_read_limit] == "log-end-offset":
        end = log.end_offset
    if offset < end and not stranger:
        limit = min(asked.partition_max_bytes, max_bytes)
        if limit < 0:
            return refused(asked.partition, ErrorCode.UNKNOWN_SERVER_ERROR)
        read = log.stretch if at_once else log.read
        result.records = read(offset, limit, end, at_least_one)
        if limit and not result.records:
            # A first batch that does not fit is read in part and thrown away, along with what is known about
            # it.
            result.aborted_transactions = None
        if aborted is not None and result.records and log.producers.transactions.aborted:
            upto = log.aborted_upto(result.records)
            aborted += [
                AbortedTransaction(each.producer_id, each.first_offset)
                for each in log.producers.transactions.aborted_in(offset, upto)
            ]
    return result
