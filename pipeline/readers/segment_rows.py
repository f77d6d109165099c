"""Log segments as wide rows, for Spark: a row for each batch, or for each record."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ...dumps.files import mapped
from ...dumps.scanning import Span, scan, starts
from ...dumps.segments import Place, place_of, records_of
from ...protocol import message_set, record_batch
from ...protocol.compression import Compression
from ...protocol.record_batch import COMPRESSION_MASK, CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from .files import readable

Row = tuple[Any, ...]
_BATCH: Final = {
    "file": "string",
    "position": "int64",
    "size": "int64",
    "topic": "string",
    "partition": "int32",
    "magic": "int32",
    "base_offset": "int64",
    "last_offset": "int64",
    "leader_epoch": "int32",
    "crc": "int64",
    "crc_valid": "bool_",
    "compression": "string",
    "timestamp_type": "string",
    "base_timestamp": "int64",
    "max_timestamp": "int64",
    "producer_id": "int64",
    "producer_epoch": "int32",
    "base_sequence": "int32",
    "is_transactional": "bool_",
    "is_control": "bool_",
    "record_count": "int32",
    "error": "string",
}
_RECORD: Final = {
    "file": "string",
    "position": "int64",
    "topic": "string",
    "partition": "int32",
    "offset": "int64",
    "timestamp": "int64",
    "key": "binary",
    "value": "binary",
    "leader_epoch": "int32",
    "producer_id": "int64",
    "is_control": "bool_",
    "error": "string",
}


def batch_schema() -> Any:
    return _schema(_BATCH)


def record_schema() -> Any:
    return _schema(_RECORD)


def _schema(columns: dict[str, str]) -> Any:
    import pyarrow as pa

    return pa.schema([(name, getattr(pa, kind)()) for name, kind in columns.items()])


def cuts(path: Path, apart: int) -> list[int]:
    """Positions at which tasks may begin."""
    with readable(path), mapped(path) as data:
        return starts(data, apart)


def batches(path: Path, start: int, end: int, place: tuple[str | None, int | None]) -> Iterator[Row]:
    """A row for each span of the file: a batch, or, with `error`, bytes that are not a batch."""
    where = _place(path, place)
    with readable(path), mapped(path) as data:
        for span in scan(data, start, end, keep_damaged=True):
            yield _batch_row(span, str(path), where)


def records(path: Path, start: int, end: int, place: tuple[str | None, int | None]) -> Iterator[Row]:
    """A row for each record, and one with `error` for what can't be read."""
    where = _place(path, place)
    with readable(path), mapped(path) as data:
        for span in scan(data, start, end):
            yield from _record_rows(span, str(path), where)


def _place(path: Path, said: tuple[str | None, int | None]) -> Place:
    found = place_of(path)
    return Place(said[0] or found.topic, found.partition if said[1] is None else said[1])


def _batch_row(span: Span, file: str, place: Place) -> Row:
    if not span.data:
        unknown = len(_BATCH) - 6
        return (file, span.position, span.size, *place, *[None] * unknown, span.reason)
    common = (file, span.position, span.size, *place, span.magic)
    reason = span.reason or None
    if span.magic < 2:
        return (*common, *_old_batch(span), reason)
    header = record_batch.parse_header(span.data)
    return (
        *common,
        header.base_offset,
        header.base_offset + header.last_offset_delta,
        header.leader_epoch,
        header.crc & 0xFFFFFFFF,
        not span.reason,
        _codec(header.attributes & COMPRESSION_MASK),
        _timestamp_type(header.attributes),
        header.base_timestamp,
        header.max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        bool(header.attributes & TRANSACTIONAL),
        bool(header.attributes & CONTROL),
        header.record_count,
        reason,
    )


def _old_batch(span: Span) -> Row:
    try:
        message = message_set.read_message(span.data)
    except ValueError:
        return (None,) * 15
    try:
        inner = message_set.records(message)
    except (ValueError, IndexError):
        inner = []
    return (
        inner[0].offset if inner else message.offset,
        message.offset,
        None,
        message.crc,
        not span.reason,
        _codec(message.codec),
        _timestamp_type(message.attributes) if message.magic else None,
        message.timestamp if message.magic else None,
        message.timestamp if message.magic else None,
        *(None, None, None, False, False),
        len(inner) or None,
    )


def _record_rows(span: Span, file: str, place: Place) -> Iterator[Row]:
    nothing = (None,) * 7
    if span.reason:
        yield (file, span.position, *place, *nothing, span.reason)
        return
    header = record_batch.parse_header(span.data) if span.magic == 2 else None
    about: Row = (None, None, False)
    if header is not None:
        about = (header.leader_epoch, header.producer_id, bool(header.attributes & CONTROL))
    try:
        found = records_of(span)
    except (ValueError, IndexError) as error:
        yield (file, span.position, *place, *nothing, str(error))
        return
    for each in found:
        yield (file, span.position, *place, *each, *about, None)


def _codec(codec: int) -> str:
    try:
        return Compression(codec).name.lower()
    except ValueError:
        return f"unknown {codec}"


def _timestamp_type(attributes: int) -> str:
    return "LogAppendTime" if attributes & LOG_APPEND_TIME else "CreateTime"
