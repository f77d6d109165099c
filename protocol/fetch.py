"""Fetch of one partition: what differs from one request of a consumer to the next is where it reads, and from
one answer to the next are offsets and records.

`FetchReader` remembers the last request, and of one that is otherwise the same it reads only the offset.
`FetchWriter` remembers the answer for one partition as one `struct` format, and what follows its records.
"""

import contextlib
import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from .messages.common import NO_LEADER
from .messages.fetch import (
    NO_DIVERGENCE,
    NO_SNAPSHOT,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from .primitives import SPLICE_BYTES, FrameBuffer, write_uvarint
from .reading import READ_ERRORS, Reader
from .writing import Writer

_INT64: Final = struct.Struct(">q")
_REMEMBERED: Final = 1024
_TRIES: Final = 16
"""In how many places an offset is looked for."""
_MARK: Final = 0x5A5B5C5D5E5F6061
_MARKED_RECORDS: Final = b"some records"


class FetchReader:
    """Reads what `read` reads."""

    def __init__(self, read: Reader) -> None:
        self._read = read
        self._head = self._tail = b""
        self._like = FetchRequest()
        self._last: FetchRequest | None = None
        """The last request that was read as a whole, but for its offset, if it was of one partition."""

    def __call__(self, data: bytes, start: int) -> FetchRequest:
        at = start + len(self._head)
        if self._head and data[start:at] == self._head and data[at + 8 :] == self._tail:
            return _copied(self._like, _INT64.unpack_from(data, at)[0])
        request: FetchRequest = self._read(data, start)
        topics = request.topics
        if request.session_epoch == -1 and len(topics) == 1 and len(topics[0].partitions) == 1:
            last, self._last = self._last, _copied(request, 0)
            if last == self._last:
                self._remember(data, start, request)
        return request

    def _remember(self, data: bytes, start: int, request: FetchRequest) -> None:
        """Finds the offset in the request, by reading it with another one in places where it may be."""
        offset = _INT64.pack(request.topics[0].partitions[0].fetch_offset)
        expected, other = _copied(request, _MARK), _INT64.pack(_MARK)
        at = data.find(offset, start)
        for _ in range(_TRIES):
            if at < 0:
                return
            with contextlib.suppress(*READ_ERRORS):
                if self._read(data[:at] + other + data[at + 8 :], start) == expected:
                    self._head, self._tail, self._like = data[start:at], data[at + 8 :], expected
                    return
            at = data.find(offset, at + 1)


def _copied(like: FetchRequest, offset: int) -> FetchRequest:
    """The same request of one partition, at another offset."""
    (topic,) = like.topics
    (asked,) = topic.partitions
    partition = FetchPartition(
        asked.partition,
        asked.current_leader_epoch,
        offset,
        asked.last_fetched_epoch,
        asked.log_start_offset,
        asked.partition_max_bytes,
        asked.replica_directory_id,
        asked.high_watermark,
    )
    return FetchRequest(
        like.cluster_id,
        like.replica_state,
        like.max_wait_ms,
        like.min_bytes,
        like.max_bytes,
        like.isolation_level,
        like.session_id,
        like.session_epoch,
        [FetchTopic(topic.topic_id, [partition], topic.topic)],
        [],
        like.rack_id,
        like.replica_id,
    )


class _Layout(NamedTuple):
    """Packs what comes before the size of the records: the frame's length, correlation id and offsets."""

    pack: Callable[..., bytes]
    size: int
    head: bytes
    middle: bytes
    tail: bytes


class FetchWriter:
    """Whole answer frames for requests of one partition, by topic and partition."""

    def __init__(self, version: int, write: Writer) -> None:
        self._write = write
        self._flexible = version >= 12
        self._starts = version >= 5
        self._isolated = version >= 4
        self._layouts: dict[tuple[object, ...], _Layout] = {}

    def frame(
        self, correlation_id: int, answer: FetchResponse
    ) -> bytes | list[bytes | bytearray | memoryview] | None:
        """The frame, None if this is not the usual answer."""
        if (
            len(answer.responses) != 1
            or answer.error_code
            or answer.throttle_time_ms
            or answer.node_endpoints
        ):
            return None
        topic = answer.responses[0]
        if len(topic.partitions) != 1:
            return None
        only = topic.partitions[0]
        records, aborted = only.records, only.aborted_transactions
        if only.error_code or aborted or not records or only.preferred_read_replica != -1:
            return None
        if (
            only.diverging_epoch is not NO_DIVERGENCE
            or only.current_leader is not NO_LEADER
            or only.snapshot_id is not NO_SNAPSHOT
        ):
            return None
        key = (topic.topic, topic.topic_id, only.partition_index, answer.session_id, aborted is None)
        layout = self._layouts.get(key)
        if layout is None:
            if len(self._layouts) >= _REMEMBERED:
                self._layouts.clear()
            layout = self._layouts[key] = self._layout(answer)
        pack, length, head, middle, tail = layout
        size = len(records[0]) if len(records) == 1 else sum(map(len, records))
        if not self._flexible:
            announced = size.to_bytes(4, "big")
        elif 0x7F <= size < 0x3FFF:
            announced = bytes((size + 1 & 0x7F | 0x80, size + 1 >> 7))
        else:
            varint = bytearray()
            write_uvarint(varint, size + 1)
            announced = bytes(varint)
        length += len(announced) + size
        offsets = (only.high_watermark, only.last_stable_offset)
        if self._starts:
            begin = pack(length, correlation_id, head, *offsets, only.log_start_offset, middle)
        elif self._isolated:
            begin = pack(length, correlation_id, head, *offsets, middle)
        else:
            begin = pack(length, correlation_id, head, only.high_watermark, middle)
        if size < SPLICE_BYTES:
            return b"".join((begin, announced, *records, tail))
        return [begin + announced, *records, tail]

    def _layout(self, answer: FetchResponse) -> _Layout:
        """Encodes the answer with marks for its first offset and its records, and makes a format of what
        surrounds them."""
        only = answer.responses[0].partitions[0]
        high_watermark, records = only.high_watermark, only.records
        only.high_watermark, only.records = _MARK, (_MARKED_RECORDS,)
        out = FrameBuffer()
        self._write(answer, out)
        only.high_watermark, only.records = high_watermark, records
        at = out.index(_INT64.pack(_MARK))
        offsets = 3 if self._starts else 2 if self._isolated else 1
        records_at = out.index(_MARKED_RECORDS)
        head = (b"\0" if self._flexible else b"") + out[:at]
        middle = bytes(out[at + 8 * offsets : records_at - (1 if self._flexible else 4)])
        tail = bytes(out[records_at + len(_MARKED_RECORDS) :])
        packed = struct.Struct(f">ii{len(head)}s{offsets}q{len(middle)}s")
        return _Layout(packed.pack, packed.size - 4 + len(tail), bytes(head), middle, tail)
