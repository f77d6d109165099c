"""Appends and deletes records as a client would."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from ..apis.produce import ADMIN_CLIENT_ID
from ..cluster.replicas import PATIENCE_S, describe
from ..cluster.topic_auto_creation import auto_create
from ..contents.records import Place, read
from ..contents.values import Record
from ..controller import topic_creation
from ..errors import NotThereError, OptionError
from ..nearest import nearest
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.batch_writing import one_record
from ..protocol.errors import ErrorCode
from ..protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ..protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from .asking import ask, check
from .errors import RefusedError
from .partitioner import partition_for
from .target import Target

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.topic import Topic, TopicPartition

Content = bytes | str | None
"""Text is written as UTF-8; None is null."""
Headers = Mapping[str, Content] | Sequence[tuple[str, Content]]
ACKS: Final = (-1, 1)
_BY_NAME: Final = 12
"""The last version of Produce that names topics."""
_HIGH_WATERMARK: Final = -1


def begin_produce(
    target: Target,
    topic: str,
    value: Content,
    key: Content = None,
    headers: Headers = (),
    timestamp_ms: int | None = None,
    partition: int | None = None,
    acks: int = -1,
    timeout: float = PATIENCE_S,
) -> "Future[Record]":
    """A future with the record as it was appended, once it is acknowledged as `acks` asks for.

    NotThereError for a topic or partition that does not exist; RefusedError, now or from the future, with the
    broker's answer. ValueError.
    """
    if acks not in ACKS:
        raise OptionError(
            f"acks is {acks!r}: give -1 to wait for all in-sync replicas, or 1 to wait for the leader only"
        )
    content, name = _bytes("value", value), _bytes("key", key)
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    listed = [(each, _bytes(f"header {each!r}", text)) for each, text in pairs]
    found = _topic(target, topic)
    index = _chosen(found, name) if partition is None else partition
    chosen = target.partition(topic, index)
    place = f"{topic}-{index}"
    leader = _leader(target, chosen, f"nothing was written to {place}")
    now_ms = target.cluster.now_ms
    try:
        batch = one_record(name, content, listed, now_ms if timestamp_ms is None else timestamp_ms)
    except Exception as error:
        raise OptionError(f"timestamp_ms is {timestamp_ms!r}: give milliseconds of Unix time") from error
    data = TopicProduceData(None, [PartitionProduceData(index, memoryview(batch))], topic)
    # An append is done when the handler returns; the answer may have to wait.
    view = chosen.at(leader.id)
    if view is None:
        raise RefusedError(
            "LEADER_NOT_AVAILABLE", f"{place}: broker {leader.id} has not heard yet that it leads"
        )
    log = view.log
    offset = log.end_offset
    appended: list[Record] = []

    def answered(answer: ProduceResponse) -> Record:
        [[result]] = [each.partition_responses for each in answer.responses]
        what = f"nothing was written to {place}"
        if result.error_code and appended:
            what = f"the leader of {place} has it at offset {offset}"
        reasons = [each.batch_index_error_message for each in result.record_errors]
        told = next((each for each in reasons if each), result.error_message)
        check(result.error_code, told or _why(chosen, result.error_code), what)
        return appended[0] if appended else _written()

    def _written() -> Record:
        return next(read(Place(chosen, log, {}), None, offset, control_records=True))

    request = ProduceRequest(None, acks, _ms(timeout), [data])
    future = ask(target.cluster, leader, ApiKey.PRODUCE, request, answered, _BY_NAME, ADMIN_CLIENT_ID)
    if not future.done() and log.end_offset > offset:
        appended.append(_written())
    return future


def begin_delete(
    target: Target, topic: str, partition: int, before: int | None, timeout: float = PATIENCE_S
) -> "Future[int]":
    """A future with the low watermark, once all replicas on live brokers have deleted the records.
    NotThereError; RefusedError."""
    found = target.partition(topic, partition)
    what = f"nothing was deleted of {topic}-{partition}"
    if before is not None and before < 0:
        raise OptionError(f"before is {before}: give an offset of 0 or more")
    wanted = DeleteRecordsPartition(partition, _HIGH_WATERMARK if before is None else before)
    request = DeleteRecordsRequest([DeleteRecordsTopic(topic, [wanted])], _ms(timeout))

    def answered(answer: Any) -> int:
        [[result]] = [each.partitions for each in answer.topics]
        check(result.error_code, None, what)
        low: int = result.low_watermark
        return low

    return ask(target.cluster, _leader(target, found, what), ApiKey.DELETE_RECORDS, request, answered)


def _topic(target: Target, name: str) -> "Topic":
    """The topic; created if it does not exist and auto.create.topics.enable is true. NotThereError,
    RefusedError."""
    cluster = target.cluster
    if name not in cluster.topics:
        if not cluster.configs.broker_bool("auto.create.topics.enable"):
            near = nearest(name, cluster.topics)
            hint = "create it with create_topic, since auto.create.topics.enable is false"
            raise NotThereError(f"no topic {name!r}{near}; {hint}" if near else f"no topic {name!r}: {hint}")
        try:
            topic_creation.check_name(cluster.controller, name)
            topic_creation.place(cluster.controller, -1, -1)
        except ApiError as error:
            check(error.code, error.message, f"topic {name!r} was not created")
        auto_create(cluster, name)
    return cluster.topics[name]


def _chosen(topic: "Topic", key: bytes | None) -> int:
    """The partition of the key; without a key, the first partition that has a leader."""
    if key is not None:
        return partition_for(key, len(topic.partitions))
    return next((each.index for each in topic.partitions if each.led), 0)


def _leader(target: Target, partition: "TopicPartition", what: str) -> "Broker":
    """The partition's leader. RefusedError if it has none, or if the leader is down."""
    leader = target.cluster.brokers.get(partition.leader)
    if leader is None:
        brokers = " or ".join(map(str, partition.isr))
        why = f"it has no leader, and only broker {brokers} may become one"
        raise RefusedError("LEADER_NOT_AVAILABLE", f"{what}: {why}")
    if not leader.online:
        raise RefusedError("LEADER_NOT_AVAILABLE", f"{what}: its leader, broker {leader.id}, is down")
    return leader


def _why(partition: "TopicPartition", code: int) -> str | None:
    """What a broker's answer does not say: which replicas are the reason for an error."""
    if code == ErrorCode.REQUEST_TIMED_OUT:
        late = [
            f"broker {each.broker} ({each.state})"
            for each in describe(partition)
            if each.in_sync and each.state not in ("leader", "in step")
        ]
        return f"these in-sync replicas did not fetch it in time: {', '.join(late)}" if late else None
    if code in (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND):
        brokers = ", ".join(map(str, partition.isr))
        return f"the ISR is {brokers}, and min.insync.replicas is {partition.min_insync_replicas}"
    return None


def _ms(timeout: float) -> int:
    return max(1, int(timeout * 1000))


def _bytes(name: str, content: Content) -> bytes | None:
    if content is None or isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    raise TypeError(f"the {name} is {content!r}: give bytes, text or None")
