"""Files as the readers see them: their first bytes, their lines, compressed or not."""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import cached_property
from pathlib import Path
from typing import IO, Final, NamedTuple

from ..errors import PipelineError
from ..observations import Observation

HEAD_BYTES: Final = 1 << 16
MOST_TEXT: Final = 400
"""What `Observation.text` keeps of a line."""
LONGEST_LINE: Final = 1 << 24
_GZIP: Final = b"\x1f\x8b"


@dataclass(slots=True)
class Reading:
    """How files are read, and what was counted meanwhile.

    `timezone` is used for times without a zone; `without_zone` counts those. `lines` and `unknown_lines` are
    counts by file; `unfinished` lists the files whose last line has no newline, and may be torn.
    """

    timezone: tzinfo = UTC
    without_zone: int = 0
    lines: Counter[str] = field(default_factory=Counter)
    unknown_lines: Counter[str] = field(default_factory=Counter)
    unfinished: list[str] = field(default_factory=list)


class Line(NamedTuple):
    """A line of a file, numbered from 1; `ended` unless it is the last one and has no newline."""

    number: int
    text: str
    ended: bool


@dataclass(frozen=True)
class Head:
    """A file's name and its first bytes, after decompression."""

    path: Path
    data: bytes
    compressed: bool

    @cached_property
    def text(self) -> str:
        """Empty if the bytes are not text."""
        if b"\0" in self.data:
            return ""
        return self.data.decode(errors="replace")

    @cached_property
    def lines(self) -> list[str]:
        """The whole lines; also the last one if the file ends there."""
        lines = self.text.splitlines()
        return lines[:-1] if len(self.data) >= HEAD_BYTES else lines


def head(path: Path) -> Head:
    """PipelineError if the file can't be read."""
    with readable(path), path.open("rb") as raw:
        data = raw.read(HEAD_BYTES)
    if not data.startswith(_GZIP):
        return Head(path, data, False)
    try:
        with gzip.open(path) as file:
            return Head(path, file.read(HEAD_BYTES), True)
    except (OSError, EOFError, zlib.error):
        return Head(path, _inflated(data), True)


def _inflated(data: bytes) -> bytes:
    """As much as can be read of a compressed file that is cut short."""
    try:
        return zlib.decompressobj(31).decompress(data, HEAD_BYTES)
    except zlib.error:
        return b""


def lines(path: Path, reading: Reading) -> Iterator[Line | Observation]:
    """The lines of a text file, without newlines; an `unreadable` row where compressed data is damaged."""
    number, ended = 0, True
    name = str(path)
    with readable(path), _open(path) as file:
        try:
            while data := file.readline(LONGEST_LINE):
                number += 1
                ended = data.endswith(b"\n")
                yield Line(number, data.decode(errors="replace").rstrip("\r\n"), ended)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            yield unreadable("text", name, number + 1, f"compressed data is broken: {error}")
    reading.lines[name] += number
    if not ended:
        reading.unfinished.append(name)


def unreadable(source: str, file: str, position: int, reason: str, text: str | None = None) -> Observation:
    """A row for what could not be read, with the reason; `text` is the original text."""
    cut = None if text is None else text[:MOST_TEXT]
    return Observation("unreadable", source, file, position, detail=reason, text=cut)


def walk(paths: Iterable[Path | str]) -> Iterator[Path]:
    """The files, and those in folders, in order of name. PipelineError if one does not exist."""
    for path in map(Path, paths):
        with readable(path):
            if path.is_dir():
                yield from _files(path)
            else:
                path.stat()
                yield path


def _files(folder: Path) -> Iterator[Path]:
    with readable(folder):
        entries = sorted(folder.iterdir())
    for entry in entries:
        if entry.is_dir():
            yield from _files(entry)
        elif entry.is_file():
            yield entry


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
    return gzip.open(path) if compressed else path.open("rb")  # type: ignore[return-value]


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns the system's errors into one that names the path."""
    try:
        yield
    except gzip.BadGzipFile:
        raise
    except OSError as error:
        raise PipelineError(f"{path}: {error.strerror or error}") from None
