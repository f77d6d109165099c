"""The requests the benchmark sends and the answers it reads, in the versions both sides speak."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from benchmarks.wire import Connection, Reader, Writer, WrongAnswerError

PRODUCE: Final = 0
FETCH: Final = 1
METADATA: Final = 3
OFFSET_COMMIT: Final = 8
OFFSET_FETCH: Final = 9
FIND_COORDINATOR: Final = 10
API_VERSIONS: Final = 18
CREATE_TOPICS: Final = 19
DELETE_TOPICS: Final = 20
OFFSET_FOR_LEADER_EPOCH: Final = 23
CONSUMER_GROUP_HEARTBEAT: Final = 68


class Spoken(NamedTuple):
    """Versions of an API this client speaks, and the first flexible one."""

    name: str
    lowest: int
    highest: int
    flexible: int


SPOKEN: Final = {
    PRODUCE: Spoken("Produce", 3, 12, 9),
    FETCH: Spoken("Fetch", 4, 12, 12),
    METADATA: Spoken("Metadata", 1, 9, 9),
    OFFSET_COMMIT: Spoken("OffsetCommit", 2, 7, 8),
    OFFSET_FETCH: Spoken("OffsetFetch", 1, 5, 6),
    FIND_COORDINATOR: Spoken("FindCoordinator", 0, 2, 3),
    CREATE_TOPICS: Spoken("CreateTopics", 2, 6, 5),
    DELETE_TOPICS: Spoken("DeleteTopics", 1, 5, 4),
    OFFSET_FOR_LEADER_EPOCH: Spoken("OffsetForLeaderEpoch", 2, 4, 4),
    CONSUMER_GROUP_HEARTBEAT: Spoken("ConsumerGroupHeartbeat", 0, 1, 0),
}

_TOPIC_EXISTS = 36
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
    """A broker and the versions agreed with it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.versions: dict[int, int] = {}
        with Connection(address) as connection:
            for key, lowest, highest in api_versions(connection):
                spoken = SPOKEN.get(key)
                if spoken and lowest <= spoken.highest and highest >= spoken.lowest:
                    self.versions[key] = min(highest, spoken.highest)

    def version(self, key: int) -> int:
        if key not in self.versions:
            raise NotOfferedError(f"{SPOKEN[key].name} not offered")
        return self.versions[key]

    def _request(self, key: int) -> tuple[Writer, int]:
        version = self.version(key)
        return Writer(key, version, flexible=version >= SPOKEN[key].flexible), version

    def _answer(self, reader: Reader, key: int) -> int:
        """Skip the answer's header; the version."""
        version = self.version(key)
        reader.flexible = version >= SPOKEN[key].flexible
        reader.tags()
        return version

    def create_topic(self, connection: Connection, name: str, replicas: int = 1) -> Partition:
        """A topic of one partition: by CreateTopics, or where that is missing by asking Metadata for it."""
        if CREATE_TOPICS in self.versions:
            writer, _ = self._request(CREATE_TOPICS)
            writer.length(1)
            writer.string(name)
            writer.int32(1)
            writer.int16(replicas)
            writer.length(0)
            writer.length(0)
            writer.tags()
            writer.int32(10_000)
            writer.int8(0)
            writer.tags()
            reader = connection.call(writer.done())
            self._answer(reader, CREATE_TOPICS)
            reader.int32()
            reader.length()
            reader.string()
            error = reader.int16()
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

    def _find_leader(self, connection: Connection, name: str) -> Partition | int:
        """Partition 0 of the topic, or the error code that it or the topic has."""
        writer, version = self._request(METADATA)
        writer.length(1)
        writer.string(name)
        writer.tags()
        if version >= 4:
            writer.int8(1)  # create it where that is the broker's way
        if version >= 8:
            writer.int8(0)
            writer.int8(0)
        writer.tags()
        reader = connection.call(writer.done())
        self._answer(reader, METADATA)
        if version >= 3:
            reader.int32()
        brokers: dict[int, str] = {}
        for _ in range(reader.length()):
            node = reader.int32()
            brokers[node] = f"{reader.string()}:{reader.int32()}"
            reader.string()
            reader.tags()
        if version >= 2:
            reader.string()
        reader.int32()
        if reader.length() != 1:
            raise WrongAnswerError("Metadata without the topic asked for")
        topic_error = reader.int16()
        if topic_error:
            return topic_error
        if (named := reader.string()) != name:
            raise WrongAnswerError(f"Metadata of topic {named!r}, asked for {name!r}")
        reader.int8()
        for _ in range(reader.length()):
            error = reader.int16()
            index = reader.int32()
            leader = reader.int32()
            epoch = reader.int32() if version >= 7 else -1
            for _list in range(3 if version >= 5 else 2):  # replicas, in sync, offline
                reader.data(4 * reader.length())
            reader.tags()
            if index == 0:
                if error:
                    return error
                if leader not in brokers:
                    raise WrongAnswerError(f"leader {leader} is not among the brokers")
                return Partition(name, brokers[leader], epoch)
        raise WrongAnswerError("Metadata without partition 0")

    def delete_topic(self, connection: Connection, name: str) -> None:
        """Free the broker's memory, where DeleteTopics is offered."""
        if DELETE_TOPICS not in self.versions:
            return
        writer, _ = self._request(DELETE_TOPICS)
        writer.length(1)
        writer.string(name)
        writer.int32(10_000)
        writer.tags()
        connection.call(writer.done())

    def produce_frame(self, partition: Partition, batch: bytes) -> bytearray:
        """One batch, all replicas to acknowledge."""
        writer, _ = self._request(PRODUCE)
        writer.string(None)
        writer.int16(-1)
        writer.int32(30_000)
        writer.length(1)
        writer.string(partition.topic)
        writer.length(1)
        writer.int32(0)
        writer.data(batch)
        writer.tags()
        writer.tags()
        writer.tags()
        return writer.done()

    def read_produced(self, reader: Reader) -> Cell:
        """Error code and base offset."""
        self._answer(reader, PRODUCE)
        _single(reader)
        reader.string()
        _single(reader)
        reader.int32()
        error_at = reader.at
        error = reader.int16()
        return Cell(error, reader.int64(), error_at, reader.at - 8)

    def coordinator(self, connection: Connection, group: str) -> str:
        """Where the group's coordinator listens, once it serves the group."""
        for _ in range(_TRIES):
            writer, version = self._request(FIND_COORDINATOR)
            writer.string(group)
            if version >= 1:
                writer.int8(0)
            reader = connection.call(writer.done())
            self._answer(reader, FIND_COORDINATOR)
            if version >= 1:
                reader.int32()
            error = reader.int16()
            if version >= 1:
                reader.string()
            reader.int32()
            host, port = reader.string(), reader.int32()
            if not error:
                return f"{host}:{port}"
            time.sleep(_PAUSE_SECONDS)
        raise WrongAnswerError(f"FindCoordinator: error code {error}")

    def commit_frame(self, partition: Partition, group: str, offset: int) -> bytearray:
        """Commits an offset from outside of the group."""
        writer, version = self._request(OFFSET_COMMIT)
        writer.string(group)
        writer.int32(-1)
        writer.string("")
        if version >= 7:
            writer.string(None)
        if version <= 4:
            writer.int64(-1)
        writer.length(1)
        writer.string(partition.topic)
        writer.length(1)
        writer.int32(0)
        writer.int64(offset)
        if version >= 6:
            writer.int32(-1)
        writer.string("")
        return writer.done()

    def read_committed(self, reader: Reader) -> int:
        """The error code."""
        if self._answer(reader, OFFSET_COMMIT) >= 3:
            reader.int32()
        _single(reader)
        reader.string()
        _single(reader)
        reader.int32()
        return reader.int16()

    def offset_frame(self, partition: Partition, group: str) -> bytearray:
        """Asks for the committed offset."""
        writer, _ = self._request(OFFSET_FETCH)
        writer.string(group)
        writer.length(1)
        writer.string(partition.topic)
        writer.length(1)
        writer.int32(0)
        return writer.done()

    def read_offset(self, reader: Reader) -> tuple[int, int]:
        """The error code and the committed offset."""
        version = self._answer(reader, OFFSET_FETCH)
        if version >= 3:
            reader.int32()
        if reader.length() == 0:
            return reader.int16(), -1
        reader.string()
        _single(reader)
        reader.int32()
        offset = reader.int64()
        if version >= 5:
            reader.int32()
        reader.string()
        return reader.int16(), offset

    def epoch_frame(self, partition: Partition) -> bytearray:
        """Asks where the present leader epoch ends."""
        writer, version = self._request(OFFSET_FOR_LEADER_EPOCH)
        if version >= 3:
            writer.int32(-1)
        writer.length(1)
        writer.string(partition.topic)
        writer.length(1)
        writer.int32(0)
        writer.int32(partition.leader_epoch)
        writer.int32(max(0, partition.leader_epoch))
        writer.tags()
        writer.tags()
        writer.tags()
        return writer.done()

    def read_epoch(self, reader: Reader) -> Cell:
        """Error code and end offset."""
        self._answer(reader, OFFSET_FOR_LEADER_EPOCH)
        reader.int32()
        _single(reader)
        reader.string()
        _single(reader)
        error_at = reader.at
        error = reader.int16()
        reader.int32()
        reader.int32()
        return Cell(error, reader.int64(), error_at, reader.at - 8)

    def fetch_frame(self, partition: Partition, max_bytes: int, *, wait_ms: int) -> tuple[bytearray, int]:
        """A fetch outside any session, and where its offset (int64) is to be patched."""
        writer, version = self._request(FETCH)
        writer.int32(-1)
        writer.int32(wait_ms)
        writer.int32(1 if wait_ms else 0)
        writer.int32(max_bytes)
        writer.int8(0)
        if version >= 7:
            writer.int32(0)
            writer.int32(-1)
        writer.length(1)
        writer.string(partition.topic)
        writer.length(1)
        writer.int32(0)
        if version >= 9:
            writer.int32(partition.leader_epoch)
        offset_at = len(writer.frame)
        writer.int64(0)
        if version >= 12:
            writer.int32(-1)
        if version >= 5:
            writer.int64(-1)
        writer.int32(max_bytes)
        writer.tags()
        writer.tags()
        if version >= 7:
            writer.length(0)
        if version >= 11:
            writer.string("")
        writer.tags()
        return writer.done(), offset_at

    def read_fetched(self, reader: Reader) -> Fetched:
        version = self._answer(reader, FETCH)
        reader.int32()
        if version >= 7:
            error = reader.int16()
            reader.int32()
            if error:
                return Fetched(error, -1, memoryview(b""))
        _single(reader)
        reader.string()
        _single(reader)
        reader.int32()
        error = reader.int16()
        high_watermark = reader.int64()
        reader.int64()
        if version >= 5:
            reader.int64()
        for _ in range(reader.length()):  # aborted transactions
            reader.data(16)
            reader.tags()
        if version >= 11:
            reader.int32()
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
    reader = connection.call(Writer(API_VERSIONS, 0, flexible=False).done())
    error = reader.int16()
    if error:
        raise WrongAnswerError(f"ApiVersions: error code {error}")
    return [(reader.int16(), reader.int16(), reader.int16()) for _ in range(reader.length())]


def _single(reader: Reader) -> None:
    count = reader.length()
    if count != 1:
        raise WrongAnswerError(f"answer with {count} entries where one was asked for")
