"""The requests the benchmark sends and the answers it reads, in the versions both sides speak."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from benchmarks.wire import Connection, Reader, Writer, WrongAnswerError
from mockbroker.protocol.api_keys import ApiKey


class Spoken(NamedTuple):
    """Versions of an API this client speaks, and the first flexible one."""

    name: str
    lowest: int
    highest: int
    flexible: int


SPOKEN: Final[dict[int, Spoken]] = {
    ApiKey.PRODUCE: Spoken("Produce", 3, 12, 9),
    ApiKey.FETCH: Spoken("Fetch", 4, 12, 12),
    ApiKey.METADATA: Spoken("Metadata", 1, 9, 9),
    ApiKey.OFFSET_COMMIT: Spoken("OffsetCommit", 2, 7, 8),
    ApiKey.OFFSET_FETCH: Spoken("OffsetFetch", 1, 5, 6),
    ApiKey.FIND_COORDINATOR: Spoken("FindCoordinator", 0, 2, 3),
    ApiKey.CREATE_TOPICS: Spoken("CreateTopics", 2, 6, 5),
    ApiKey.DELETE_TOPICS: Spoken("DeleteTopics", 1, 5, 4),
    ApiKey.INIT_PRODUCER_ID: Spoken("InitProducerId", 0, 4, 2),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Spoken("OffsetForLeaderEpoch", 2, 4, 4),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: Spoken("ConsumerGroupHeartbeat", 0, 1, 0),
}

_TOPIC_EXISTS = 36
_NOT_CONTROLLER = 41
# A new partition may not be served yet: unknown topic, no leader, not the leader, fenced or unknown epoch.
_NOT_YET = frozenset({3, 5, 6, 74, 75})
_TRIES = 200
_PAUSE_SECONDS = 0.02


class NotOfferedError(Exception):
    """The broker does not offer an API that the scenario needs."""


@dataclass(frozen=True)
class Partition:
    """The only partition of a topic, and where its leader listens."""

    topic: str
    leader: str
    leader_epoch: int


class Cell(NamedTuple):
    """Error code and the one number of an answer that matters, each with its place in the frame."""

    error: int
    value: int
    error_at: int
    value_at: int


class Fetched(NamedTuple):
    error: int
    high_watermark: int
    records: memoryview


class Broker:
    """A broker and the versions agreed with it. `tls`: whether it is spoken to with TLS."""

    def __init__(self, address: str, *, tls: bool = False) -> None:
        self.address = address
        self._tls = tls
        self.versions: dict[int, int] = {}
        with self.connect() as connection:
            for key, lowest, highest in api_versions(connection):
                spoken = SPOKEN.get(key)
                if spoken and lowest <= spoken.highest and highest >= spoken.lowest:
                    self.versions[key] = min(highest, spoken.highest)

    def connect(self, address: str | None = None) -> Connection:
        """To this broker, or to another one of its cluster."""
        return Connection(address or self.address, tls=self._tls)

    def version(self, key: int) -> int:
        if key not in self.versions:
            raise NotOfferedError(f"{SPOKEN[key].name} not offered")
        return self.versions[key]

    def request(self, key: int) -> Writer:
        version = self.version(key)
        return Writer(key, version, flexible=version >= SPOKEN[key].flexible)

    def answer(self, reader: Reader, key: int) -> Reader:
        """The answer, after its header."""
        reader.version = self.version(key)
        reader.flexible = reader.version >= SPOKEN[key].flexible
        return reader.skip("t")

    def create_topic(self, connection: Connection, name: str, replicas: int = 1) -> Partition:
        """A topic of one partition: by CreateTopics, or where that is missing by asking Metadata for it."""
        if ApiKey.CREATE_TOPICS in self.versions:
            writer = self.request(ApiKey.CREATE_TOPICS)
            frame = writer.put("lsihlltibt", 1, name, 1, replicas, 0, 0, 10_000, 0).done()
            error = self._created(connection, frame)
            if error == _NOT_CONTROLLER:
                with self.connect(self._controller(connection)) as controller:
                    error = self._created(controller, frame)
            if error not in (0, _TOPIC_EXISTS):
                raise WrongAnswerError(f"CreateTopics: error code {error}")
        error = 0
        for _ in range(_TRIES):
            found = self._find_leader(connection, name)
            if isinstance(found, Partition):
                return found
            error = found
            time.sleep(_PAUSE_SECONDS)
        raise WrongAnswerError(f"Metadata of the new topic: error code {error}")

    def _created(self, connection: Connection, frame: bytearray) -> int:
        """The error code."""
        reader = self.answer(connection.call(frame), ApiKey.CREATE_TOPICS)
        return reader.skip("i").single().skip("s").int16()

    def _controller(self, connection: Connection) -> str:
        """Where the controller listens."""
        writer = (
            self.request(ApiKey.METADATA).put("l", 0).put("b", 0, since=4).put("bb", 0, 0, since=8).put("t")
        )
        reader = self.answer(connection.call(writer.done()), ApiKey.METADATA).skip("i", since=3)
        brokers = _brokers(reader)
        return brokers[reader.skip("s", since=2).int32()]

    def _find_leader(self, connection: Connection, name: str) -> Partition | int:
        """Partition 0 of the topic, or the error code that it or the topic has."""
        writer = self.request(ApiKey.METADATA).put("lst", 1, name)
        writer.put("b", 1, since=4)  # create it where that is the broker's way
        writer.put("bb", 0, 0, since=8).put("t")
        reader = self.answer(connection.call(writer.done()), ApiKey.METADATA).skip("i", since=3)
        brokers = _brokers(reader)
        reader.skip("s", since=2).skip("i")
        if reader.length() != 1:
            raise WrongAnswerError("Metadata without the topic asked for")
        topic_error = reader.int16()
        if topic_error:
            return topic_error
        if (named := reader.string()) != name:
            raise WrongAnswerError(f"Metadata of topic {named!r}, asked for {name!r}")
        reader.skip("b")
        for _ in range(reader.length()):
            error, index, leader = reader.int16(), reader.int32(), reader.int32()
            epoch = reader.int32() if reader.version >= 7 else -1
            for _list in range(3 if reader.version >= 5 else 2):  # replicas, in sync, offline
                reader.data(4 * reader.length())
            reader.skip("t")
            if index == 0:
                if error:
                    return error
                if leader not in brokers:
                    raise WrongAnswerError(f"leader {leader} is not among the brokers")
                return Partition(name, brokers[leader], epoch)
        raise WrongAnswerError("Metadata without partition 0")

    def delete_topic(self, connection: Connection, name: str) -> None:
        """Free the broker's memory, where DeleteTopics is offered."""
        if ApiKey.DELETE_TOPICS in self.versions:
            connection.call(self.request(ApiKey.DELETE_TOPICS).put("lsit", 1, name, 10_000).done())

    def produce_frame(self, partition: Partition, batch: bytes) -> bytearray:
        """One batch, all replicas to acknowledge."""
        writer = self.request(ApiKey.PRODUCE).put("shi", None, -1, 30_000)
        return writer.put("lslixttt", 1, partition.topic, 1, 0, batch).done()

    def read_produced(self, reader: Reader) -> Cell:
        """Error code and base offset."""
        self.answer(reader, ApiKey.PRODUCE).single().skip("s").single().skip("i")
        error_at = reader.at
        error = reader.int16()
        return Cell(error, reader.int64(), error_at, reader.at - 8)

    def producer(self, connection: Connection) -> tuple[int, int]:
        """A new producer id and its epoch."""
        writer = self.request(ApiKey.INIT_PRODUCER_ID).put("si", None, 60_000)
        writer.put("qh", -1, -1, since=3).put("t")
        for _ in range(_TRIES):
            reader = self.answer(connection.call(writer.done()), ApiKey.INIT_PRODUCER_ID)
            error = reader.skip("i").int16()
            if not error:
                return reader.int64(), reader.int16()
            time.sleep(_PAUSE_SECONDS)
        raise WrongAnswerError(f"InitProducerId: error code {error}")

    def coordinator(self, connection: Connection, group: str) -> str:
        """Where the group's coordinator listens, once it serves the group."""
        for _ in range(_TRIES):
            writer = self.request(ApiKey.FIND_COORDINATOR).put("s", group).put("b", 0, since=1)
            reader = self.answer(connection.call(writer.done()), ApiKey.FIND_COORDINATOR)
            error = reader.skip("i", since=1).int16()
            reader.skip("s", since=1).skip("i")
            host, port = reader.string(), reader.int32()
            if not error:
                return f"{host}:{port}"
            time.sleep(_PAUSE_SECONDS)
        raise WrongAnswerError(f"FindCoordinator: error code {error}")

    def commit_frame(self, partition: Partition, group: str, offset: int) -> bytearray:
        """Commits an offset from outside of the group."""
        writer = self.request(ApiKey.OFFSET_COMMIT).put("sis", group, -1, "")
        writer.put("s", None, since=7).put("q", -1, until=4)
        writer.put("lsliq", 1, partition.topic, 1, 0, offset)
        return writer.put("i", -1, since=6).put("s", "").done()

    def read_committed(self, reader: Reader) -> int:
        """The error code."""
        self.answer(reader, ApiKey.OFFSET_COMMIT).skip("i", since=3)
        return reader.single().skip("s").single().skip("i").int16()

    def offset_frame(self, partition: Partition, group: str) -> bytearray:
        """Asks for the committed offset."""
        return self.request(ApiKey.OFFSET_FETCH).put("slsli", group, 1, partition.topic, 1, 0).done()

    def read_offset(self, reader: Reader) -> tuple[int, int]:
        """The error code and the committed offset."""
        self.answer(reader, ApiKey.OFFSET_FETCH).skip("i", since=3)
        if reader.length() == 0:
            return reader.int16(), -1
        reader.skip("s").single().skip("i")
        offset = reader.int64()
        return reader.skip("i", since=5).skip("s").int16(), offset

    def epoch_frame(self, partition: Partition) -> bytearray:
        """Asks where the present leader epoch ends."""
        epoch = partition.leader_epoch
        writer = self.request(ApiKey.OFFSET_FOR_LEADER_EPOCH).put("i", -1, since=3)
        return writer.put("lsliiittt", 1, partition.topic, 1, 0, epoch, max(0, epoch)).done()

    def read_epoch(self, reader: Reader) -> Cell:
        """Error code and end offset."""
        self.answer(reader, ApiKey.OFFSET_FOR_LEADER_EPOCH).skip("i").single().skip("s").single()
        error_at = reader.at
        error = reader.int16()
        return Cell(error, reader.skip("ii").int64(), error_at, reader.at - 8)

    def fetch_frame(self, partition: Partition, max_bytes: int, *, wait_ms: int) -> tuple[bytearray, int]:
        """A fetch outside any session, and where its offset (int64) is to be patched."""
        writer = self.request(ApiKey.FETCH)
        writer.put("iiiib", -1, wait_ms, 1 if wait_ms else 0, max_bytes, 0)
        writer.put("ii", 0, -1, since=7)
        writer.put("lsli", 1, partition.topic, 1, 0).put("i", partition.leader_epoch, since=9)
        offset_at = len(writer.frame)
        writer.put("q", 0).put("i", -1, since=12).put("q", -1, since=5)
        writer.put("itt", max_bytes).put("l", 0, since=7).put("s", "", since=11).put("t")
        return writer.done(), offset_at

    def read_fetched(self, reader: Reader) -> Fetched:
        self.answer(reader, ApiKey.FETCH).skip("i")
        if reader.version >= 7:
            error = reader.int16()
            reader.skip("i")
            if error:
                return Fetched(error, -1, memoryview(b""))
        error = reader.single().skip("s").single().skip("i").int16()
        high_watermark = reader.int64()
        reader.skip("q").skip("q", since=5)
        for _ in range(reader.length()):  # aborted transactions
            reader.skip("qqt")
        reader.skip("i", since=11)
        return Fetched(error, high_watermark, reader.data(reader.length()))

    def check_log_end(self, connection: Connection, partition: Partition, expected: int) -> None:
        """A fetch at the log end must be answered without error and name that log end."""
        frame, offset_at = self.fetch_frame(partition, 1, wait_ms=0)
        frame[offset_at : offset_at + 8] = expected.to_bytes(8, "big")
        for _ in range(_TRIES):
            fetched = self.read_fetched(connection.call(frame))
            if expected or fetched.error not in _NOT_YET:
                break
            time.sleep(_PAUSE_SECONDS)
        if fetched.error:
            raise WrongAnswerError(f"fetch at the log end {expected}: error code {fetched.error}")
        if fetched.high_watermark != expected:
            raise WrongAnswerError(f"log end {fetched.high_watermark}, but {expected} records acknowledged")


AnswerParser = Callable[[Reader], Cell]


def api_versions(connection: Connection) -> list[tuple[int, int, int]]:
    """API keys with their lowest and highest version, asked in version 0."""
    reader = connection.call(Writer(ApiKey.API_VERSIONS, 0, flexible=False).done())
    error = reader.int16()
    if error:
        raise WrongAnswerError(f"ApiVersions: error code {error}")
    return [(reader.int16(), reader.int16(), reader.int16()) for _ in range(reader.length())]


def _brokers(reader: Reader) -> dict[int, str]:
    """The addresses in an answer to Metadata, by node id."""
    found = {}
    for _ in range(reader.length()):
        node = reader.int32()
        found[node] = f"{reader.string()}:{reader.int32()}"
        reader.skip("st")
    return found
