"""Logs of brokers and clients in pieces: the rows of the whole file, wherever it is cut."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.readers import Reader, Reading, pieces
from mockbroker.pipeline.readers.files import LONGEST, head
from mockbroker.pipeline.readers.logs import READERS
from tests.properties import examples

pytest.importorskip("numpy")
pytest.importorskip("pyarrow")
RECORDING = Path(__file__).parent.parent / "recordings" / "3.9.2-rolling-restart" / "files.tar.xz"
MESSAGES = [
    json.loads(line)["message"] for line in (Path(__file__).parent / "entries.jsonl").read_text().splitlines()
]
BROKERS, CLIENTS = READERS
FENCED = "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Partition orders-0 "
DECIDED = "[ReplicaFetcher replicaId=2, leaderId=1] Truncating partition orders-0 to local high watermark 7"
NO_EFFECT = (
    "[UnifiedLog partition=orders-0, dir=/d] Truncating to 7 has no effect "
    "as the largest offset in the log is 6"
)
FAILED = "[2026-11-23 02:12:13,123] ERROR Error processing data for partition orders-0 offset 3 (x.Y)"
CAUSE = "Caused by: org.apache.kafka.common.errors.OffsetOutOfRangeException: beyond the end"

_time = st.builds(
    "[2026-11-{:02}{}02:12:{:02}{}]".format,
    st.integers(0, 31),
    st.sampled_from(" T"),
    st.integers(10, 13),
    st.sampled_from(["", ",123", ",5Z", ".999+0200"]),
)
_message = st.sampled_from(MESSAGES) | st.sampled_from(
    [
        FENCED + "has an older epoch (1) than the current leader. Will await the new LeaderAndIsr state.",
        FENCED + "marked as failed",
        DECIDED,
        NO_EFFECT,
        "[KafkaServer id=2] started",
        "[Broker id=2] Handling [Partition orders-0 broker=1] of broker=3",
        "[Consumer clientId=a, groupId=g] Handling",
        "[Consumer clientId=b, groupId=null] Handling",
        "nothing",
    ]
)
_complaint = st.builds(
    "{} {} {}".format,
    _time,
    st.sampled_from(["WARN", "ERROR", "[x] FATAL"]),
    st.sampled_from(
        [
            "Error processing append operation on partition orders-1 (kafka.server.ReplicaManager)",
            "The moon has gone 1 time (x.Moon)",
            "The moon has gone 2 times (x.Moon)",
            "MX4j is deprecated and will be removed in Kafka 5.0 (kafka.utils.Mx4jLoader)",
        ]
    ),
)
NEVER = "[2026-11-00 02:12:10] WARN "
MOON = "[2026-11-01 02:12:10] ERROR The moon has gone 1 time (x.Moon)"
UNUSED = NEVER + "MX4j is deprecated and will be removed in Kafka 5.0 (kafka.utils.Mx4jLoader)"
APPEND = NEVER + "Error processing append operation on partition orders-1 (kafka.server.ReplicaManager)"
_line = (
    _complaint
    | st.builds("{}{} INFO {}".format, st.sampled_from(["", "\ufeff", "é", "\u2028"]), _time, _message)
    | _message
    | st.builds(
        "{} {}".format,
        st.sampled_from(["[sarama] 2026/11/01", "[лог] 2026/11/01", "at 2026-11-01"]),
        st.sampled_from([APPEND[12:], UNUSED[12:], MOON[12:]]),
    )
    | st.sampled_from(["", "\tat kafka.log.Log", CAUSE, "\udcff\udc80", "[KafkaServer id=3]"])
)


def in_pieces(path: Path, size: int, reading: Reading, reader: Reader = BROKERS) -> list[Observation]:
    starts = pieces.cuts(path, size)
    ranges = pairwise([*starts, path.stat().st_size])
    told = (pieces.told(path, start, end, reading, reader.name) for start, end in ranges)
    return list(pieces.rows(reader.name, str(path), told, reading))


def check(path: Path, size: int, reader: Reader = BROKERS) -> list[Observation]:
    once, cut = Reading(), Reading()
    wanted = list(reader.read(path, once))
    assert in_pieces(path, size, cut, reader) == wanted
    assert cut.without_zone >= once.without_zone, "dates that don't exist are only counted in pieces"
    assert replace(cut, without_zone=once.without_zone) == once
    return wanted


@settings(max_examples=examples(300))
@given(
    st.lists(_line, max_size=60),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 4_000),
    st.sampled_from(READERS),
)
@example([FAILED, *["\tat kafka.log.Log"] * 49, CAUSE, CAUSE], "\n", True, 1, BROKERS)
@example([FAILED, *["\tat kafka.log.Log"] * 50, CAUSE, CAUSE], "\n", True, 1, BROKERS)
@example([MOON, MOON, UNUSED], "\n", False, 1, BROKERS)
@example([MOON, MOON, APPEND, MOON], "\n", False, 1, BROKERS)
@example([], "\n", False, 1, BROKERS)
def test_pieces_make_the_rows_of_the_whole(
    lines: list[str], newline: str, ends: bool, size: int, reader: Reader
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "server.log"
        text = newline.join(lines) + newline * ends
        path.write_bytes(text.encode(errors="surrogateescape"))
        check(path, size, reader)


def test_a_real_log_in_pieces(tmp_path: Path) -> None:
    with tarfile.open(RECORDING) as archive:
        archive.extract("broker1/server.log", tmp_path, filter="data")
    path = tmp_path / "broker1" / "server.log"
    assert pieces.can_cut(head(path))
    assert len(pieces.cuts(path, 1_000)) > 100
    assert len(check(path, 1_000)) == 89


def test_lines_that_are_longer_than_a_line_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pieces, "mockbroker.dumps.files"):
        name = module if isinstance(module, str) else module.__name__
        monkeypatch.setattr(f"{name}.LONGEST_LINE", 100)
    path = tmp_path / "server.log"
    path.write_text(f"{FAILED}\n{'x' * 100}{FAILED}\n{FAILED}\n{CAUSE}\n")
    assert len(check(path, 120)) == 3


def test_long_lines_are_cut_in_pieces_as_in_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    long = "é" * (LONGEST + 1)
    path.write_text(f"{FAILED}\n{long}\n{CAUSE}\n{FAILED}{long}\n{FAILED}{'é' * (LONGEST - len(FAILED))}\n")
    check(path, 100)
    reading = Reading()
    in_pieces(path, 100, reading)
    assert reading.cut == {str(path): [2, 4]}
