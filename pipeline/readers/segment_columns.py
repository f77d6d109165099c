"""Batches of segments, and the offsets that are committed in them, column by column: some ten times faster
than row by row.

Only what is usual: whole batches of magic 2 that are no markers, and commits without metadata in batches that
are not compressed. The rest is left to `segments.py`, batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...dumps.segments import Place
from ...protocol.offsets_log import CommitKey, read_key
from ...protocol.record_batch import COMPRESSION_MASK, CONTROL, HEADER_BYTES
from ..writing import Columns, columns_of
from .internal_topics import IN_TRANSACTION, OFFSETS, TOPICS

Fields = Sequence[tuple[str, str]]
Detail = Callable[[int, bool], str | None]
_HEADER: Final = (
    *(("base_offset", ">i8"), ("length", ">i4"), ("leader_epoch", ">i4"), ("magic", "i1"), ("crc", ">u4")),
    *(("attributes", ">i2"), ("last_offset_delta", ">i4"), ("base_timestamp", ">i8")),
    *(("max_timestamp", ">i8"), ("producer_id", ">i8"), ("producer_epoch", ">i2"), ("base_sequence", ">i4")),
    ("record_count", ">i4"),
)
_VALUE: Final = (("version", ">i2"), ("offset", ">i8"), ("leader_epoch", ">i4"))
_V3: Final = (*_VALUE, ("metadata", ">i2"), ("commit_ms", ">i8"))
_V4: Final = (*_VALUE, ("metadata", "i1"), ("commit_ms", ">i8"), ("tags", "i1"))
_VALUE_BYTES: Final = 24
_WITH_ID_BYTES: Final = 42
"""A value of version 4 with a topic's id: a tag, a size and the UUID."""
_TAGGED_ID: Final = 0, 16
_MOST_RECORDS: Final = 100
"""Of a batch: at each step one record of every batch is looked for."""
_VARINT_BYTES: Final = 5
_BEYOND: Final = bytes(HEADER_BYTES)
"""What may be looked at after the last batch."""
_key = lru_cache(maxsize=1 << 12)(read_key)


class Batches(NamedTuple):
    """Those that begin at `starts` in `data`, the last start being the end; `data` begins at `position` in
    the file."""

    data: bytes
    starts: Sequence[int]
    position: int
    file: str
    place: Place


def read(
    batches: Batches, detail: Callable[[int, bool], str | None]
) -> tuple[list[Columns], list[tuple[int, int]]]:
    """Rows, and where the batches begin and end that are left. `detail` is that of a batch with these
    attributes, and without records."""
    import numpy as np

    raw = np.frombuffer(batches.data + _BEYOND, np.uint8)
    at = np.array(batches.starts, np.int64)
    headers = _fields(raw, at[:-1], _HEADER)
    usual = headers["attributes"] & CONTROL == 0
    found: list[Columns] = []
    if batches.place.topic == OFFSETS:
        found += _commits(batches, raw, at, headers, usual)
    elif batches.place.topic in TOPICS:
        usual[:] = False
    found += _appends(batches, at[:-1][usual], headers[usual], detail)
    left = np.flatnonzero(~usual)
    return found, list(zip(at[left].tolist(), at[left + 1].tolist(), strict=True))


def _appends(batches: Batches, at: Any, headers: Any, detail: Detail) -> list[Columns]:
    import numpy as np
    import pyarrow as pa

    told, of = np.unique(
        headers["attributes"].astype(np.int64) * 2 + (headers["record_count"] == 0), return_inverse=True
    )
    details = pa.array([detail(each >> 1, bool(each & 1)) for each in told.tolist()], pa.string())
    base = headers["base_offset"].astype(np.int64)
    return _columns(
        *("append", batches, at),
        time_ms=_known(headers["max_timestamp"]),
        topic=batches.place.topic,
        partition=batches.place.partition,
        offset=base,
        end_offset=base + headers["last_offset_delta"] + 1,
        leader_epoch=_known(headers["leader_epoch"]),
        producer_id=_known(headers["producer_id"]),
        producer_epoch=_known(headers["producer_epoch"]),
        sequence=_known(headers["base_sequence"]),
        detail=details.take(pa.array(of)),
    )


