"""Fetch (1): reads batches, waiting for them if need be (KIP-74, KIP-227, KIP-320, KIP-392, KIP-516)."""

from collections.abc import Callable
from typing import NamedTuple

from ..cluster.call import Call
from ..cluster.fetch_sessions import FetchContext, Key
from ..outcome import PARKED
from ..policies.fetching.failed_fetch_records import failed_fetch_records
from ..policies.fetching.fetch_of_unknown_partition import fetch_of_unknown_partition
from ..policies.fetching.fetch_past_end import fetch_past_end
from ..policies.fetching.follower_reads import follower_reads
from ..policies.fetching.preferred_replica_wait import preferred_replica_wait
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import (
    NO_DIVERGENCE,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
    ReplicaState,
)
from ..replication import reading
from ..replication.partition import Partition
from ..replication.topic_stats import TopicStats
from ..replication.waiters import Waiters
from .leaders import fetch_endpoints
from .registry import handles

_FOLLOWER_FETCH_VERSION = 11
_ISOLATION_LEVELS = (0, 1)
_FUTURE_REPLICA = -3
_DIVERGES_SINCE = 12
_LEADER_TOLD = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
"""Errors for which the answer names the leader since v16 (KIP-951)."""
Results = list[tuple[Key, PartitionData]]


@handles(ApiKey.FETCH)
def fetch(call: Call, request: FetchRequest) -> object:
    if call.version < 15 and request.replica_id != request.replica_state.replica_id:
        request.replica_state = ReplicaState(request.replica_id)
    context = call.broker.sessions.context(request, call.version)
    if context.error:
        failed = context.error is ErrorCode.UNKNOWN_SERVER_ERROR
        return _failed(call, request) if failed else FetchResponse(error_code=context.error)
    if request.isolation_level not in _ISOLATION_LEVELS and _any_exists(call, context):
        return _failed(call, request)
    if request.replica_state.replica_id == _FUTURE_REPLICA:
        # A future replica reads up to the log end, whatever it asks for (`FetchIsolation.of`).
        request.isolation_level = 0
    # A Fetch does not wait for more than it takes (`KafkaApis.handleFetchRequest`).
    request.min_bytes = min(request.min_bytes, request.max_bytes)
    read = _read(call, context)
    if read.at_once or request.max_wait_ms <= 0 or read.size >= request.min_bytes:
        return _in_time(call, context, read)
    waiting = _Waiting(call, context, read)
    if waiting.falls_behind():
        return _in_time(call, context, read)
    waiting.begin()
    return PARKED


def _any_exists(call: Call, context: FetchContext) -> bool:
    return any(_resolve(call, context, key)[0] is not None for key in context.partitions())


def _failed(
    call: Call, request: FetchRequest, error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
) -> FetchResponse:
    """The error is at the top, and with the partitions in versions that have no error there."""
    answer = FetchResponse(error_code=error, session_id=request.session_id)
    if call.version >= 13:
        return answer
    records = None if call.policies[failed_fetch_records] == "null" else ()
    for topic in request.topics:
        partitions = [reading.refused(p.partition, error, ()) for p in topic.partitions]
        for partition in partitions:
            partition.records = records
        answer.responses.append(FetchableTopicResponse(topic.topic_id, partitions, topic.topic))
    return answer


