"""Operations on records: looking at them, producing and deleting them."""

import base64
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import islice
from typing import Annotated, Final, Literal, TypedDict, TypeVar

import trio

from ..cluster.replicas import PATIENCE_S
from ..contents.batch_bytes import parts
from ..contents.records import Place, read
from ..contents.transactions import transactional_ids
from ..contents.values import IsolationLevel, Record
from ..errors import NotThereError, OptionError
from ..protocol.record_batch import header_of
from ..verbs.parameters import PartitionIndex, TopicName
from .producing import begin_delete, begin_produce
from .registry import operation
from .shaping import shaped
from .target import Target

T = TypeVar("T")
_MOST: Final = 1000
"""How many records are listed at most without a limit."""
_CUT: Final = "unexpected end of data"
"""What Python says of UTF-8 that ends within a character."""
Encoding = Literal["utf-8", "base64"]
_MOST_PARTS: Final = 1000
_MOST_BYTES: Final = 64
"""Of how many parts of a batch, and of how many bytes of each, is told."""


class HeaderState(TypedDict):
    """A header; `value` is text, or base64 if the bytes are not UTF-8, or null."""

    key: str
    value: str | None
    encoding: Encoding


class RecordState(TypedDict):
    """A record. `key` and `value` are text, or base64 if the bytes are not UTF-8, as `key_encoding` and
    `value_encoding` say, or null; `key_bytes` and `value_bytes` say how long they are, also if they were cut.
    `size` is what the record takes in its batch, in bytes before compression.

    `transaction` is ongoing, committed or aborted. `control` is commit or abort for a marker that ends a
    transaction, and null for any other record."""

    topic: str
    partition: int
    offset: int
    key: str | None
    key_encoding: Encoding
    key_bytes: int | None
    value: str | None
    value_encoding: Encoding
    value_bytes: int | None
    headers: list[HeaderState]
    timestamp_ms: int
    timestamp_type: str
    leader_epoch: int
    producer_id: int | None
    producer_epoch: int | None
    sequence: int | None
    transactional_id: str | None
    transaction: str | None
    control: str | None
    size: int
    compression: str


class Deleted(TypedDict):
    """`low_watermark` is where the log begins now: the lowest log start offset of the replicas."""

    topic: str
    partition: int
    low_watermark: int


class PartState(TypedDict):
    """`size` bytes of a batch from `at` on: what they are, the first 64 of them in hexadecimal, and what they
    mean. `record` is which of the batch's records they belong to, from 0; null for what records have in
    common."""

    record: int | None
    name: str
    at: int
    size: int
    value: str
    hex: str


class BatchState(TypedDict):
    """A record batch as it is in the log. `size` is in bytes; `left_out` says whether it has more parts than
    are told."""

    topic: str
    partition: int
    base_offset: int
    size: int
    parts: list[PartState]
    left_out: bool


@operation("records batch", "GET", "/topics/{topic}/partitions/{partition}/batches/{offset}")
def show_batch(
    target: Target,
    topic: TopicName,
    partition: PartitionIndex,
    offset: Annotated[int, "The offset of one of its records."],
    broker: Annotated[int | None, "Show what this broker's replica has; the leader's if left out."] = None,
) -> BatchState:
    """Shows the bytes of the batch in which a record is, and what each of them means; at most 1,000 parts."""
    log = _place(target, topic, partition, broker, {}).log
    batch = next(iter(log.batches_between(offset, offset + 1)), None) if offset >= log.start_offset else None
    if batch is None:
        raise NotThereError(
            f"no record at offset {offset} is in {topic}-{partition}: its log is from {log.start_offset} to "
            f"{log.end_offset}"
        )
    found = list(islice(parts(batch), _MOST_PARTS + 1))
    told = [
        shaped(PartState, each, hex=bytes(batch[each.at : each.at + min(each.size, _MOST_BYTES)]).hex())
        for each in found[:_MOST_PARTS]
    ]
    return {
        "topic": topic,
        "partition": partition,
        "base_offset": header_of(batch).base_offset,
        "size": len(batch),
        "parts": told,
        "left_out": len(found) > _MOST_PARTS,
    }


@operation("records list", "GET", "/topics/{topic}/records")
def list_records(
    target: Target,
    topic: TopicName,
    partition: Annotated[int | None, "List only the records of this partition."] = None,
    isolation_level: Annotated[
        IsolationLevel | None,
        "List what a consumer with this isolation level reads: read_uncommitted or read_committed.",
    ] = None,
    broker: Annotated[int | None, "List what this broker's replica has; the leader's if left out."] = None,
    offset: Annotated[int, "List only records from this offset on."] = 0,
    limit: Annotated[
        int | None, "List this many records at most. If left out, more than 1,000 are an error."
    ] = None,
    control: Annotated[bool, "List the markers that end transactions too."] = False,
    most_bytes: Annotated[
        int | None, "Cut keys, values and the values of headers after this many bytes."
    ] = None,
) -> list[RecordState]:
    """Lists the records of a topic, by partition and offset: all that is stored, or what a consumer reads."""
    for name, number in (("limit", limit), ("most_bytes", most_bytes)):
        if number is not None and number < 0:
            raise OptionError(f"{name} is {number}: give 0 or more")
    found = records(target, topic, partition, isolation_level, broker, offset, control)
    listed = list(islice(found, _MOST + 1 if limit is None else min(limit, sys.maxsize)))
    if limit is None and len(listed) > _MOST:
        raise OptionError(
            f"there are more than {_MOST} records: give a limit to get that many of them, or choose a "
            "partition and an offset"
        )
    return [_state(each, most_bytes) for each in listed]