def _commits(batches: Batches, raw: Any, at: Any, headers: Any, usual: Any) -> list[Columns]:
    """The rows of batches of which all records are commits; the others are not `usual` any more."""
    import numpy as np
    import pyarrow as pa

    usual &= (headers["attributes"] & COMPRESSION_MASK == 0) & (headers["record_count"] <= _MOST_RECORDS)
    of, start, end = _records(raw, at, headers["record_count"], usual)
    # After the attributes come the differences of time and offset.
    key, key_end, is_whole = start + 1, start, np.ones(len(start), bool)
    for _ in range(3):
        size, key, is_known = _varints(raw, key)
        is_whole &= is_known
    key_end = key + size
    length, value, is_known = _varints(raw, key_end)
    is_whole &= is_known & (size >= 0) & (key_end <= end) & (value + length <= end)
    old, new = (_fields(raw, value, each) for each in (_V3, _V4))
    is_old = (old["version"] == 3) & (old["metadata"] == 0) & (length == _VALUE_BYTES)
    is_new = (new["version"] == 4) & (new["metadata"] == 1)
    is_new &= ((length == _VALUE_BYTES) & (new["tags"] == 0)) | (
        (length == _WITH_ID_BYTES) & (new["tags"] == 1) & _has_id(raw, value + _VALUE_BYTES)
    )
    commit_ms = np.where(is_old, old["commit_ms"], new["commit_ms"])
    is_whole &= (is_old | is_new) & (commit_ms >= 0)
    some = np.flatnonzero(is_whole)
    keys, which = _keys(batches.data, key[some], key_end[some])
    is_commit = np.array([isinstance(each, CommitKey) for each in keys], bool)
    is_whole[some] = is_commit[which]
    usual[of[~is_whole]] = False

    kept = usual[of[some]]
    some, of, taken = some[kept], of[some[kept]], pa.array(which[kept])
    names = [each if isinstance(each, CommitKey) else CommitKey("", "", 0) for each in keys]
    group, topic, partition = (
        pa.array([each[nth] for each in names], kind).take(taken)
        for nth, kind in enumerate((pa.string(), pa.string(), pa.int32()))
    )
    producer = headers["producer_id"][of]
    return _columns(
        *("commit", batches, at[of]),
        time_ms=commit_ms[some],
        group=group,
        topic=topic,
        partition=partition,
        offset=old["offset"][some],
        leader_epoch=_known(old["leader_epoch"][some]),
        producer_id=_known(producer),
        producer_epoch=_known(headers["producer_epoch"][of]),
        detail=pa.array([None, IN_TRANSACTION], pa.string()).take(pa.array((producer >= 0).astype(np.int8))),
    )


def _records(raw: Any, at: Any, counts: Any, usual: Any) -> tuple[Any, Any, Any]:
    """The number of the batch of each record, and from where until where it goes. Batches in which one goes
    further than the batch are not `usual` any more."""
    import numpy as np

    batch = np.flatnonzero(usual & (counts > 0))
    place, found, number = at[batch] + HEADER_BYTES, [(batch[:0],) * 3], 0
    while len(batch):
        size, start, is_known = _varints(raw, place)
        end = start + size
        is_whole = is_known & (size >= 0) & (end <= at[batch + 1])
        usual[batch[~is_whole]] = False
        found.append((batch[is_whole], start[is_whole], end[is_whole]))
        number += 1
        more = is_whole & (counts[batch] > number)
        batch, place = batch[more], end[more]
    of, start, end = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(start)
    return of[order], start[order], end[order]


def _varints(raw: Any, at: Any) -> tuple[Any, Any, Any]:
    """Numbers, where they end, and whether they are read: not those of more than 32 bits."""
    import numpy as np

    last = len(raw) - 1
    after = at.copy()
    value, more, shift = np.zeros(len(at), np.int64), np.arange(len(at)), 0
    is_known = (at >= 0) & (at <= last)
    while len(more) and shift < 7 * _VARINT_BYTES:
        byte = raw[np.clip(after[more], 0, last)].astype(np.int64)
        value[more] |= (byte & 0x7F) << shift
        after[more] += 1
        more, shift = more[byte >= 0x80], shift + 7
    is_known[more] = False
    return (value >> 1) ^ -(value & 1), after, is_known


def _fields(raw: Any, at: Any, fields: Fields) -> Any:
    """Structures at these places."""
    import numpy as np

    kind = np.dtype(list(fields))
    windows = np.lib.stride_tricks.sliding_window_view(raw, kind.itemsize)
    return windows[np.clip(at, 0, len(windows) - 1)].view(kind)[:, 0]


def _has_id(raw: Any, at: Any) -> Any:
    import numpy as np

    tag, size = (raw[np.clip(at + nth, 0, len(raw) - 1)] == each for nth, each in enumerate(_TAGGED_ID))
    return tag & size


def _keys(data: bytes, start: Any, end: Any) -> tuple[list[Any], Any]:
    """The keys that there are, None for those that can't be read, and which of them each record has."""
    import numpy as np
    import pyarrow as pa

    # Every other text is what is between two keys.
    offsets = np.empty(2 * len(start) + 1, np.int64)
    offsets[:-1:2], offsets[1::2], offsets[-1] = start, end, len(data)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    texts = pa.Array.from_buffers(pa.large_binary(), 2 * len(start), buffers)
    found = texts.take(pa.array(np.arange(0, 2 * len(start), 2))).dictionary_encode()
    return list(map(_read_key, found.dictionary.to_pylist())), found.indices.to_numpy()


def _read_key(data: bytes) -> Any:
    try:
        return _key(data)
    except ValueError:
        return None


def _known(values: Any) -> Any:
    """Null where a number is negative."""
    import pyarrow as pa

    return pa.array(values.astype(values.dtype.newbyteorder("=")), mask=values < 0)


def _columns(kind: str, batches: Batches, at: Any, **values: Any) -> list[Columns]:
    about = {"source": "segment", "file": batches.file, "position": at + batches.position}
    return [columns_of(kind, len(at), about | values)] if len(at) else []
