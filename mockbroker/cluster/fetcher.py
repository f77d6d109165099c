"""What a follower does: cut its log for a new leader, fetch, append, and fail
(`AbstractFetcherThread.scala`, `ReplicaFetcherThread.scala`)."""

from typing import TYPE_CHECKING

from ..policies.epochs.empty_epochs import empty_epochs
from ..policies.followers.diverging_fetch import diverging_fetch
from ..policies.followers.fetch_log_start_offset import fetch_log_start_offset
from ..policies.followers.fetcher_failure import fetcher_failure
from ..policies.followers.follower_ahead import follower_ahead
from ..policies.followers.follower_log_start_offset import follower_log_start_offset
from ..policies.followers.follower_truncation import follower_truncation
from ..policies.followers.unaligned_log_start import unaligned_log_start
from ..protocol import record_batch
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import NO_DIVERGENCE, FetchPartition, PartitionData
from . import reading
from .follower import Follower, FollowerState

if TYPE_CHECKING:
    from ..policies import Policies
    from .partition import Partition


def start(partition: "Partition", follower: Follower) -> None:
    """Lets a follower that is BEHIND or SLOW fetch: the one catches up at once, the other step by step.

    It goes on trying while nobody answers at the leader's: until the next one leads.
    """
    if not partition.led or follower.state not in (FollowerState.BEHIND, FollowerState.SLOW):
        return
    dead = partition.topic.cluster.brokers[follower.broker].dead_fetchers.get(partition.leader)
    if dead is not None:
        follower.fail(dead)
    elif _cut(partition, follower):
        if follower.state is FollowerState.SLOW:
            _fetch_slowly(partition, follower)
        while follower.state is FollowerState.BEHIND:
            _fetch(partition, follower)


def _policies(partition: "Partition", follower: Follower) -> "Policies":
    return partition.environment.policies.at(partition.topic.name, follower.broker)


# -- before the first fetch


def _cut(partition: "Partition", follower: Follower) -> bool:
    """Cuts the follower's log as it does for a new leader; False when it can't come to an end."""
    log, policies = follower.log, _policies(partition, follower)
    while not follower.cut:
        offset, follower.cut = policies[follower_truncation](log, partition.end_offset_for_epoch)
        before = log.end_offset, log.latest_epoch
        if offset < log.end_offset or not follower.cut:
            log.truncate(offset, keep_empty_epochs=policies[empty_epochs] == "kept")
        if not follower.cut and (log.end_offset, log.latest_epoch) == before:
            follower.fail(f"asks for epoch {log.latest_epoch} again and again (KAFKA-10706)")
            return False
    return True


# -- fetching


def _ask(partition: "Partition", follower: Follower) -> PartitionData:
    """The leader's answer to the next fetch, of which it has heard then."""
    log, cluster = follower.log, partition.topic.cluster
    by_epoch = _policies(partition, follower).named(follower_truncation) == "diverging-epoch"
    asked = FetchPartition(
        partition.index,
        partition.leader_epoch,
        log.end_offset,
        log.latest_epoch if by_epoch else -1,
        log.start_offset,
        cluster.environment.configs.broker_int("replica.fetch.max.bytes"),
    )
    result = reading.read(partition, partition.leader, asked, replica=follower.broker)
    heard(partition, follower.broker, asked, result)
    return result


def heard(partition: "Partition", broker: int, asked: FetchPartition, result: PartitionData) -> None:
    """The leader takes note of how far a follower is, once it has read for it."""
    counts = result.diverging_epoch is NO_DIVERGENCE or partition.policies[diverging_fetch] == "counted"
    if not result.error_code and counts:
        partition.follower_fetched(broker, asked.fetch_offset, asked.log_start_offset)


def refresh(partition: "Partition", result: PartitionData) -> None:
    """Brings an answer that was held back up to date, so far as leaders do (KAFKA-7104)."""
    if not result.error_code and partition.policies[fetch_log_start_offset] == "live":
        result.high_watermark = partition.log.high_watermark
        result.log_start_offset = partition.log.start_offset


def _fetch(partition: "Partition", follower: Follower) -> None:
    end_offset = partition.log.end_offset
    result = _ask(partition, follower)
    progress = _take(partition, follower, result)
    if progress or follower.state is not FollowerState.BEHIND:
        return
    if follower.log.end_offset == partition.log.end_offset:
        follower.state = FollowerState.IN_STEP
    elif partition.log.end_offset == end_offset:
        # Otherwise the leader went on as it heard of the fetch: there is more to ask for.
        follower.fail(f"gets no further: {ErrorCode(result.error_code).name}")


