"""Files as readers see them: their first bytes, their lines, compressed (gzip, bzip2, xz, zstd) or not."""

import bz2
import gzip
import io
import lzma
import mmap
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Final, NamedTuple

from ..extras import MissingExtraError

HEAD_BYTES: Final = 1 << 16
LONGEST_LINE: Final = 1 << 24
_ZEROS: Final = re.compile("\0+")
_NO_TEXT: Final = re.compile("[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MOST_NO_TEXT: Final = 0.1
"""How much of a text may be bytes that are no characters. Of random bytes, about half are not."""
_SMALL: Final = 1 << 12
_BEFORE: Final = 1 << 14
_DAMAGE: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)


class Line(NamedTuple):
    """A line of a file, numbered from 1; `ended` unless it is the last one and has no newline."""

    number: int
    text: str
    ended: bool


@dataclass(frozen=True)
class Head:
    """A file's name and its first bytes, after decompression. If it is `wrapped`, they are what its lines
    have inside."""

    path: Path
    data: bytes
    compressed: bool
    wrapped: bool = False

    @cached_property
    def text(self) -> str:
        """Empty if too many of the bytes are no characters. Zeros in a row count as one: they are left
        in a file where a machine loses power."""
        text = self.data.decode(errors="replace")
        counted = _ZEROS.sub("\0", text)
        return text if len(_NO_TEXT.findall(counted)) <= _MOST_NO_TEXT * len(counted) else ""

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
    """Of compressed data that is cut short, as much as can be read. OSError if the file can't be read;
    MissingExtraError as for `lines`."""
    with path.open("rb") as raw:
        data = raw.read(HEAD_BYTES)
    if _format(data) is None:
        return Head(path, data, False)
    return Head(path, b"".join(_up_to_damage(path)), True)


def mentions(path: Path, word: bytes, most: int = 5) -> Iterator[Head]:
    """Parts of a large file that is not compressed, around places after its head that have `word`, at most so
    many. OSError."""
    with path.open("rb") as file:
        if _format(file.read(_LONGEST_MAGIC)) is not None:
            return
    with mapped(path) as data:
        at = HEAD_BYTES
        while most and (at := data.find(word, at)) >= 0:
            start = data.rfind(b"\n", 0, max(at - _BEFORE, 0)) + 1
            yield Head(path, bytes(data[start : start + HEAD_BYTES]), False)
            at, most = start + HEAD_BYTES, most - 1


def _up_to_damage(path: Path) -> Iterator[bytes]:
    left = HEAD_BYTES
    with opened(path) as file:
        try:
            while left and (data := file.read(min(left, _SMALL))):
                left -= len(data)
                yield data
        except _DAMAGE as error:
            _check_damage(error)


def lines(path: Path) -> Iterator[Line]:
    """The lines of a text file, without newlines. OSError, DamagedError; MissingExtraError for zstd without
    pyarrow."""
    number = 0
    with opened(path) as file:
        try:
            while data := file.readline(LONGEST_LINE):
                number += 1
                text = data.decode(errors="replace").rstrip("\r\n")
                yield Line(number, text, data.endswith(b"\n"))
        except _DAMAGE as error:
            _check_damage(error)
            raise DamagedError(number + 1, error) from None


def _format(data: bytes) -> Callable[[Path], IO[bytes]] | None:
    return next((opens for magic, opens in _FORMATS.items() if data.startswith(magic)), None)


def is_compressed(path: Path) -> bool:
    """OSError."""
    with path.open("rb") as file:
        return _format(file.read(_LONGEST_MAGIC)) is not None


def opened(path: Path) -> IO[bytes]:
    """A file's bytes, after decompression. OSError; MissingExtraError for zstd without pyarrow."""
    with path.open("rb") as file:
        opens = _format(file.read(_LONGEST_MAGIC))
    return path.open("rb") if opens is None else opens(path)


def _gzip(path: Path) -> IO[bytes]:
    return gzip.open(path)  # type: ignore[return-value]


def _zstd(path: Path) -> IO[bytes]:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError(f"{path}: zstd needs pyarrow", "parquet") from None
    return io.BufferedReader(pa.CompressedInputStream(str(path), "zstd"))


def _check_damage(error: Exception) -> None:
    """Raises errors of the system again: those of libraries have no number."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error


_FORMATS: Final[dict[bytes, Callable[[Path], IO[bytes]]]] = {
    b"\x1f\x8b": _gzip,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"\x28\xb5\x2f\xfd": _zstd,
}
_LONGEST_MAGIC: Final = max(map(len, _FORMATS))


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap | bytes]:
    """A file's bytes, which are only read when used. OSError."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data
