"""Produce, the most frequent API: requests are read without copying records, and the usual answer is written
at once.

A producer's requests for one partition differ in little except their records. `ProduceReader` remembers what
preceded the records of the last request; if the next one begins in the same way, it reads only the rest.
`ProduceWriter` remembers the answer for one partition as one `struct` format.
"""

import struct
from collections.abc import Callable
from typing import Final, NamedTuple
from uuid import UUID

from .messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from .primitives import MOST_TEXT, FrameBuffer, read_uvarint, skip_tags, text_of
from .reading import MAX_ENTRIES
from .writing import Writer

_INT16: Final = struct.Struct(">h").unpack_from
_INT32: Final = struct.Struct(">i").unpack_from
_ACKS_TIMEOUT: Final = struct.Struct(">hi").unpack_from
_REMEMBERED: Final = 1024
_MARK: Final = 0x5A5B5C5D5E5F6061

Data = bytes | memoryview
Read = Callable[[Data, int], tuple[int, int]]
Place = tuple[str, UUID | None, int]
"""The name of a topic up to v12, its id from v13 on, and the index of a partition."""


_Around = tuple[Callable[..., bytes], int, bytes, bytes]
"""What packs an answer, the size it announces, and what precedes and follows its offsets and times."""


class Like(NamedTuple):
    """What a request for one partition has besides records."""

    transactional_id: str | None
    acks: int
    timeout_ms: int
    place: Place


class ProduceReader:
    """Reads v0 to v13; records are views of the frame. Raises one of READ_ERRORS."""

    __slots__ = ("_by_id", "_flexible", "_head", "_like", "_long", "_short", "_tail", "_transactional")

    def __init__(self, version: int) -> None:
        self._flexible = version >= 9
        self._by_id = version >= 13
        self._transactional = version >= 3
        self._short: Read = _compact if self._flexible else _length16
        self._long: Read = _compact if self._flexible else _length32
        self._tail = b"\0\0\0" if self._flexible else b""
        self._head = b""
        self._like = Like(None, 0, 0, ("", None, 0))

    def __call__(self, data: Data, offset: int) -> ProduceRequest:
        found = self.like_the_last(data, offset)
        if found is None:
            return self._read(data, offset)
        (transactional_id, acks, timeout_ms, (name, topic_id, index)), records = found
        partition = PartitionProduceData(index, records)
        return ProduceRequest(
            transactional_id, acks, timeout_ms, [TopicProduceData(topic_id, [partition], name)]
        )

    def like_the_last(self, data: Data, offset: int) -> tuple[Like, Data] | None:
        """What it has in common with the last request that named one partition, and its records; None if it
        differs from that in anything else."""
        head = self._head
        records_at = offset + len(head)
        if head and data[offset:records_at] == head:
            if self._flexible:
                # Inlined: most sizes have one or two bytes, and a call is more expensive than the rest.
                size, more = data[records_at], data[records_at + 1]
                if size < 0x80:
                    size, records_at = size - 1, records_at + 1
                elif more < 0x80:
                    size, records_at = (size & 0x7F | more << 7) - 1, records_at + 2
                else:
                    size, records_at = _compact(data, records_at)
            else:
                size, records_at = _INT32(data, records_at)[0], records_at + 4
            end = records_at + size
            if size > 0 and data[end:] == self._tail and end <= len(data):
                return self._like, data[records_at:end]
        return None

    def _read(self, data: Data, start: int) -> ProduceRequest:
        transactional_id, offset = self._text(data, start) if self._transactional else (None, start)
        acks, timeout_ms = _ACKS_TIMEOUT(data, offset)
        topics = []
        records_at = 0
        count, offset = self._count(data, offset + 6, 0)
        entries = count
        for _ in range(count):
            topic, offset, records_at = self._topic(data, offset, entries)
            entries += len(topic.partition_data)
            topics.append(topic)
        if self._flexible:
            skip_tags(data, offset)
        if len(topics) == 1 and len(topics[0].partition_data) == 1:
            only = topics[0]
            self._head = bytes(data[start:records_at])
            place = (only.name, only.topic_id, only.partition_data[0].index)
            self._like = Like(transactional_id, acks, timeout_ms, place)
        return ProduceRequest(transactional_id, acks, timeout_ms, topics)

    def _topic(self, data: Data, offset: int, entries: int) -> tuple[TopicProduceData, int, int]:
        """The topic, the offset after it, and the position of the size of its last records."""
        if self._by_id:
            raw = bytes(_slice(data, offset, 16))
            topic = TopicProduceData(topic_id=UUID(bytes=raw) if any(raw) else None)
            offset += 16
        else:
            name, offset = self._text(data, offset)
            if name is None:
                raise ValueError("a topic without a name")
            topic = TopicProduceData(name=name)
        count, offset = self._count(data, offset, entries)
        records_at = 0
        for _ in range(count):
            (index,) = _INT32(data, offset)
            records_at = offset + 4
            size, offset = self._long(data, records_at)
            records = None if size < 0 else _slice(data, offset, size)
            topic.partition_data.append(PartitionProduceData(index, records))
            offset += max(size, 0)
            if self._flexible:
                offset = skip_tags(data, offset)
        return topic, skip_tags(data, offset) if self._flexible else offset, records_at

    def _count(self, data: Data, offset: int, entries: int) -> tuple[int, int]:
        """The number of entries of an array, after `entries` in other arrays, and the offset after the
        number."""
        count, offset = self._long(data, offset)
        if count < 0:
            raise ValueError("an array is null, which it can't be")
        if count > len(data) - offset or count + entries > MAX_ENTRIES:
            raise ValueError(f"{count} entries announced: {len(data) - offset} bytes are left")
        return count, offset

    def _text(self, data: Data, offset: int) -> tuple[str | None, int]:
        size, offset = self._short(data, offset)
        if size < 0:
            return None, offset
        if size > MOST_TEXT:
            raise ValueError(f"a text of {size} bytes: {MOST_TEXT} is the most")
        return text_of(_slice(data, offset, size)), offset + size


