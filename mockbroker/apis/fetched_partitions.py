"""What a Fetch reads of the partitions that it names."""

from collections.abc import Generator, Iterable
from typing import Final, NamedTuple

from ..acls import Operation, ResourceType
from ..cluster.call import Call
from ..cluster.fetch_session import Key
from ..cluster.fetch_sessions import FetchContext
from ..policies.fetching.fetch_of_unknown_partition import fetch_of_unknown_partition
from ..policies.fetching.fetch_past_end import fetch_past_end
from ..policies.fetching.follower_reads import follower_reads
from ..policies.fetching.preferred_replica_wait import preferred_replica_wait
from ..portions import portions
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import LeaderIdAndEpoch
from ..protocol.messages.fetch import NO_DIVERGENCE, FetchPartition, FetchRequest, PartitionData
from ..replication import reading
from ..replication.partition import Partition
from ..replication.topic_stats import TopicStats

FUTURE_REPLICA: Final = -3
_FOLLOWER_FETCH_VERSION: Final = 11
_WHOLE_BATCHES_SINCE: Final = 3
"""Since then a first batch is whole, even if it is larger than was asked for (KIP-74)."""
_LEADER_TOLD: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
"""Errors for which the answer names the leader since v16 (KIP-951)."""
READ_PER_PART: Final = 8
"""A replica is made when it is read for the first time."""
Results = list[tuple[Key, PartitionData]]


def resolve(call: Call, context: FetchContext, key: Key) -> tuple[Partition | None, ErrorCode]:
    name, topic_id, index = key
    if call.version >= 13:
        topic = call.cluster.topic_ids.get(topic_id) if topic_id else None
        if topic is None:
            known = context.knew(key)
            return None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if known else ErrorCode.UNKNOWN_TOPIC_ID
        context.know(key)
    else:
        topic = call.cluster.topics.get(name)
    if call.asker is not None and not _may_read(call, context, topic.name if topic else name):
        return None, ErrorCode.TOPIC_AUTHORIZATION_FAILED
    partition = call.partition(topic, index)
    return partition, ErrorCode.NONE if partition else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _may_read(call: Call, context: FetchContext, topic: str) -> bool:
    if call.asker is None:
        return True
    if context.request.replica_state.replica_id >= 0:
        return call.asker.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER)
    return call.asker.may(Operation.READ, ResourceType.TOPIC, topic)


class Read(NamedTuple):
    """What can be read now, its size in bytes, whether it has to be answered at once, the partitions, and the
    size of what was read from each."""

    results: Results
    size: int
    at_once: bool
    partitions: dict[Key, Partition]
    sizes: list[tuple[TopicStats, int]]


class Reading:
    """Reads all that a request asks for, some partitions after others.

    When a waiting request is read `again`, the leader learns nothing more about a follower. Unknown topic ids
    and then unknown partitions come last in the answer, which they don't hasten while there are others.
    """

    __slots__ = (
        "_again",
        "_at_once",
        "_call",
        "_context",
        "_left",
        "_missing",
        "_size",
        "_whole_first",
        "partitions",
        "results",
        "sizes",
    )

    def __init__(self, call: Call, context: FetchContext, again: bool) -> None:
        self._call = call
        self._context = context
        self._again = again
        self._whole_first = call.version >= _WHOLE_BATCHES_SINCE
        self._left = context.request.max_bytes
        self._size = 0
        self._at_once = False
        self._missing: Results = []
        self.results: Results = []
        self.partitions: dict[Key, Partition] = {}
        self.sizes: list[tuple[TopicStats, int]] = []

    def take(self, asked_for: Iterable[tuple[Key, FetchPartition]]) -> None:
        """Reads these partitions."""
        call, context, again, left, size = self._call, self._context, self._again, self._left, self._size
        request = context.request
        for key, asked in asked_for:
            partition, error = resolve(call, context, key)
            if partition is None:
                # A topic that is deleted while the request waits fails when it is read, not when it is looked
                # up.
                awaited = again and key in context.awaited
                aborted = None if awaited else call.policies[fetch_of_unknown_partition]
                self._missing.append((key, reading.refused(asked.partition, error, aborted)))
                continue
            first = size == 0 and self._whole_first
            result = read_partition(call, request, partition, asked, left, first, again)
            if not self._whole_first and not result.records and not result.error_code:
                _cut_first(request, partition, asked, result)
            self.results.append((key, result))
            self.partitions[key] = partition
            if (
                result.error_code
                or result.diverging_epoch is not NO_DIVERGENCE
                or (result.preferred_read_replica >= 0 and call.policies[preferred_replica_wait] == "at-once")
            ):
                self._at_once = True
            elif result.records:
                read = sum(map(len, result.records))
                size += read
                self.sizes.append((partition.stats, read))
                left -= read
            elif _past_end(call, request, partition, asked.fetch_offset, result):
                self._at_once = True
            left = max(0, left)
        self._left, self._size = left, size

    def whole(self, others: bool = False) -> Read:
        """What was read. `others` says whether there are partitions that did not have to be read."""
        missing = self._missing
        if missing:
            missing.sort(key=lambda found: found[1].error_code != ErrorCode.UNKNOWN_TOPIC_ID)
        at_once = self._at_once or not (self.results or others)
        return Read(self.results + missing, self._size, at_once, self.partitions, self.sizes)


