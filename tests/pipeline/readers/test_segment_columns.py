"""Segments are read column by column as they are row by row."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from crc32c import crc32c
from hypothesis import example, given
from hypothesis import strategies as st

from mockbroker.pipeline.readers import segments
from mockbroker.pipeline.readers.files import Reading
from mockbroker.pipeline.writing import Columns, Row, Rows
from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.offsets_log import NO_TOPIC_ID, Commit, commit_key, commit_value, group_key
from mockbroker.rig.batches import GZIP, LZ4, NONE, OLD, control_batch

from .segments import data, old, segment

OFFSETS = "__consumer_offsets-9"
KEYS = (commit_key("readers", "orders", 3), commit_key("g", "t", 0), group_key("readers"), b"\0\7", b"\0\1\0")
KEYS_OF_COMMITS = st.sampled_from(KEYS[:2])
COMMITS = st.builds(
    commit_value,
    st.builds(
        Commit,
        st.integers(-1, 1 << 40),
        st.integers(-1, 9),
        st.sampled_from(["", "", "metadata"]),
        st.integers(-1, OLD),
        expire_ms=st.just(-1),
        topic_id=st.sampled_from([NO_TOPIC_ID, bytes(range(16))]),
    ),
    st.integers(0, 4),
)
RECORDS = st.lists(
    st.tuples(KEYS_OF_COMMITS | st.sampled_from([*KEYS, b""]), COMMITS | st.binary(max_size=50) | st.none()),
    min_size=1,
    max_size=4,
)
HEADERS = st.fixed_dictionaries(
    {
        "attributes": st.sampled_from([0, 0, 0x08, 0x10, 0x40, 0x07]),
        "producer_id": st.integers(-1, 1),
        "producer_epoch": st.integers(-1, 1),
    }
)


@st.composite
def batches(draw: st.DrawFn) -> bytes:
    """One whose CRC is right, whatever is in it."""
    batch = bytearray(key_values(draw(RECORDS), OLD, **draw(HEADERS)))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        batch[draw(st.integers(21, len(batch) - 1))] = draw(st.integers(0, 255))
    struct.pack_into(">I", batch, 17, crc32c(batch[21:]))
    return bytes(batch)


WHOLE = bytes(key_values([(KEYS[0], commit_value(Commit(42, 6, "", 1000), 3))], OLD))
MANY = bytes(key_values([(KEYS[0], commit_value(Commit(at, 6, "", 1000), 4)) for at in range(101)], OLD))
OTHERS = st.sampled_from(
    [data(2, 1, codec=GZIP), data(2, 3, codec=LZ4), old(0, NONE, 1), old(1, GZIP, 2), control_batch(1)]
) | st.sampled_from([bytes(40), WHOLE[:-3], WHOLE[:30]])


def table(read: Iterable[Row]) -> dict[str, list[dict[str, Any]]]:
    """By kind."""
    found: dict[str, list[dict[str, Any]]] = {}
    rows = Rows(lambda kind, table: found.setdefault(kind, []).extend(table.to_pylist()))
    rows.add(read)
    rows.flush()
    return found


@given(
    st.lists(batches() | OTHERS, max_size=5).map(b"".join),
    st.sampled_from([OFFSETS, "orders-0", "__transaction_state-0"]),
)
@example(WHOLE * 3, OFFSETS)
@example(WHOLE + MANY, OFFSETS)
def test_the_rows_are_the_same(content: bytes, partition: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = segment(Path(folder), content, partition)
        by_row = table(segments.read(path, Reading()))
        assert table(segments.read_part(path, Reading(), 0, len(content))) == by_row


def test_commits_come_in_columns(tmp_path: Path) -> None:
    """Those of usual batches, and nothing else of these."""
    commits = [Commit(at, 6, "", 1000, topic_id=bytes(range(at, at + 16))) for at in range(6)]
    records = [(KEYS[each.offset % 2], commit_value(each, 3 + each.offset % 3 % 2)) for each in commits]
    usual = bytes(key_values(records, OLD))
    path = segment(tmp_path, usual * 1000, OFFSETS)
    found = list(segments.read_part(path, Reading(), 0, path.stat().st_size))
    columns = [each for each in found if isinstance(each, Columns)]
    assert len(found) == len(columns)
    assert sum(each.batch.num_rows for each in columns if each.kind == "commit") == 6000


def test_a_part_ends_where_the_next_one_begins(tmp_path: Path) -> None:
    path = segment(tmp_path, (WHOLE + data(0) + WHOLE[:-1] + b"?" + WHOLE) * 50, OFFSETS)
    begins = [*segments.cuts(path, 500), path.stat().st_size]
    assert len(begins) > 5
    found: dict[str, list[Any]] = {}
    for start, end in pairwise(begins):
        for kind, rows in table(segments.read_part(path, Reading(), start, end)).items():
            found.setdefault(kind, []).extend(rows)
    assert found == table(segments.read(path, Reading()))
