"""Files as the readers see them, and what is counted while they are read."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final, TypeVar

from ...dumps import files
from ...dumps.files import DamagedError, Head, Line
from ..errors import PipelineError
from ..observations import Observation
from .shapes import Shapes
from .wrapping import Unwrap, WrongLineError, wrapping

_ABOUT_KAFKA: Final = (b"kafka", b"|OFFSET|", b"OFFSET_OUT_OF_RANGE")
MOST_TEXT: Final = 400
"""What `Observation.text` keeps of a line."""
LONGEST: Final = 1 << 20
"""What is searched of a log's line, in characters."""
T = TypeVar("T")


@dataclass(slots=True)
class LogSpan:
    """The times of the first and the last entry, in Unix milliseconds; `of` says whose log it is."""

    from_ms: int
    to_ms: int
    of: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Reading:
    """How files are read, and what was counted meanwhile.

    `timezone` is used for times without a zone; `without_zone` counts those. `lines` and `unknown_lines` are
    counts by file; `unfinished` lists the files whose last line has no newline, and may be torn; `cut` has
    the numbers of the lines that were too long; `spans` says from when until when each log goes; `shapes`
    are the entries at WARN and above that nobody knows.
    """

    timezone: tzinfo = UTC
    without_zone: int = 0
    lines: Counter[str] = field(default_factory=Counter)
    unknown_lines: Counter[str] = field(default_factory=Counter)
    unfinished: list[str] = field(default_factory=list)
    spans: dict[str, LogSpan] = field(default_factory=dict)
    cut: dict[str, list[int]] = field(default_factory=dict)
    shapes: Shapes = field(default_factory=Shapes)

    def add(self, other: "Reading", file: str) -> None:
        """What was counted in one file, or a part of it, elsewhere: there it may have had another name."""
        self.without_zone += other.without_zone
        self.lines[file] += other.lines.total()
        self.unknown_lines[file] += other.unknown_lines.total()
        self.unfinished += [file] * len(other.unfinished)
        for span in other.spans.values():
            self.spans[file] = span
        for numbers in other.cut.values():
            self.cut.setdefault(file, []).extend(numbers)
        for shape, found in other.shapes.known.items():
            found.file = file
            self.shapes.add(shape, found)


def head(path: Path) -> Head:
    """With lines as they are inside, if they are wrapped. PipelineError if the file can't be read."""
    first, inside = _opened(path)
    if inside is None:
        return first
    plain: list[str] = []
    for line in first.lines:
        with suppress(WrongLineError):
            plain += inside(line)
    return replace(first, data="\n".join(plain).encode(), wrapped=True)


def later(path: Path) -> Iterator[Head]:
    """Parts of a file after its head that are about Kafka. PipelineError if it can't be read."""
    with readable(path):
        for word in _ABOUT_KAFKA:
            yield from files.mentions(path, word)


def _opened(path: Path) -> tuple[Head, Unwrap | None]:
    with readable(path):
        first = files.head(path)
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return first, wrapping(first.lines, changed)


def lines(path: Path, reading: Reading) -> Iterator[Line | Observation]:
    """The lines of a text file, without newlines and what they are wrapped in; an `unreadable` row where
    compressed data is damaged, or where a line is not wrapped as the others are."""
    name, line = str(path), Line(0, "", True)
    _, inside = _opened(path)
    try:
        with readable(path):
            for line in files.lines(path):
                if inside is None:
                    yield line
                elif line.text.strip():
                    yield from _unwrapped(line, inside, name)
    except DamagedError as error:
        yield unreadable("text", name, error.line, str(error))
    reading.lines[name] += line.number
    if not line.ended:
        reading.unfinished.append(name)


def log_lines(path: Path, reading: Reading) -> Iterator[Line | Observation]:
    """The lines of a log as `lines` gives them, of which long ones are cut."""
    for line in lines(path, reading):
        if isinstance(line, Line) and len(line.text) > LONGEST:
            reading.cut.setdefault(str(path), []).append(line.number)
            line = line._replace(text=line.text[:LONGEST])
        yield line


def cut_rows(reading: Reading) -> Iterator[Observation]:
    """One row for each file with lines that were cut."""
    for file, numbers in reading.cut.items():
        more = f" (and {len(numbers) - 1:,} more)" if len(numbers) > 1 else ""
        reason = f"this line{more} is longer than {LONGEST:,} characters: the rest was not read"
        yield unreadable("text", file, numbers[0], reason)


def _unwrapped(line: Line, inside: Unwrap, name: str) -> Iterator[Line | Observation]:
    try:
        plain = inside(line.text)
    except WrongLineError as error:
        yield unreadable("text", name, line.number, str(error), line.text)
        return
    for text in plain:
        yield Line(line.number, text, line.ended)


def unreadable(source: str, file: str, position: int, reason: str, text: str | None = None) -> Observation:
    """A row for what could not be read, with the reason; `text` is the original text."""
    cut = None if text is None else text[:MOST_TEXT]
    return Observation("unreadable", source, file, position, detail=reason, text=cut)


Refused = Callable[[Path, Exception], object]
"""Hears of a file or folder that can't be read, and why."""


def walk(paths: Iterable[Path | str], refused: Refused | None = None) -> Iterator[Path]:
    """The files, and those in folders, in order of name; a folder to which several links lead is read once.

    PipelineError if a path does not exist; if something in a folder can't be read, `refused` hears of it, or
    else PipelineError.
    """
    for path in map(Path, paths):
        with readable(path):
            if path.is_dir():
                yield from _files(path, refused, set())
            else:
                path.stat()
                yield path


def _files(folder: Path, refused: Refused | None, seen: set[tuple[int, int]]) -> Iterator[Path]:
    try:
        with readable(folder):
            about = folder.stat()
            if (about.st_dev, about.st_ino) in seen:
                return
            seen.add((about.st_dev, about.st_ino))
            entries = sorted(folder.iterdir())
            # A link may lead to a folder that is read under its own name.
            folders = {each: each.is_symlink() for each in entries if each.is_dir()}
            files = {each for each in entries if each.is_file()}
    except PipelineError as error:
        if refused is None:
            raise
        refused(folder, error)
        return
    links = [each for each, is_link in folders.items() if is_link]
    for entry in [*(each for each in entries if each not in links), *links]:
        if entry in folders:
            yield from _files(entry, refused, seen)
        elif entry in files:
            yield entry


def guarded(source: str, path: Path, rows: Callable[[], Iterator[T]]) -> Iterator[T | Observation]:
    """The rows of a file, and one more if something ends them: a file that can't be read does not end the
    reading of others."""
    try:
        yield from rows()
    except Exception as error:
        yield unreadable(source, str(path), 0, why(error))


def why(error: Exception) -> str:
    """Why a file can't be read, in one line."""
    told = str(error) if isinstance(error, PipelineError) else f"{type(error).__name__}: {error}"
    return f"it could not be read: {told}"


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns the system's errors into one that names the path."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            # A library's: the data is damaged.
            raise
        raise PipelineError(f"{path}: {error.strerror or error}") from None