def _fetch_slowly(partition: "Partition", follower: Follower) -> None:
    """One fetch that is answered `delay_ms` after it was read, and so on; while there is nothing new, it
    waits."""
    result, turn = _ask(partition, follower), follower.turn

    def current() -> bool:
        mine = partition.followers.get(follower.broker) is follower and follower.turn == turn
        return mine and follower.state is FollowerState.SLOW and partition.led

    def arrive() -> None:
        if current():
            refresh(partition, result)
            _take(partition, follower, result)
        if current():
            _fetch_slowly(partition, follower)

    def more(size: int) -> None:
        partition.waiting_followers.discard(more)
        if current():
            _fetch_slowly(partition, follower)

    if _is_news(follower, result):
        partition.environment.wait(follower.delay_ms, arrive)
    else:
        partition.waiting_followers.add(more)


def _is_news(follower: Follower, result: PartitionData) -> bool:
    log = follower.log
    if result.error_code or result.records or result.diverging_epoch is not NO_DIVERGENCE:
        return True
    return (result.high_watermark, result.log_start_offset) != (log.high_watermark, log.start_offset)


# -- taking in what was fetched


def _take(partition: "Partition", follower: Follower, result: PartitionData) -> bool:
    """Does with an answer what a follower does; False when there was nothing new, or it failed."""
    log = follower.log
    if result.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
        return _out_of_range(partition, follower)
    if result.error_code:
        return False
    if result.diverging_epoch is not NO_DIVERGENCE:
        epoch, end_offset = result.diverging_epoch.epoch, result.diverging_epoch.end_offset
        own_epoch, own_end = log.epoch_end(epoch)
        was = log.end_offset, log.latest_epoch
        log.truncate(min(end_offset, own_end) if own_epoch >= 0 else end_offset)
        if (log.end_offset, log.latest_epoch) == was:
            follower.fail(f"diverges at epoch {epoch}, offset {end_offset}, and has nothing to cut there")
        return True
    before = log.end_offset, log.high_watermark, log.start_offset
    fetched = [batch for batch in result.records or () if record_batch.is_whole(batch)]
    if fetched:
        batch = fetched[0]
        base_offset = record_batch.header_of(batch).base_offset
        if base_offset < log.end_offset:
            if (
                not log.straddled_by(batch)
                or _policies(partition, follower)[unaligned_log_start] == "refused"
            ):
                reason = f"got a batch from {base_offset} on, below its log end offset {log.end_offset}"
                fail(partition, follower, reason)
                return False
            log.begin_at(base_offset)
        log.append_fetched(fetched, partition.environment.now_ms)
    log.high_watermark = min(result.high_watermark, log.end_offset)
    log.producers.transactions.decided(log.high_watermark)
    leaders_start = result.log_start_offset
    if leaders_start > log.start_offset:
        start_offset = _policies(partition, follower)[follower_log_start_offset](
            leaders_start, log.high_watermark
        )
        if start_offset is None:
            fail(
                partition,
                follower,
                f"cannot increment the log start offset to {leaders_start}: it is larger than the high "
                f"watermark {log.high_watermark}",
            )
            return False
        log.advance_start(start_offset)
        partition.topic.cluster.cleanup.log_start_moved(partition)
    return (log.end_offset, log.high_watermark, log.start_offset) != before


def _out_of_range(partition: "Partition", follower: Follower) -> bool:
    """Beyond the leader's end it is cut there, or its broker exits; below its start it begins again there."""
    leader, log = partition.log, follower.log
    if log.end_offset > leader.end_offset:
        halts = _policies(partition, follower)[follower_ahead] == "halts"
        if halts and not partition.topic.settings.unclean_leader_election:
            follower.fail(f"log end offset {log.end_offset} is beyond the leader's {leader.end_offset}")
            partition.topic.cluster.halt(follower.broker)
            return False
        log.truncate(leader.end_offset)
    elif log.end_offset < leader.start_offset:
        log.begin_at(leader.start_offset)
    else:
        return False
    return True


def fail(partition: "Partition", follower: Follower, reason: str) -> None:
    """The fetcher dies, alone or with all that its thread fetches from this leader (KIP-461)."""
    follower.fail(reason)
    if _policies(partition, follower)[fetcher_failure] == "partition":
        return
    cluster = partition.topic.cluster
    failure = f"its fetcher died with {partition.topic.name}-{partition.index}: {reason}"
    cluster.brokers[follower.broker].dead_fetchers[partition.leader] = failure
    for other in cluster.partitions():
        fellow = other.followers.get(follower.broker)
        if other.leader == partition.leader and fellow is not None and fellow is not follower:
            other.set_follower(follower.broker, FollowerState.FAILED)
            fellow.failure = failure
