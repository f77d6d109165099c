"""Heartbeats of a member of a consumer group (KIP-848) whose assignment does not change."""

from __future__ import annotations

from benchmarks.apis import CONSUMER_GROUP_HEARTBEAT, Broker, Cell, NotOfferedError
from benchmarks.wire import Connection, Reader, Writer, WrongAnswerError

_MEMBER = "member-of-the-benchmark"
_UNCHANGED = -1
_NULL = -1


def join(connection: Connection, broker: Broker, group: str, topic: str) -> int:
    """The epoch of a new member. NotOfferedError where it gets no answer, as from librdkafka's mock."""
    frame = _joining(broker, group, topic)
    try:
        cell = read(connection.call(frame))
    except (WrongAnswerError, OSError) as error:
        raise NotOfferedError(f"ConsumerGroupHeartbeat: {error}") from None
    if cell.error:
        raise WrongAnswerError(f"ConsumerGroupHeartbeat: error code {cell.error}")
    return cell.value >> 32


def _joining(broker: Broker, group: str, topic: str) -> bytearray:
    writer = _begun(broker, group, 0)
    writer.int32(60_000)
    writer.length(1)
    writer.string(topic)
    _end(writer, broker, owned=0)
    return writer.done()


def unchanged(broker: Broker, group: str, epoch: int) -> bytearray:
    """A heartbeat that says that nothing has changed."""
    writer = _begun(broker, group, epoch)
    writer.int32(_UNCHANGED)
    writer.length(_NULL)
    _end(writer, broker, owned=_NULL)
    return writer.done()


def _begun(broker: Broker, group: str, epoch: int) -> Writer:
    writer = Writer(CONSUMER_GROUP_HEARTBEAT, broker.version(CONSUMER_GROUP_HEARTBEAT), flexible=True)
    writer.string(group)
    writer.string(_MEMBER)
    writer.int32(epoch)
    writer.string(None)
    writer.string(None)
    return writer


def _end(writer: Writer, broker: Broker, owned: int) -> None:
    if broker.version(CONSUMER_GROUP_HEARTBEAT) >= 1:
        writer.string(None)
    writer.string(None)
    writer.length(owned)
    writer.tags()


def read(reader: Reader) -> Cell:
    """The error code, and epoch and heartbeat interval as one number."""
    reader.flexible = True
    reader.tags()
    reader.int32()
    error_at = reader.at
    error = reader.int16()
    reader.string()
    reader.string()
    value_at = reader.at
    return Cell(error, reader.int64(), error_at, value_at)
