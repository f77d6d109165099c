"""Fetch (1): reads batches, waiting for them if need be (KIP-74, KIP-227, KIP-320, KIP-392, KIP-516)."""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Final
from uuid import UUID

from ..cluster.call import Call
from ..cluster.fetch_session import Key
from ..cluster.fetch_sessions import FetchContext
from ..coordinators.reply import Reply
from ..outcome import PARKED, Steps
from ..policies.fetching.failed_fetch_records import failed_fetch_records
from ..policies.fetching.zstd_for_old_readers import zstd_for_old_readers
from ..portions import PORTION, at_once
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import (
    NO_DIVERGENCE,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from ..replication import reading
from .fetch_alone import ZSTD_SINCE, read_alone
from .fetch_waiting import Waiting
from .fetched_in_session import SEVERAL, reading_of
from .fetched_partitions import FUTURE_REPLICA, Read, Results, read, resolve
from .leaders import fetch_endpoints
from .old_fetches import BATCHES_SINCE, in_old_format, not_sent
from .registry import handles

_ISOLATION_LEVELS: Final = (0, 1)
_DIVERGES_SINCE: Final = 12
_LONG: Final = 64
"""A request of more partitions than this is answered in parts."""


def _refused_in_session(call: Call, request: FetchRequest) -> FetchRequest:
    context = at_once(call.broker.sessions.context(request, call.version))
    if context.error:
        raise ApiError(context.error)
    session = context.session
    if session is None:
        return replace(request, session_id=0)
    # What had come to rest is told again, too, once it is no longer refused.
    at_once(session.stir_all())
    code = ErrorCode.UNKNOWN_SERVER_ERROR
    at_once(context.answered([(key, reading.refused(key[2], code)) for key in session.partitions]))
    topics: dict[tuple[str, UUID | None], FetchTopic] = {}
    for name, topic_id, index in session.partitions:
        topic = topics.setdefault((name, topic_id), FetchTopic(topic_id, topic=name))
        topic.partitions.append(FetchPartition(index))
    return replace(request, session_id=session.id, topics=list(topics.values()))


@handles(
    ApiKey.FETCH,
    changes=True,
    source="""KafkaApis.handleFetchRequest, FetchManager.newContext (sessions), ReplicaManager.readFromLog,
        Partition.fetchRecords; REPLICA_NOT_AVAILABLE before 2.6; OFFSET_MOVED_TO_TIERED_STORAGE only to
        followers (KIP-405)""",
    top_retry="""FETCH_SESSION_ID_NOT_FOUND v7+, INVALID_FETCH_SESSION_EPOCH v7+, FETCH_SESSION_TOPIC_ID_ERROR
        v13+""",
    partition_retry="""NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH v9+, UNKNOWN_LEADER_EPOCH v9+,
        KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID v13+,
        INCONSISTENT_TOPIC_ID v13+""",
    partition="""OFFSET_OUT_OF_RANGE, CORRUPT_MESSAGE, UNSUPPORTED_COMPRESSION_TYPE v4-9,
        OFFSET_MOVED_TO_TIERED_STORAGE, TOPIC_AUTHORIZATION_FAILED""",
    in_session=_refused_in_session,
)
def fetch(call: Call, request: FetchRequest) -> object:
    if call.version < 15 and request.replica_id != request.replica_state.replica_id:
        request.replica_state = ReplicaState(request.replica_id)
    if (answered := read_alone(call, request)) is not None:
        return answered
    topics = request.topics
    if len(topics) > 1 and sum([len(topic.partitions) for topic in topics]) > _LONG:
        return call.in_parts(_in_parts(call, request))
    if topics and len(topics[0].partitions) > _LONG:
        return call.in_parts(_in_parts(call, request))
    context = at_once(call.broker.sessions.context(request, call.version))
    refused = _refused(call, context)
    if refused is not None:
        return refused
    if context.size > (SEVERAL if context.incremental else _LONG):
        return call.in_parts(_long(call, context))
    found = read(call, context)
    if _is_enough(request, found):
        return at_once(_in_time(call, context, found))
    waiting = Waiting(
        call, context, found, lambda found: at_once(_answer_late(call, context, found, call.answer))
    )
    if waiting.falls_behind():
        return at_once(_in_time(call, context, found))
    waiting.begin()
    return PARKED


def _refused(call: Call, context: FetchContext) -> FetchResponse | None:
    """The answer to a request that fails as a whole; prepares others for reading."""
    request = context.request
    if context.error:
        failed = context.error is ErrorCode.UNKNOWN_SERVER_ERROR
        return _failed(call, request) if failed else FetchResponse(error_code=context.error)
    if request.isolation_level not in _ISOLATION_LEVELS and _any_exists(call, context):
        return _failed(call, request)
    if request.replica_state.replica_id == FUTURE_REPLICA:
        # A future replica reads up to the log end, whatever it asks for (`FetchIsolation.of`).
        request.isolation_level = 0
    # A Fetch does not wait for more than it takes (`KafkaApis.handleFetchRequest`).
    request.min_bytes = min(request.min_bytes, request.max_bytes)
    return None


def _in_parts(call: Call, request: FetchRequest) -> Steps:
    context = yield from call.broker.sessions.context(request, call.version)
    refused = _refused(call, context)
    return (yield from _long(call, context)) if refused is None else refused


def _is_enough(request: FetchRequest, found: Read) -> bool:
    return found.at_once or request.max_wait_ms <= 0 or found.size >= request.min_bytes


def _long(call: Call, context: FetchContext) -> Steps:
    reading = reading_of(call, context)
    found = yield from reading.read()
    if _is_enough(context.request, found):
        return (yield from reading.end(_in_time(call, context, found)))
    reply: Reply[FetchResponse] = Reply(call)
    waiting = reading.waiting(
        found, lambda found: reading.end(_answer_late(call, context, found, reply.complete))
    )
    yield from waiting.begin_in_parts(found)
    return reply.outcome()


def _answer_late(
    call: Call, context: FetchContext, found: Read, complete: Callable[[FetchResponse], None]
) -> Generator[None, None, None]:
    """A broker that fails when the wait is over never answers."""
    answer = yield from _in_time(call, context, found)
    if isinstance(answer, FetchResponse) and not answer.error_code:
        complete(answer)


def _any_exists(call: Call, context: FetchContext) -> bool:
    return any(resolve(call, context, key)[0] is not None for key in context.partitions())


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


def _in_time(call: Call, context: FetchContext, found: Read) -> Steps:
    """The answer, delayed if it is for a client that acts as a slow follower."""
    replica, results = context.request.replica_state.replica_id, found.results
    if replica < 0:
        to_consumer = yield from _answer(call, context, results)
        if not to_consumer.error_code:
            for stats, size in found.sizes:
                stats.bytes_out += size
        return to_consumer
    partitions = [resolve(call, context, key)[0] for key, _ in results]
    delay_ms = max((p.delay_of(replica) for p in partitions if p is not None), default=0)
    if not delay_ms:
        return (yield from _answer(call, context, results))

    def answer() -> None:
        for partition, (_, result) in zip(partitions, results, strict=True):
            if partition is not None:
                partition.refresh(result)
        call.answer(at_once(_answer(call, context, results)))

    call.environment.wait(delay_ms, answer)
    return PARKED


def _readable(call: Call, key: Key, result: PartitionData) -> PartitionData:
    """Without what is compressed in a way that the client may not know."""
    topic = call.cluster.topics.get(key[0])
    if topic is None or topic.settings.compression_type != "zstd":
        return result
    return not_sent(call, result, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


def _answer(call: Call, context: FetchContext, results: Results) -> Generator[None, None, FetchResponse]:
    results = yield from context.answered(results)
    if call.version >= 13 and any(topic_id is None for (_, topic_id, _), _ in results[:-1]):
        # A broker can't tell whether the following partitions are of the same topic
        # (`FetchResponse.matchingTopic`).
        return _failed(call, context.request)
    if call.version < _DIVERGES_SINCE and any(
        each.diverging_epoch is not NO_DIVERGENCE for _, each in results
    ):
        # A newer request gave this session a last fetched epoch.
        return _failed(call, context.request, ErrorCode.UNSUPPORTED_VERSION)
    if call.version < ZSTD_SINCE and call.policies[zstd_for_old_readers] == "refused":
        results = [(key, _readable(call, key, each)) for key, each in results]
    if call.version < BATCHES_SINCE:
        results = yield from in_old_format(call, context, results)
    answer = FetchResponse(session_id=context.session.id if context.session else 0)
    leaders = set()
    for number, ((name, topic_id, _), result) in enumerate(results, 1):
        if not number % PORTION:
            yield
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
