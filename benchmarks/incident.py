"""How long `mockbroker analyze` takes for the files of a large incident: `python -m benchmarks.incident`.

Two thirds are segments, the rest logs (`broker_logs.py`): those that real brokers wrote in healthy clusters,
from `tests/pipeline/recordings`, again and again, each time later, further in the log, and with other groups
and topics in `__consumer_offsets`. Wall clock, CPU time and memory are those of the whole process tree."""

from __future__ import annotations

import json
import os
import shutil
import struct
import sys
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import IO, Annotated, Final

import typer
from crc32c import crc32c

from benchmarks import broker_logs
from benchmarks.broker_logs import RECORDINGS, TIMED
from benchmarks.pipeline import Folder, kept_in, measure, tell
from benchmarks.spark_tasks import cluster
from mockbroker.dumps.scanning import scan
from mockbroker.protocol.record_batch import HEADER, HEADER_BYTES, parse_header

_SEGMENTS: Final = 0.68
_FILE_BYTES: Final = 100_000_000
"""After which a broker begins a new segment."""
_HOUR_MS: Final = 3_600_000
_PRODUCERS: Final = 100_000
"""More producer ids than a recording has."""
_RECENT: Final = b"\0\0\1"
"""Times of this century begin so, in Unix milliseconds of 8 bytes."""
_NAMES: Final = (b"orders", b"billing", b"shipping", b"reports")
_CRC: Final = struct.Struct(">I")


class _Log:
    """A partition on one broker, of which there is a recorded segment."""

    def __init__(self, recorded: bytes, folder: Path) -> None:
        self._batches = [span.data for span in scan(recorded)]
        last = parse_header(self._batches[-1])
        self._length = last.base_offset + last.last_offset_delta + 1
        self._folder = folder
        self._file: IO[bytes] | None = None

    def append(self, round_: int) -> int:
        """Writes it once more. Bytes."""
        if self._file is None or self._file.tell() >= _FILE_BYTES:
            self.close()
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = (self._folder / f"{self._length * round_:020}.log").open("wb")
        return sum(self._file.write(self._moved(batch, round_)) for batch in self._batches)

    def _moved(self, batch: bytes, round_: int) -> bytes:
        later = round_ * _HOUR_MS
        header = parse_header(batch)
        header = header._replace(
            base_offset=header.base_offset + self._length * round_,
            base_timestamp=header.base_timestamp + later,
            max_timestamp=header.max_timestamp + later,
        )
        if header.producer_id >= 0:
            # Else it would be the same batch, sent again.
            header = header._replace(producer_id=header.producer_id + _PRODUCERS * round_)
        moved = bytearray(HEADER.pack(*header)) + self._records(
            batch[HEADER_BYTES:], header.max_timestamp, round_
        )
        _CRC.pack_into(moved, 17, crc32c(memoryview(moved)[21:]))
        return bytes(moved)

    def _records(self, body: bytes, about_ms: int, round_: int) -> bytes:
        if not self._folder.name.startswith("__consumer_offsets-"):
            return body
        for name in _NAMES:
            body = body.replace(name, f"{round_:0{len(name)}}".encode()[-len(name) :])
        made, at = bytearray(body), body.find(_RECENT)
        while 0 <= at <= len(body) - 8:
            (time_ms,) = struct.unpack_from(">q", body, at)
            if abs(time_ms + round_ * _HOUR_MS - about_ms) < _HOUR_MS:
                struct.pack_into(">q", made, at, time_ms + round_ * _HOUR_MS)
            at = body.find(_RECENT, at + 1)
        return bytes(made)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def write(folder: Path, size: int, segments: str = "3.9.2-rolling-restart", logs: str = "3.9.2-*") -> None:
    """Writes some `size` bytes: `broker1/server.log.1`, `broker1/data/orders-0/…` and so on."""
    broker_logs.write(folder, int(size * (1 - _SEGMENTS)), logs)
    left = int(size * _SEGMENTS)
    with ExitStack() as files:
        found = list(_logs(folder, RECORDINGS / segments))
        for each in found:
            files.callback(each.close)
        for round_ in count():
            for each in found:
                left -= each.append(round_)
            if left <= 0:
                return


def _logs(folder: Path, recording: Path) -> Iterator[_Log]:
    with tarfile.open(recording / "files.tar.xz") as archive:
        for member in archive:
            path = Path(member.name)
            if path.suffix == ".log" and "data" in path.parts and member.size:
                file = archive.extractfile(member)
                assert file is not None
                yield _Log(file.read(), folder / path.parent)


def main(
    megabytes: Annotated[int, typer.Option(help="Of files.")] = 1_030,
    folder: Folder = None,
    engines: Annotated[str, typer.Option(help="duckdb, or spark-N: N workers of one core each.")] = "duckdb",
) -> None:
    """Print a line of JSON for each engine."""
    with kept_in(folder) as kept:
        files, out = kept / f"incident-{megabytes}", kept / f"out-{megabytes}"
        if not files.exists():
            write(files, megabytes * 1_000_000)
        for engine in engines.split(","):
            shutil.rmtree(out, ignore_errors=True)
            command = [sys.executable, "-c", TIMED, str(files), str(out)]
            workers = int(engine.partition("spark-")[2] or 0)
            with _cluster(kept / "work", workers) if workers else nullcontext() as master:
                command += [master] if master else []
                what = f"analyze {megabytes:,} MB of an incident, {engine}"
                measured = measure(what, command, below=os.getpid())
            tell(measured, **json.loads(measured.said.strip().splitlines()[-1]))


@contextmanager
def _cluster(folder: Path, workers: int) -> Iterator[str]:
    folder.mkdir(exist_ok=True)
    with cluster(folder, workers) as url:
        yield url
    shutil.rmtree(folder)


if __name__ == "__main__":
    typer.run(main)