class _Waiting:
    """A Fetch that waits until there are enough bytes or its time is over."""

    __slots__ = ("call", "context", "follower", "keys", "missing", "partitions", "timer")

    def __init__(self, call: Call, context: FetchContext, read: "_Read") -> None:
        self.call = call
        self.context = context
        self.missing = context.request.min_bytes - read.size
        # What is to be read from another replica is not waited for here.
        self.keys = [key for key, result in read.results if result.preferred_read_replica < 0]
        self.partitions: list[Partition] = []
        self.follower = context.request.replica_state.replica_id >= 0
        asked, awaited = context.partitions(), {}
        for key in self.keys:
            partition = read.partitions.get(key)
            if partition is not None:
                self.partitions.append(partition)
                awaited[key] = self._place(partition, asked[key].fetch_offset)
        context.awaited = awaited

    def begin(self) -> None:
        """Starts waiting."""
        self.timer = self.call.environment.wait(self.context.request.max_wait_ms, self.complete)
        for partition in self.partitions:
            self._waiting_at(partition).add(self.arrived)
        self.call.cluster.notes.fetch_waits(self.call.client_id, self.context)

    def _place(self, partition: Partition, offset: int) -> tuple[int, int]:
        """Base offsets of the batch that holds `offset` and of its segment."""
        log = partition.log
        base = log.batch_base(offset)
        return base, log.segment_of(base)

    def falls_behind(self) -> bool:
        """Whether what can be read ends in a later segment than it began in: nothing more will come there."""
        places = self.context.awaited.values()
        for partition, (base, segment) in zip(self.partitions, places, strict=True):
            log = partition.log
            if len(log.segments.all) == 1:
                continue
            end = log.high_watermark
            if self.follower:
                end = log.end_offset
            elif self.context.request.isolation_level:
                end = log.last_stable_offset
            if base < end and segment < log.segment_of(end):
                return True
        return False

    def _waiting_at(self, partition: Partition) -> Waiters[Callable[[int], None]]:
        return partition.waiting_followers if self.follower else partition.waiting

    def arrived(self, size: int) -> None:
        """`size` more bytes can be read; 0 if something else about a partition changed.

        It continues to wait unless there is now an error, a divergence, another segment or enough to read
        (`DelayedFetch.tryComplete`). Whether a read_committed consumer can read the bytes is not regarded.
        """
        environment = self.call.environment
        before, environment.at_work = environment.at_work, self.call
        try:
            read = None
            if size and not self.context.request.isolation_level:
                self.missing -= size
            else:
                read = _read(self.call, self.context, again=True)
                done = read.at_once or self._gone(read) or self.falls_behind()
                self.missing = 0 if done else self.context.request.min_bytes - read.size
            if self.missing <= 0:
                self.complete(read)
        except Exception as error:  # it is told by another's request, which goes on
            self._forget()
            environment.fail(error, self.call)
        finally:
            environment.at_work = before

    def _gone(self, read: "_Read") -> bool:
        """Whether a partition was deleted, or the broker learned of another leader."""
        return [read.partitions[key] for key in self.keys if key in read.partitions] != self.partitions

    def _forget(self) -> None:
        self.timer.cancel()
        for partition in self.partitions:
            self._waiting_at(partition).discard(self.arrived)

    def complete(self, read: "_Read | None" = None) -> None:
        """Answers with what was `read` just now; otherwise it is read now."""
        self._forget()
        read = read or _read(self.call, self.context, again=True)
        answer = _in_time(self.call, self.context, read)
        if isinstance(answer, FetchResponse) and not answer.error_code:
            # A broker that fails when the wait is over never answers.
            self.call.answer(answer)


def _resolve(call: Call, context: FetchContext, key: Key) -> tuple[Partition | None, ErrorCode]:
    name, topic_id, index = key
    if call.version >= 13:
        topic = call.cluster.topic_ids.get(topic_id) if topic_id else None
        if topic is None:
            known = context.knew(key)
            return None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if known else ErrorCode.UNKNOWN_TOPIC_ID
        context.know(key)
    else:
        topic = call.cluster.topics.get(name)
    partition = call.partition(topic, index)
    return partition, ErrorCode.NONE if partition else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class _Read(NamedTuple):
    """What can be read now, its size in bytes, whether it has to be answered at once, the partitions, and the
    size of what was read from each."""

    results: Results
    size: int
    at_once: bool
    partitions: dict[Key, Partition]
    sizes: list[tuple[TopicStats, int]]


