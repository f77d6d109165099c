"""Files as readers see them: their first bytes, their lines, compressed or not."""

import gzip
import mmap
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Final, NamedTuple

HEAD_BYTES: Final = 1 << 16
LONGEST_LINE: Final = 1 << 24
_GZIP: Final = b"\x1f\x8b"


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


class DamagedError(ValueError):
    """Compressed data that ends too early, or is not what it says; `line` is the first that can't be read."""

    def __init__(self, line: int, reason: object) -> None:
        super().__init__(f"compressed data is broken: {reason}")
        self.line = line


def head(path: Path) -> Head:
    """OSError if the file can't be read."""
    with path.open("rb") as raw:
        data = raw.read(HEAD_BYTES)
    if not data.startswith(_GZIP):
        return Head(path, data, False)
    try:
        with gzip.open(path) as file:
            return Head(path, file.read(HEAD_BYTES), True)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return Head(path, _inflated(data), True)


def _inflated(data: bytes) -> bytes:
    """As much as can be read of a compressed file that is cut short."""
    try:
        return zlib.decompressobj(31).decompress(data, HEAD_BYTES)
    except zlib.error:
        return b""


def lines(path: Path) -> Iterator[Line]:
    """The lines of a text file, without newlines. OSError, DamagedError."""
    number = 0
    with _open(path) as file:
        try:
            while data := file.readline(LONGEST_LINE):
                number += 1
                text = data.decode(errors="replace").rstrip("\r\n")
                yield Line(number, text, data.endswith(b"\n"))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DamagedError(number + 1, error) from None


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
    return gzip.open(path) if compressed else path.open("rb")  # type: ignore[return-value]


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap | bytes]:
    """A file's bytes, which are only read when used. OSError."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data