class ProduceWriter:
    """Whole answer frames for requests with one partition, by topic and partition."""

    def __init__(self, version: int, write: Writer) -> None:
        self._write = write
        self._tagged = version >= 9
        self._starts = version >= 5
        self._timed = version >= 2
        self._packers: dict[Place, _Around] = {}

    def frame(self, correlation_id: int, answer: ProduceResponse) -> bytes | None:
        """The frame, None if this is not the usual answer."""
        if len(answer.responses) != 1 or answer.throttle_time_ms:
            return None
        topic = answer.responses[0]
        if len(topic.partition_responses) != 1:
            return None
        only = topic.partition_responses[0]
        if only.error_code:
            return None
        place = (topic.name, topic.topic_id, only.index)
        if place not in self._packers:
            if len(self._packers) >= _REMEMBERED:
                self._packers.clear()
            self._packers[place] = self._packer(answer)
        return self.like_an_earlier(correlation_id, place, only)

    def like_an_earlier(
        self, correlation_id: int, place: Place, only: PartitionProduceResponse
    ) -> bytes | None:
        """The same from the result of its partition, which is no error; None if it was never asked for
        that."""
        around = self._packers.get(place)
        if around is None:
            return None
        pack, size, head, tail = around
        base_offset = only.base_offset
        if self._starts:
            time_ms, start = only.log_append_time_ms, only.log_start_offset
            return pack(size, correlation_id, head, base_offset, time_ms, start, tail)
        if self._timed:
            return pack(size, correlation_id, head, base_offset, only.log_append_time_ms, tail)
        return pack(size, correlation_id, head, base_offset, tail)

    def _packer(self, answer: ProduceResponse) -> _Around:
        """Encodes the answer with a placeholder for its base offset, and makes a format of what surrounds
        that."""
        only = answer.responses[0].partition_responses[0]
        base_offset, only.base_offset = only.base_offset, _MARK
        out = FrameBuffer()
        self._write(answer, out)
        only.base_offset = base_offset
        size = 24 if self._starts else 16 if self._timed else 8
        at = out.index(struct.pack(">q", _MARK))
        head, tail = (b"\0" if self._tagged else b"") + out[:at], bytes(out[at + size :])
        length = 4 + len(head) + size + len(tail)
        return struct.Struct(f">ii{len(head)}s{size // 8}q{len(tail)}s").pack, length, head, tail


def _slice(data: Data, offset: int, size: int) -> Data:
    part = data[offset : offset + size]
    if len(part) != size:
        raise ValueError(f"{size} bytes announced, {len(part)} left")
    return part


def _compact(data: Data, offset: int) -> tuple[int, int]:
    value, offset = read_uvarint(data, offset)
    return value - 1, offset


def _length16(data: Data, offset: int) -> tuple[int, int]:
    return _INT16(data, offset)[0], offset + 2


def _length32(data: Data, offset: int) -> tuple[int, int]:
    return _INT32(data, offset)[0], offset + 4
