"""Heartbeats of members of a consumer group (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.apis import Broker, Cell, NotOfferedError
from benchmarks.wire import Connection, Reader, Writer, WrongAnswerError
from mockbroker.protocol.api_keys import ApiKey

_MEMBER = "member-of-the-benchmark"
_UNCHANGED = -1
_NULL = -1
_LEAVING = -1
_REBALANCE_MS = 60_000


class GroupMember:
    """A member that gives up at once what it is to give up. `owned` are its partitions, by topic id and
    number."""

    def __init__(self, broker: Broker, group: str, name: str, topic: str, assignor: str) -> None:
        self._broker, self._group, self._name = broker, group, name
        self._topic, self._assignor = topic, assignor
        self.epoch = 0
        self.owned: frozenset[tuple[bytes, int]] = frozenset()
        self._said: frozenset[tuple[bytes, int]] | None = None

    def heartbeat(self) -> bytearray:
        """The next: it joins, says what it owns if that has changed, or says nothing."""
        if not self.epoch:
            return _heartbeat(
                self._broker, self._group, self._name, 0, topic=self._topic, assignor=self._assignor, owned=()
            )
        owned = None if self.owned == self._said else self.owned
        return _heartbeat(self._broker, self._group, self._name, self.epoch, owned=owned)

    def leaving(self) -> bytearray:
        return _heartbeat(self._broker, self._group, self._name, _LEAVING)

    def heard(self, reader: Reader) -> None:
        """Takes in the answer. WrongAnswerError for an error."""
        cell = read(reader)
        if cell.error:
            raise WrongAnswerError(f"ConsumerGroupHeartbeat: error code {cell.error}")
        self.epoch = cell.value >> 32
        self._said = self.owned
        if reader.int8() < 0:
            return
        owned = set()
        for _ in range(reader.length()):
            topic = bytes(reader.data(16))
            owned |= {(topic, reader.int32()) for _ in range(reader.length())}
            reader.tags()
        self.owned = frozenset(owned)


def join(connection: Connection, broker: Broker, group: str, topic: str) -> int:
    """The epoch of a new member. NotOfferedError where it gets no answer, as from librdkafka's mock."""
    frame = _heartbeat(broker, group, _MEMBER, 0, topic=topic, owned=())
    try:
        cell = read(connection.call(frame))
    except (WrongAnswerError, OSError) as error:
        raise NotOfferedError(f"ConsumerGroupHeartbeat: {error}") from None
    if cell.error:
        raise WrongAnswerError(f"ConsumerGroupHeartbeat: error code {cell.error}")
    return cell.value >> 32


def unchanged(broker: Broker, group: str, epoch: int) -> bytearray:
    """A heartbeat that says that nothing has changed."""
    return _heartbeat(broker, group, _MEMBER, epoch)


def _heartbeat(
    broker: Broker,
    group: str,
    member: str,
    epoch: int,
    *,
    topic: str | None = None,
    assignor: str | None = None,
    owned: Iterable[tuple[bytes, int]] | None = None,
) -> bytearray:
    """None says that nothing has changed. A heartbeat with a topic joins."""
    writer = broker.request(ApiKey.CONSUMER_GROUP_HEARTBEAT).put("ssiss", group, member, epoch, None, None)
    if topic is None:
        writer.put("il", _UNCHANGED, _NULL)
    else:
        writer.put("ils", _REBALANCE_MS, 1, topic)
    writer.put("s", None, since=1).put("s", assignor)
    if owned is None:
        writer.length(_NULL)
    else:
        _own(writer, owned)
    return writer.put("t").done()


def _own(writer: Writer, owned: Iterable[tuple[bytes, int]]) -> None:
    topics: dict[bytes, list[int]] = {}
    for topic, partition in owned:
        topics.setdefault(topic, []).append(partition)
    writer.length(len(topics))
    for topic, partitions in topics.items():
        writer.frame += topic
        writer.put(f"l{'i' * len(partitions)}t", len(partitions), *partitions)


def read(reader: Reader) -> Cell:
    """The error code, and epoch and heartbeat interval as one number."""
    reader.flexible = True
    error_at = reader.skip("ti").at
    error = reader.int16()
    value_at = reader.skip("ss").at
    return Cell(error, reader.int64(), error_at, value_at)
