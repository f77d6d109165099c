"""The file: JSON lines, compressed with gzip. Each line can be read once it is written, so a recording that
was cut off is read up to there; and recordings that are put one after another are one recording.

The first line is `{"schema": "mockbroker-recording", "version": 1, "values": false}`. Each of the others has
the time since 1970 in µs, `at_us`, the number of a connection, and one of: `client` and `broker`, its
addresses, where it begins; `request`, a frame with its header in base64; `answer`, the same; `token`, how
many bytes of a login without a frame were left out; `closed`.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..errors import MockBrokerError

SCHEMA: Final = "mockbroker-recording"
VERSION: Final = 1
_MAGIC: Final = b"\x1f\x8b"
_PIECE: Final = 1 << 16
_LONGEST: Final = 256 << 20
"""The longest line: twice what brokers accept as a request, by default."""


class RecordingError(MockBrokerError, ValueError):
    """A file that is no recording, or one that can't be read any further; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Line:
    """What happened on a connection. One of the fields after `connection` is set."""

    at_us: int
    connection: int
    opened: tuple[str, str] | None = None
    """The addresses of the client and of the broker."""
    request: bytes | None = None
    answer: bytes | None = None
    token: int | None = None
    closed: bool = False


@dataclass(slots=True)
class Recording:
    """All that a file has. `cut` says why the rest of it can't be read."""

    values: bool
    lines: list[Line] = field(default_factory=list)
    cut: str | None = None


class Writer:
    """Writes to a file, which it does not close. Each line is in the file when `write` returns; `begins` is
    called before the first one."""

    def __init__(self, file: BinaryIO, *, values: bool, begins: Callable[[], object] = lambda: None) -> None:
        self._file = file
        self._pack = zlib.compressobj(6, zlib.DEFLATED, 31)
        self._begins: Callable[[], object] | None = begins
        self._line({"schema": SCHEMA, "version": VERSION, "values": values})

    def write(self, line: Line) -> None:
        if self._begins is not None:
            self._begins()
            self._begins = None
        value: dict[str, Any] = {"at_us": line.at_us, "connection": line.connection}
        if line.opened is not None:
            value["client"], value["broker"] = line.opened
        elif line.request is not None:
            value["request"] = base64.b64encode(line.request).decode()
        elif line.answer is not None:
            value["answer"] = base64.b64encode(line.answer).decode()
        elif line.token is not None:
            value["token"] = line.token
        else:
            value["closed"] = True
        self._line(value)

    def finish(self) -> None:
        """Writes the end, without which a recording counts as cut off."""
        self._file.write(self._pack.flush(zlib.Z_FINISH))
        self._file.flush()

    def _line(self, value: dict[str, Any]) -> None:
        data = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        self._file.write(self._pack.compress(data) + self._pack.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()


def is_recording(path: Path) -> bool:
    """Whether the file is compressed, as traces and histories are not. `read` refuses what is not a recording
    all the same. OSError."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read(path: Path) -> Recording:
    """RecordingError, OSError."""
    with path.open("rb") as file:
        texts = _Texts(file)
        found: Recording | None = None
        number = 0
        for number, text in enumerate(texts, 1):
            try:
                value = json.loads(text)
                if "schema" in value:
                    values = _checked(path, value)
                    found = found or Recording(values)
                    found.values = found.values and values
                elif found is None:
                    break
                else:
                    found.lines.append(_line(value))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                if isinstance(error, RecordingError):
                    raise
                if found is None:
                    break
                raise RecordingError(f"{path}: line {number} is none of a recording: {error}") from None
        if found is None:
            raise RecordingError(
                f"{path} is not a recording: `mockbroker record CAPTURE -o FILE` makes one of a capture"
            )
        found.cut = texts.cut
        return found


class _Texts:
    """The whole lines of a file; `cut` says why there are no more, if it is not the end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.cut: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        rest: list[bytes] = []
        size = 0
        for piece in self._pieces():
            first, *others = piece.split(b"\n")
            rest.append(first)
            size += len(first)
            if others:
                yield b"".join(rest)
                yield from others[:-1]
                rest, size = [others[-1]], len(others[-1])
            if size > _LONGEST:
                self.cut = f"a line is longer than {_LONGEST} bytes"
                return
        if size and self.cut is None:
            self.cut = "the last line is cut short"

    def _pieces(self) -> Iterator[bytes]:
        unpack = zlib.decompressobj(31)
        data = self._file.read(_PIECE)
        begun = False
        while data:
            try:
                yield unpack.decompress(data, _PIECE)
            except zlib.error as error:
                self.cut = f"it is damaged: {error}"
                return
            begun = True
            data = unpack.unconsumed_tail
            if unpack.eof:
                # Another recording may follow.
                data = unpack.unused_data or self._file.read(_PIECE)
                unpack, begun = zlib.decompressobj(31), False
            data = data or self._file.read(_PIECE)
        if begun:
            self.cut = "it has no end"


def _checked(path: Path, value: dict[str, Any]) -> bool:
    """Whether values are in it."""
    if value["schema"] != SCHEMA:
        raise RecordingError(f"{path} is not a recording: it is a {value['schema']}")
    if not isinstance(value["version"], int) or value["version"] > VERSION:
        raise RecordingError(
            f"{path} is a recording of version {value['version']}, and this mockbroker reads version "
            f"{VERSION}: install a newer one"
        )
    return bool(value.get("values"))


def _line(value: dict[str, Any]) -> Line:
    at_us, connection = int(value["at_us"]), int(value["connection"])
    if "client" in value:
        return Line(at_us, connection, opened=(str(value["client"]), str(value["broker"])))
    return Line(
        at_us,
        connection,
        request=_bytes(value.get("request")),
        answer=_bytes(value.get("answer")),
        token=value.get("token"),
        closed=bool(value.get("closed")),
    )


def _bytes(text: str | None) -> bytes | None:
    if text is None:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"base64: {error}") from None
