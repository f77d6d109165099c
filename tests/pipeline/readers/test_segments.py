"""Log segments: each batch a row, and each byte accounted for."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mockbroker.dumps import scanning
from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.group_metadata import GroupMetadata, MemberMetadata, write_group
from mockbroker.protocol.offsets_log import Commit, commit_key, commit_value, group_key
from mockbroker.protocol.transaction_log import Layout, TransactionValue, write_key, write_value
from mockbroker.rig.batches import GZIP, LZ4, NONE, OLD, SNAPPY, ZSTD, control_batch

from .reading import rows, source
from .segments import data, old, segment

TWO = data(0, 2, producer_id=7, producer_epoch=1, sequence=4)
BATCH = {"topic": "orders", "partition": 0, "time_ms": OLD, "leader_epoch": 0}


def unreadable(path: Path) -> list[tuple[int, str]]:
    return [(row["position"], row["detail"]) for row in rows(path, place=True) if row["kind"] == "unreadable"]


def test_a_row_for_each_batch(tmp_path: Path) -> None:
    path = segment(tmp_path, TWO + data(2, 3, epoch=1))
    assert source(path) == "segment"
    producer = {"producer_id": 7, "producer_epoch": 1, "sequence": 4}
    assert rows(path) == [
        {"kind": "append", **BATCH, **producer, "offset": 0, "end_offset": 2},
        {"kind": "append", **BATCH, "offset": 2, "end_offset": 5, "leader_epoch": 1},
    ]
    assert [row["position"] for row in rows(path, place=True)] == [0, len(TWO)]


@pytest.mark.parametrize(
    ("codec", "name"), [(GZIP, "gzip"), (SNAPPY, "snappy"), (LZ4, "lz4"), (ZSTD, "zstd")]
)
def test_compression_is_told(tmp_path: Path, codec: int, name: str) -> None:
    (row,) = rows(segment(tmp_path, data(0, codec=codec)))
    assert (row["detail"], row["end_offset"]) == (name, 2)


def test_markers_of_transactions(tmp_path: Path) -> None:
    path = segment(tmp_path, control_batch(1) + control_batch(0))
    assert [row["detail"] for row in rows(path)] == [
        "transactional, control commit",
        "transactional, control abort",
    ]


@pytest.mark.parametrize(
    ("magic", "codec"), [(0, NONE), (0, GZIP), (0, SNAPPY), (1, NONE), (1, GZIP), (1, SNAPPY), (1, LZ4)]
)
def test_formats_before_0_11(tmp_path: Path, magic: int, codec: int) -> None:
    path = segment(tmp_path, old(magic, codec))
    assert source(path) == "segment"
    found = rows(path)
    spans = [(row["offset"], row["end_offset"]) for row in found]
    assert spans == ([(0, 1), (1, 2), (2, 3)] if codec == NONE else [(0, 3)])
    assert {row["kind"] for row in found} == {"append"}
    assert [row.get("time_ms") for row in found][-1] == (1002 if magic else None)


def test_a_truncated_tail(tmp_path: Path) -> None:
    path = segment(tmp_path, TWO + TWO[:-5])
    assert len(rows(path)) == 2
    size = len(TWO)
    assert unreadable(path) == [
        (size, f"truncated tail: {size - 5} bytes of a batch of {size} ({size - 5} bytes)")
    ]


def test_a_wrong_crc_does_not_end_the_reading(tmp_path: Path) -> None:
    damaged = bytearray(TWO)
    damaged[-1] ^= 1
    path = segment(tmp_path, TWO + bytes(damaged) + data(4))
    assert [row["kind"] for row in rows(path)] == ["append", "unreadable", "append"]
    ((position, reason),) = unreadable(path)
    assert position == len(TWO)
    assert reason.startswith("wrong CRC 0x")
    assert reason.endswith(f"({len(TWO)} bytes)")


def test_an_unknown_magic_and_where_it_goes_on(tmp_path: Path) -> None:
    strange = bytearray(TWO)
    strange[16] = 9
    path = segment(tmp_path, TWO + bytes(strange) + data(4))
    assert unreadable(path) == [(len(TWO), f"unknown magic 9 ({len(TWO)} bytes)")]
    assert [row["kind"] for row in rows(path)] == ["append", "unreadable", "append"]


def test_zeros_at_the_end(tmp_path: Path) -> None:
    ((position, reason),) = unreadable(segment(tmp_path, TWO + bytes(100)))
    assert position == len(TWO)
    assert reason.startswith("zeros: ")


def test_a_segment_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "copied.bin"
    path.write_bytes(TWO)
    assert source(path) == "segment"
    assert "topic" not in rows(path)[0]
    text = segment(tmp_path, b"[2018-06-23 00:45:37,409] not a segment\n")
    assert source(text) is None
    assert (source(segment(tmp_path, b"")), rows(segment(tmp_path, b""))) == ("segment", [])


@pytest.mark.parametrize("suffix", ["-delete", "-future", "-stray"])
def test_folders_that_kafka_is_about_to_drop(tmp_path: Path, suffix: str) -> None:
    (row,) = rows(segment(tmp_path, TWO, f"my-topic-12.{'0' * 32}{suffix}"))
    assert (row["topic"], row["partition"]) == ("my-topic", 12)


def test_the_offsets_topic(tmp_path: Path) -> None:
    key, value = commit_key("readers", "orders", 3), commit_value(Commit(42, 6, "", 1000), 3)
    group = group_key("readers")
    member = MemberMetadata("m-1", None, "m", "/127.0.0.1", 1000, 1000, b"", b"")
    made = write_group(GroupMetadata("consumer", 5, "range", "m-1", 2000, [member]), 3)
    records = [
        (key, value),
        (key, None),
        (group, made),
        (group, None),
        (b"\0\7", b"x"),
        (b"\0\1\0\7rea", b"x"),
    ]
    batch = bytes(key_values(records, OLD))
    _, commit, gone, stable, dead, torn = rows(segment(tmp_path, batch, "__consumer_offsets-9"))
    place = {"group": "readers", "topic": "orders", "partition": 3}
    assert commit == {"kind": "commit", **place, "time_ms": 1000, "offset": 42, "leader_epoch": 6}
    assert gone == {"kind": "tombstone", **place, "time_ms": OLD, "detail": "committed offset"}
    assert stable == {
        "kind": "group",
        "group": "readers",
        "time_ms": 2000,
        "generation": 5,
        "detail": "Stable",
    }
    assert dead == {"kind": "tombstone", "group": "readers", "time_ms": OLD, "detail": "classic group"}
    assert torn["kind"] == "unreadable"
    assert torn["detail"].startswith("__consumer_offsets record at offset 5: a key is cut short")


def test_members_of_the_newer_groups(tmp_path: Path) -> None:
    key = b"\0\5\0\7readers\0\3m-1"  # ConsumerGroupMemberMetadataKey, KIP-848
    batch = bytes(key_values([(key, b"x"), (key, None)], OLD))
    _, joined, left = rows(segment(tmp_path, batch, "__consumer_offsets-9"))
    member = {"group": "readers", "time_ms": OLD, "detail": "consumer member m-1"}
    assert joined == {"kind": "group", **member}
    assert left == {"kind": "tombstone", **member}


def test_an_offset_that_a_transaction_commits(tmp_path: Path) -> None:
    record = commit_key("readers", "orders", 3), commit_value(Commit(42, 6, "", 1000), 3)
    batch = bytes(key_values([record], OLD, attributes=0x10, producer_id=8, producer_epoch=2))
    _, commit = rows(segment(tmp_path, batch, "__consumer_offsets-9"))
    assert (commit["producer_id"], commit["producer_epoch"], commit["detail"]) == (8, 2, "in a transaction")


@pytest.mark.parametrize("layout", list(Layout))
def test_the_transaction_topic(tmp_path: Path, layout: Layout) -> None:
    value = TransactionValue(8, 2, 60_000, 1, {"orders": [0, 3]}, 2000, 1000)
    key = write_key("mover")
    batch = bytes(key_values([(key, write_value(value, layout)), (key, None)], OLD))
    _, ongoing, gone = rows(segment(tmp_path, batch, "__transaction_state-0"))
    assert ongoing == {
        "kind": "transaction",
        "transactional_id": "mover",
        "time_ms": 2000,
        "producer_id": 8,
        "producer_epoch": 2,
        "detail": "Ongoing orders-0 orders-3",
    }
    assert (gone["kind"], gone["transactional_id"]) == ("tombstone", "mover")


PIECES = st.one_of(
    st.binary(max_size=80),
    st.sampled_from([TWO, data(2, 1, codec=GZIP), old(0, NONE, 1), old(1, GZIP, 2), bytes(40), TWO[:-3]]),
    st.tuples(st.integers(0, len(TWO) - 1), st.integers(1, 255)).map(
        lambda at: TWO[: at[0]] + bytes([TWO[at[0]] ^ at[1]]) + TWO[at[0] + 1 :]
    ),
)


@given(st.lists(PIECES, max_size=6).map(b"".join))
def test_every_byte_is_accounted_for(content: bytes) -> None:
    spans = list(scanning.scan(content))
    assert [each.position for each in spans] == [
        sum(before.size for before in spans[:index]) for index in range(len(spans))
    ]
    assert sum(each.size for each in spans) == len(content)
    assert all(bool(each.data) != bool(each.reason) for each in spans)


@pytest.mark.parametrize("attributes", range(0, 128, 8))
def test_a_batch_after_other_bytes_is_found_whatever_it_is(attributes: int) -> None:
    """Its time, its transaction, control records, and a delete horizon are bits 3 to 6."""
    batch = bytes(key_values([(b"k", b"v")], OLD, attributes=attributes))
    junk, whole = scanning.scan(b"?" * 30 + batch)
    assert (junk.size, whole.data) == (30, batch)


def test_parts_begin_where_something_is_left() -> None:
    assert scanning.starts(TWO, 1) == [0]
    assert scanning.starts(TWO * 3, 1) == [0, len(TWO), 2 * len(TWO)]
    assert scanning.starts(TWO * 3, len(TWO) + 1) == [0, 2 * len(TWO)]


@given(st.lists(PIECES, max_size=6).map(b"".join), st.integers(1, 300))
def test_reading_in_parts_is_reading_the_whole(content: bytes, apart: int) -> None:
    starts = scanning.starts(content, apart)
    parts = zip(starts, [*starts[1:], len(content)], strict=True)
    assert [each for start, end in parts for each in scanning.scan(content, start, end)] == list(
        scanning.scan(content)
    )


def test_anything_is_read() -> None:
    segments = 0

    @given(
        st.lists(PIECES, max_size=6).map(b"".join), st.sampled_from(["orders-0", "__consumer_offsets-0", "x"])
    )
    @example(TWO, "orders-0")
    def check(content: bytes, partition: str) -> None:
        nonlocal segments
        with tempfile.TemporaryDirectory() as folder:
            path = segment(Path(folder), content, partition)
            spans = list(scanning.scan(content))
            if source(path) == "segment":
                segments += 1
                found = [row for row in rows(path, place=True) if row["source"] == "segment"]
                assert {row["position"] for row in found} == {each.position for each in spans}

    check()
    assert segments