def _read(call: Call, context: FetchContext, again: bool = False) -> _Read:
    """Reads all that the request asks for.

    When a waiting request is read `again`, the leader learns nothing more about a follower. Unknown topic ids
    and then unknown partitions come last in the answer, which they don't hasten while there are others.
    """
    request = context.request
    left, size, at_once = request.max_bytes, 0, False
    results: Results = []
    missing: Results = []
    partitions: dict[Key, Partition] = {}
    sizes: list[tuple[TopicStats, int]] = []
    for key, asked in context.partitions().items():
        partition, error = _resolve(call, context, key)
        if partition is None:
            # A topic that is deleted while the request waits fails when it is read, not when it is looked up.
            awaited = again and key in context.awaited
            aborted = None if awaited else call.policies[fetch_of_unknown_partition]
            missing.append((key, reading.refused(asked.partition, error, aborted)))
            continue
        result = _read_partition(call, request, partition, asked, left, size == 0, again)
        results.append((key, result))
        partitions[key] = partition
        if (
            result.error_code
            or result.diverging_epoch is not NO_DIVERGENCE
            or (result.preferred_read_replica >= 0 and call.policies[preferred_replica_wait] == "at-once")
        ):
            at_once = True
        elif result.records:
            read = sum(map(len, result.records))
            size += read
            sizes.append((partition.stats, read))
            left -= read
        elif _past_end(call, request, partition, asked.fetch_offset, result):
            at_once = True
        left = max(0, left)
    if missing:
        missing.sort(key=lambda found: found[1].error_code != ErrorCode.UNKNOWN_TOPIC_ID)
    return _Read(results + missing, size, at_once or not results, partitions, sizes)


def _past_end(
    call: Call, request: FetchRequest, partition: Partition, offset: int, result: PartitionData
) -> bool:
    """Whether a consumer is answered at once because it asks beyond what it may read."""
    end = result.last_stable_offset if request.isolation_level else result.high_watermark
    if offset <= end or request.replica_state.replica_id >= 0:
        return False
    base = partition.log.batch_base(offset)
    return partition.policies[fetch_past_end](offset, base, end)


def _read_partition(
    call: Call,
    request: FetchRequest,
    partition: Partition,
    asked: FetchPartition,
    left: int,
    first: bool,
    again: bool,
) -> PartitionData:
    replica = request.replica_state.replica_id
    # Older consumers might not expect it (`FetchParams.fetchOnlyLeader`).
    follower_may_serve = call.version >= _FOLLOWER_FETCH_VERSION or replica == _FUTURE_REPLICA
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


def _in_time(call: Call, context: FetchContext, read: _Read) -> object:
    """The answer, delayed if it is for a client that acts as a slow follower."""
    replica, results = context.request.replica_state.replica_id, read.results
    if replica < 0:
        to_consumer = _answer(call, context, results)
        if not to_consumer.error_code:
            for stats, size in read.sizes:
                stats.bytes_out += size
        return to_consumer
    partitions = [_resolve(call, context, key)[0] for key, _ in results]
    delay_ms = max((p.delay_of(replica) for p in partitions if p is not None), default=0)
    if not delay_ms:
        return _answer(call, context, results)

    def answer() -> None:
        for partition, (_, result) in zip(partitions, results, strict=True):
            if partition is not None:
                partition.refresh(result)
        call.answer(_answer(call, context, results))

    call.environment.wait(delay_ms, answer)
    return PARKED


def _answer(call: Call, context: FetchContext, results: Results) -> FetchResponse:
    results = context.answered(results)
    if call.version >= 13 and any(topic_id is None for (_, topic_id, _), _ in results[:-1]):
        # A broker can't tell whether the following partitions are of the same topic
        # (`FetchResponse.matchingTopic`).
        return _failed(call, context.request)
    if call.version < _DIVERGES_SINCE and any(
        each.diverging_epoch is not NO_DIVERGENCE for _, each in results
    ):
        # A newer request gave this session a last fetched epoch.
        return _failed(call, context.request, ErrorCode.UNSUPPORTED_VERSION)
    answer = FetchResponse(session_id=context.session.id if context.session else 0)
    leaders = set()
    for (name, topic_id, _), result in results:
        last = answer.responses[-1] if answer.responses else None
        if last is None or last.topic != name or last.topic_id != topic_id:
            last = FetchableTopicResponse(topic_id, [], name)
            answer.responses.append(last)
        last.partitions.append(result)
        if result.current_leader.leader_id >= 0:
            leaders.add(result.current_leader.leader_id)
    if leaders and call.version >= 16:
        answer.node_endpoints = fetch_endpoints(call, leaders)
    return answer
