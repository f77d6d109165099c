"""Log segments (`00000000000000000000.log`): a row for each batch, and the records of internal topics.

Topic and partition are taken from the name of the folder, as Kafka names it.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from ...dumps.files import mapped
from ...dumps.scanning import Span, scan, starts, whole_batches
from ...dumps.segments import Place, place_of, recognises, records_of
from ...protocol import message_set, record_batch
from ...protocol.batch_writing import marker_of
from ...protocol.record_batch import CONTROL, TRANSACTIONAL, BatchHeader, Record
from ..observations import Observation
from ..writing import Row, in_order
from . import internal_topics, segment_columns
from .files import Reading, readable, unreadable
from .registry import Reader

SOURCE: Final = "segment"
_LEAST_BYTES: Final = 1 << 16
_MOST_BYTES: Final = 1 << 20
"""Of the batches that are read at once."""


def read(path: Path, reading: Reading, start: int = 0, end: int | None = None) -> Iterator[Observation]:
    """`position` is the byte at which the batch begins; batches from `start`, one of `cuts`, to before
    `end`."""
    file, place = str(path), place_of(path)
    with readable(path), mapped(path) as data:
        for span in scan(data, start, end):
            yield from observations(span, file, place)


def read_part(path: Path, reading: Reading, start: int, end: int) -> Iterator[Row]:
    """The same rows as `read`, those of each kind in the same order, most of them in columns."""
    file, place = str(path), place_of(path)
    with readable(path), mapped(path) as data:
        at, size = start, _LEAST_BYTES
        while at < end:
            block = bytes(data[at : at + size])
            starts = whole_batches(block, end - at)
            if len(starts) == 1:
                size, (span, *_) = _LEAST_BYTES, islice(scan(data, at, end), 1)
                yield from observations(span, file, place)
                at += span.size
                continue
            found, left = segment_columns.read(
                segment_columns.Batches(block, starts, at, file, place), _detail_of
            )
            spans = (Span(at + begin, stop - begin, block[begin:stop], "") for begin, stop in left)
            rows = [row for span in spans for row in observations(span, file, place)]
            yield from in_order([*found, *rows]) if rows else found
            at, size = at + starts[-1], min(2 * size, _MOST_BYTES)


def cuts(path: Path, size: int) -> list[int]:
    """Where the parts of some `size` bytes begin, each at a batch. PipelineError."""
    with readable(path), mapped(path) as data:
        return starts(data, size)


def observations(span: Span, file: str, place: Place) -> Iterator[Observation]:
    """The rows of one span of a segment."""
    if span.reason:
        yield _unreadable(span, file, place, f"{span.reason} ({span.size} bytes)")
        return
    try:
        row, records = _batch(span, file, place)
    except (ValueError, IndexError) as error:
        yield _unreadable(span, file, place, f"{error} ({span.size} bytes)")
        return
    yield row
    if place.topic in internal_topics.TOPICS and "control" not in (row.detail or ""):
        try:
            yield from internal_topics.observations(place.topic, records(), row)
        except (ValueError, IndexError) as error:
            yield _unreadable(span, file, place, f"records: {error}")


def _unreadable(span: Span, file: str, place: Place, reason: str) -> Observation:
    row = unreadable(SOURCE, file, span.position, reason)
    row.topic, row.partition = place
    return row


def _batch(span: Span, file: str, place: Place) -> tuple[Observation, Callable[[], list[Record]]]:
    """The row of a batch, and how to read its records."""
    row = Observation("append", SOURCE, file, span.position, topic=place.topic, partition=place.partition)
    if span.magic < 2:
        old = records_of(span)
        message = message_set.read_message(span.data)
        row.offset = old[0].offset if old else message.offset
        row.end_offset = message.offset + 1
        row.time_ms = _known(max([message.timestamp, *(each.timestamp for each in old)]))
        row.detail = _detail(f"magic {message.magic}", _codec(message.codec))
        return row, lambda: old
    header = record_batch.parse_header(span.data)
    row.offset = header.base_offset
    row.end_offset = header.base_offset + header.last_offset_delta + 1
    row.time_ms = _known(header.max_timestamp)
    row.leader_epoch = _known(header.leader_epoch)
    row.producer_id = _known(header.producer_id)
    row.producer_epoch = _known(header.producer_epoch)
    row.sequence = _known(header.base_sequence)
    row.detail = _what(header, span)
    return row, lambda: record_batch.record_list(header, span.data)


def _what(header: BatchHeader, span: Span) -> str | None:
    kind = ""
    if header.attributes & CONTROL:
        marker = marker_of(memoryview(span.data), header) if header.attributes & TRANSACTIONAL else None
        kind = f"control {'commit' if marker.committed else 'abort'}" if marker else "control"
    return _told(header.attributes, kind, header.record_count == 0)


@lru_cache(maxsize=1 << 10)
def _told(attributes: int, kind: str, is_empty: bool) -> str | None:
    return _detail(
        "transactional" * bool(attributes & TRANSACTIONAL),
        kind,
        _codec(attributes & record_batch.COMPRESSION_MASK),
        "no records" * is_empty,
    )


def _detail_of(attributes: int, is_empty: bool) -> str | None:
    return _told(attributes, "", is_empty)


def _codec(codec: int) -> str:
    from ...protocol.compression import Compression

    try:
        return Compression(codec).name.lower() if codec else ""
    except ValueError:
        return f"unknown compression {codec}"


def _detail(*words: str) -> str | None:
    return ", ".join(filter(None, words)) or None


def _known(value: int) -> int | None:
    return None if value < 0 else value


READERS: Final = [Reader(SOURCE, "Kafka log segment", recognises, read, cuts, read_part)]
