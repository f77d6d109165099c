"""Which file is what, folders, paths that can't be read, and bytes of any kind."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
from collections.abc import Callable
from pathlib import Path

import cramjam
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mockbroker.pipeline.observations import KINDS
from mockbroker.pipeline.readers import PipelineError, Reading, read, readers, recognise, survey

from .reading import RECORDED, STORIES, of_kind, rows, source
from .segments import data, segment
from .test_trace import HEAD

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: bytes(cramjam.zstd.compress(data)),
}


# What bzip2 compresses at a time is nearly a megabyte.
@pytest.mark.parametrize(
    ("name", "count"), [("gzip", 3_000), ("bzip2", 20_000), ("xz", 3_000), ("zstd", 3_000)]
)
def test_compressed_text_says_the_same_and_where_it_is_damaged(tmp_path: Path, name: str, count: int) -> None:
    original = STORIES / "kafka-7104.log"
    chance = random.Random(1)
    noise = "".join(f"[2018-06-23 01:00:00,000] INFO {chance.getrandbits(200):x}\n" for _ in range(count))
    whole = COMPRESS[name](original.read_bytes() + noise.encode())
    copy = tmp_path / "server.log"
    copy.write_bytes(whole)
    assert rows(copy) == rows(original)
    copy.write_bytes(whole[: len(whole) * 9 // 10])
    *kept, last = rows(copy)
    assert kept == rows(original)
    assert last["kind"] == "unreadable"
    assert "compressed data is broken" in last["detail"]


def test_folders_are_walked_and_unknown_files_named(tmp_path: Path) -> None:
    known = segment(tmp_path, data(0))
    index = known.with_suffix(".index")
    index.write_bytes(bytes(range(1, 40)))
    (tmp_path / "notes.md").write_text("# Notes\n")
    found = survey([tmp_path, STORIES / "kafka-7104.log"])
    assert [(path.name, reader.name) for path, reader in found.recognised] == [
        (known.name, "segment"),
        ("kafka-7104.log", "broker-log"),
    ]
    assert (found.unknown, found.useless) == ([tmp_path / "notes.md"], [index])
    assert list(read(index)) == []


def test_indexes_that_begin_like_a_batch(tmp_path: Path) -> None:
    """The offsets 57 and 114, at the bytes 4319 and 8556."""
    index = tmp_path / "00000000000000000000.index"
    index.write_bytes(bytes.fromhex("00000039000010df000000720000216c") + bytes(100))
    assert recognise(index) is None


def test_names_do_not_matter(tmp_path: Path) -> None:
    for original in [*STORIES.iterdir(), *RECORDED.glob("*/*.*"), *RECORDED.glob("*/orders-0/*.log")]:
        copy = tmp_path / "a"
        copy.write_bytes(original.read_bytes())
        assert source(copy) == source(original), original
        if source(original) not in (None, "segment"):
            for compress in COMPRESS.values():
                copy.write_bytes(compress(original.read_bytes()))
                assert source(copy) == source(original), original


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    for fails in (lambda: survey([missing]), lambda: recognise(missing), lambda: list(read(missing))):
        with pytest.raises(PipelineError, match=f"^{missing}: No such file or directory$"):
            fails()


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    locked = tmp_path / "locked.log"
    locked.mkdir()
    with pytest.raises(PipelineError, match=f"^{locked}: Is a directory$"):
        recognise(locked)
    if os.geteuid() != 0:
        locked.chmod(0)
        with pytest.raises(PipelineError, match="Permission denied"):
            survey([locked])


def test_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "orders-3").mkdir()
    epochs = tmp_path / "orders-3" / "leader-epoch-checkpoint"
    epochs.write_text("0\n2\n0 0\n4 17\n")
    first, second = rows(epochs)
    assert (first["topic"], first["partition"], first["leader_epoch"], first["offset"]) == ("orders", 3, 0, 0)
    assert (second["leader_epoch"], second["offset"]) == (4, 17)
    marks = tmp_path / "replication-offset-checkpoint"
    marks.write_text("0\n2\norders 3 20\nmy-topic 0 7\n")
    assert rows(marks) == [
        {"kind": "high-watermark", "topic": "orders", "partition": 3, "offset": 20},
        {"kind": "high-watermark", "topic": "my-topic", "partition": 0, "offset": 7},
    ]
    marks.rename(tmp_path / "log-start-offset-checkpoint")
    assert {row["kind"] for row in rows(tmp_path / "log-start-offset-checkpoint")} == {"log-start"}
    epochs.write_text("0\n3\n0 0\n4")
    *_, torn, count = rows(epochs)
    assert (torn["detail"], count["detail"]) == ("torn line", "torn: 2 entries of 3")


AS_2_1 = (
    "OffsetAndMetadata(offset=321, leaderEpoch=Optional[6], metadata=, commitTimestamp=1000, "
    "expireTimestamp=None)"
)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            AS_2_1,
            {"offset": 321, "leader_epoch": 6, "time_ms": 1000},
        ),
        (
            "[OffsetMetadata[321,NO_METADATA],CommitTime 1432000000000,ExpirationTime 1432086400000]",
            {"offset": 321, "time_ms": 1432000000000},
        ),
        ("OffsetAndMetadata[321,NO_METADATA,1432000000000]", {"offset": 321, "time_ms": 1432000000000}),
    ],
)
def test_the_offsets_topic_as_text(tmp_path: Path, value: str, told: dict[str, int]) -> None:
    """As 2.1, 0.9 and 0.8.2 format it (`OffsetAndMetadata.scala`, `OffsetMetadataAndError.scala`)."""
    path = tmp_path / "offsets.txt"
    path.write_text(f"[mirror-maker,PageViewEvent,0]::{value}\n[mirror-maker,PageViewEvent,1]::NULL\n")
    assert source(path) == "console-consumer"
    commit, gone = rows(path)
    place = {"group": "mirror-maker", "topic": "PageViewEvent", "partition": 0}
    assert commit == {"kind": "commit", **place, **told}
    assert (gone["kind"], gone["partition"]) == ("tombstone", 1)


def test_a_dump_of_a_damaged_segment(tmp_path: Path) -> None:
    path = tmp_path / "dump.txt"
    path.write_text(
        "Dumping /data/orders-0/00000000000000000000.log\nStarting offset: 0\n"
        "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 "
        "producerEpoch: -1 partitionLeaderEpoch: 4 isTransactional: false isControl: false position: 0 "
        "CreateTime: 5 size: 75 magic: 2 compresscodec: GZIP crc: 7 isvalid: false\n"
        "offset: 2 position: 75 LogAppendTime: 9 size: 34 magic: 1 compresscodec: NONE crc: 7 isvalid: true\n"
        "Found 11 invalid bytes at the end of 00000000000000000000.log\n"
    )
    wrong, old, tail = rows(path)
    place = {"topic": "orders", "partition": 0}
    assert wrong == {"kind": "unreadable", **place, "time_ms": 5, "detail": "wrong CRC 7 at byte 0"}
    assert old == {"kind": "append", **place, "time_ms": 9, "offset": 2, "end_offset": 3}
    assert tail["detail"].startswith("truncated tail: 11 invalid bytes")


NAMES = ("x", "leader-epoch-checkpoint", "log-start-offset-checkpoint")
RECORDED_FILES = [each for each in [*STORIES.iterdir(), *RECORDED.glob("*/*.*")] if each.is_file()]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200), st.sampled_from(["x", "leader-epoch-checkpoint", "log-start-offset-checkpoint"])
)
def test_any_bytes_are_recognised_or_not(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for row in read(path):
        assert row.kind in KINDS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_to_what_is_known_is_read(tmp_path: Path, data: st.DataObject) -> None:
    """Real files, with bytes changed and cut off: read by the reader whose files they were."""
    original = data.draw(st.sampled_from(RECORDED_FILES))
    content = bytearray(original.read_bytes()[:6000])
    for at, byte in data.draw(st.lists(st.tuples(st.integers(0, 5999), st.integers(0, 255)), max_size=20)):
        if at < len(content):
            content[at] = byte
    path = tmp_path / original.name
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    for reader in readers():
        if reader.name not in ("segment", "capture"):
            for row in reader.read(path, Reading()):
                assert row.kind in KINDS


def test_every_reader_has_a_name_of_its_own() -> None:
    names = [each.name for each in readers()]
    assert len(set(names)) == len(names)


def test_nothing_but_a_head_is_a_trace_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(HEAD)
    assert (source(path), of_kind(rows(path), "unreadable")) == ("trace", [])


def test_a_log_that_speaks_of_kafka_late(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    noise = "2018-06-23 00:45:36,000 INFO com.example.App - served a request in 12 ms\n" * 3_000
    story = (STORIES / "kafka-7104.log").read_text()
    path.write_text(noise + story)
    assert source(path) == "broker-log"
    assert rows(path) == rows(STORIES / "kafka-7104.log")
    path.write_text(noise)
    assert source(path) is None