def read(call: Call, context: FetchContext, again: bool = False) -> Read:
    """Reads everything at once."""
    found = Reading(call, context, again)
    found.take(context.partitions().items())
    return found.whole()


def read_in_parts(call: Call, context: FetchContext, again: bool = False) -> Generator[None, None, Read]:
    """As `read`, for requests of many partitions."""
    found = Reading(call, context, again)
    for few in portions(list(context.partitions().items()), READ_PER_PART):
        found.take(few)
        yield
    return found.whole()


def _cut_first(
    request: FetchRequest, partition: Partition, asked: FetchPartition, result: PartitionData
) -> None:
    """Has the beginning of a batch that does not fit, from which older consumers learn that it is too
    large."""
    log = partition.log
    end = log.end_offset if request.replica_state.replica_id >= 0 else result.high_watermark
    if asked.fetch_offset < end and asked.partition_max_bytes > 0:
        first = log.batches_from(asked.fetch_offset, 1)
        result.records = [memoryview(each)[: asked.partition_max_bytes] for each in first]


def _past_end(
    call: Call, request: FetchRequest, partition: Partition, offset: int, result: PartitionData
) -> bool:
    """Whether a consumer is answered at once because it asks beyond what it may read."""
    end = result.last_stable_offset if request.isolation_level else result.high_watermark
    if offset <= end or request.replica_state.replica_id >= 0:
        return False
    base = partition.log.batch_base(offset)
    return partition.policies[fetch_past_end](offset, base, end)


def read_partition(
    call: Call,
    request: FetchRequest,
    partition: Partition,
    asked: FetchPartition,
    left: int,
    first: bool,
    again: bool,
) -> PartitionData:
    """What can be read of a partition that the broker knows, at most `left` bytes, but one batch in any case
    if it is the `first`."""
    replica = request.replica_state.replica_id
    # Older consumers might not expect it (`FetchParams.fetchOnlyLeader`).
    follower_may_serve = call.version >= _FOLLOWER_FETCH_VERSION or replica == FUTURE_REPLICA
    result = reading.read(
        partition,
        asked,
        replica=replica,
        committed=bool(request.isolation_level),
        followers_serve=follower_may_serve and call.policies[follower_reads] == "served",
        rack=request.rack_id,
        max_bytes=left,
        at_least_one=first,
    )
    if result.error_code:
        if call.version >= 16 and result.error_code in _LEADER_TOLD:
            result.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
        elif replica < 0 and result.error_code is ErrorCode.OFFSET_OUT_OF_RANGE:
            call.cluster.notes.beyond(
                call.client_id, partition.topic.name, partition.index, asked.fetch_offset
            )
    elif replica >= 0 and not again:
        partition.stand_in(replica)
        partition.heard(replica, asked, result)
    return result