@operation("records produce", "POST", "/topics/{topic}/records")
async def produce(
    target: Target,
    topic: TopicName,
    value: Annotated[str | None, "The record's value; null if left out."] = None,
    key: Annotated[str | None, "The record's key; null if left out."] = None,
    partition: Annotated[
        int | None, "The partition; if left out, the one for the key, or the first without a key."
    ] = None,
    headers: Annotated[dict[str, str] | None, "The record's headers, as name=value."] = None,
    timestamp_ms: Annotated[int | None, "The record's timestamp, in ms; now if left out."] = None,
    encoding: Annotated[Encoding, "The encoding of key, value and headers: utf-8 or base64."] = "utf-8",
    timeout: Annotated[float, "How many seconds replication may take."] = PATIENCE_S,
) -> RecordState:
    """Appends a record as a producer does with acks=all, and answers once it is replicated."""
    encoded = [(name, _bytes(f"header {name}", each, encoding)) for name, each in (headers or {}).items()]
    future = begin_produce(
        target,
        topic,
        _bytes("value", value, encoding),
        _bytes("key", key, encoding),
        encoded,
        timestamp_ms,
        partition,
        timeout=timeout,
    )
    return _state(await done(future))


@operation("records delete", "POST", "/topics/{topic}/partitions/{partition}/delete-records")
async def delete(
    target: Target,
    topic: TopicName,
    partition: PartitionIndex,
    before: Annotated[
        int | None, "Delete the records below this offset; below the high watermark if left out."
    ] = None,
    timeout: Annotated[
        float, "How many seconds it may take until all replicas have deleted them."
    ] = PATIENCE_S,
) -> Deleted:
    """Deletes the records of a partition below an offset, as a client's DeleteRecords does."""
    future = begin_delete(target, topic, partition, before, timeout)
    return {"topic": topic, "partition": partition, "low_watermark": await done(future)}


def records(
    target: Target,
    topic: str,
    partition: int | None,
    isolation_level: IsolationLevel | None,
    broker: int | None,
    offset: int,
    control_records: bool,
) -> Iterator[Record]:
    """By partition and offset. NotThereError for a topic, a partition or a replica that does not exist;
    ValueError."""
    if isolation_level not in (None, "read_uncommitted", "read_committed"):
        raise OptionError(
            f"isolation_level is {isolation_level!r}: give 'read_uncommitted' or 'read_committed', or leave "
            "it out to get everything that is stored"
        )
    if offset < 0:
        raise OptionError(f"offset is {offset}: give 0 or more")
    found = target.topic(topic).partitions if partition is None else [target.partition(topic, partition)]
    names = transactional_ids(target.cluster)
    places = [_place(target, topic, each.index, broker, names) for each in found]
    return (
        record
        for place in places
        for record in read(place, isolation_level, offset, control_records=control_records)
    )


def _place(target: Target, topic: str, index: int, broker: int | None, names: dict[int, str]) -> Place:
    partition = target.partition(topic, index)
    if broker is None:
        return Place(partition, partition.log, names)
    target.broker(broker)
    if broker not in partition.logs:
        there = ", ".join(map(str, partition.replicas))
        raise NotThereError(f"broker {broker} has no replica of {topic}-{index}: its replicas are on {there}")
    # A follower learns the high watermark with its next fetch.
    if (leader := partition.led) is not None:
        leader.tell_followers()
    return Place(partition, partition.logs[broker], names)


async def done(future: Future[T]) -> T:
    """Its result, once there is one."""
    event = trio.Event()
    future.add_done_callback(lambda _: event.set())
    await event.wait()
    return future.result()


def _bytes(name: str, text: str | None, encoding: str) -> bytes | None:
    """OptionError for text that is not base64 but should be."""
    if text is None:
        return None
    if encoding != "base64":
        return text.encode()
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise OptionError(f"{name} is {text!r}: give base64, or another encoding") from None


def _text(data: bytes | None, most: int | None) -> tuple[str | None, Encoding]:
    if data is None:
        return None, "utf-8"
    shown = data if most is None else data[:most]
    try:
        return shown.decode(), "utf-8"
    except UnicodeDecodeError as error:
        if len(shown) < len(data) and error.reason == _CUT:
            return shown[: error.start].decode(), "utf-8"
        return base64.b64encode(shown).decode(), "base64"


def _length(data: bytes | None) -> int | None:
    return None if data is None else len(data)


def _state(record: Record, most: int | None = None) -> RecordState:
    key, key_encoding = _text(record.key, most)
    value, value_encoding = _text(record.value, most)
    texts = [(name, *_text(content, most)) for name, content in record.headers]
    return shaped(
        RecordState,
        record,
        key=key,
        key_encoding=key_encoding,
        key_bytes=_length(record.key),
        value_bytes=_length(record.value),
        value=value,
        value_encoding=value_encoding,
        headers=[{"key": name, "value": text, "encoding": encoding} for name, text, encoding in texts],
    )
