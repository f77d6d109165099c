"""What each file is: its reader, and where parts of it begin that may be read apart."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from ..dumps.files import HEAD_BYTES, is_compressed
from . import archives, bulk
from .engine import Engine, Tell
from .observations import Observation
from .progress import Progress
from .readers import recognise
from .readers.files import head, unreadable, why
from .readers.missed import missed
from .readers.pieces import can_cut, cuts
from .readers.registry import by_name, is_useless
from .remote import File, here

LOG_PART: Final = 8 << 20
"""Bytes of a log: a process then takes some 0.2 GB."""
ENTRIES: Final = ("broker-log", "client-log")
_QUIET: Final = ("broker-log", "checkpoint", "segment")
"""Some files of these kinds say nothing of what is searched for."""
_SHOWN: Final = 200
_AT_ONCE: Final = 256 << 20
_MOST_FILES: Final = 200
_LARGE: Final = 1 << 30
"""Bytes of all files: to walk through the batches of segments then takes longer than to start processes."""
T = TypeVar("T")


class Asked(NamedTuple):
    """`part` is how many bytes of a file are read at once, about, and `log_part` how many of a log."""

    file: File
    part: int
    log_part: int
    may_be_archive: bool = True


@dataclass(slots=True)
class Look:
    """What is known of a file: the names of its reader, and of what it reads. `starts` are those of its
    parts; `entries` if they are those of a log. A trace that is `in_bulk` is read by `bulk`. `shown` are two
    lines, for people who are told that nothing was understood; `lacks` says why a file about Kafka has no
    reader, and `bad` that it can't be read."""

    file: File
    reader: str = ""
    what: str = ""
    starts: list[int] = field(default_factory=lambda: [0])
    entries: bool = False
    in_bulk: bool = False
    is_archive: bool = False
    is_useless: bool = False
    shown: list[str] = field(default_factory=list)
    lacks: str | None = None
    bad: Observation | None = None

    @property
    def ranges(self) -> list[tuple[int, int]]:
        return list(pairwise([*self.starts, self.file.size]))


def look(asked: Asked) -> Look:
    """Opens the file; of one in a store only the beginning is fetched, if that is enough."""
    file, found = asked.file, Look(asked.file)
    try:
        if file.store is not None and file.size > HEAD_BYTES:
            with here(file, 0, HEAD_BYTES) as path:
                if not is_compressed(path):
                    _recognise(found, path, asked)
            if found.is_archive or (found.reader and not _cuts(found, asked)):
                return found
        with here(file) as path:
            _recognise(found, path, asked)
            if find := _cuts(found, asked):
                found.starts = find(path)
    except Exception as error:
        source = archives.SOURCE if asked.may_be_archive else "text"
        found.bad = unreadable(found.reader or source, file.name, 0, why(error))
    return found


def look_at(files: Sequence[File], engine: Engine, tell: Tell, *, packed: bool = False) -> list[Look]:
    """`packed` files come from archives, and are none."""
    asked = [Asked(each, engine.part, LOG_PART, not packed) for each in files]
    if not engine.is_apart and sum(each.size for each in files) < _LARGE:
        return [look(each) for each in asked]
    tasks = list(grouped(asked, lambda each: each.file.size, _AT_ONCE))
    progress = Progress(sum(each.size for each in files), tell, done="looked at")
    found: list[Look] = []
    for some in engine.ahead(_look_at_some, tasks):
        found += some
        progress.read(sum(each.file.size for each in some))
    return found


def _look_at_some(asked: Sequence[Asked]) -> list[Look]:
    return [look(each) for each in asked]


def grouped(all_: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """At most some bytes together, unless one alone has more, and at most a few hundred."""
    kept, total = list[T](), 0
    for each in all_:
        if kept and (total + size(each) > most or len(kept) >= _MOST_FILES):
            yield kept
            kept, total = [], 0
        kept.append(each)
        total += size(each)
    if kept:
        yield kept


class Archive(NamedTuple):
    """To be unpacked."""

    file: File
    into: Path


def unpack(archive: Archive) -> list[Observation]:
    """Rows for what can't be unpacked."""
    file, into = archive
    try:
        into.mkdir(parents=True)
        with here(file) as path:
            rows = list(archives.unpack(path, into))
        return [replace(row, file=file.name) for row in rows]
    except Exception as error:
        return [unreadable(archives.SOURCE, file.name, 0, why(error))]


def _cuts(found: Look, asked: Asked) -> Callable[[Path], list[int]] | None:
    """Finds where parts begin, if the file is large enough to have several."""
    finds = cuts if found.entries else by_name(found.reader).cuts if found.reader else None
    size = asked.log_part if found.entries else asked.part
    if finds is None or found.file.size <= size:
        return None
    return lambda path: finds(path, size)


def _recognise(found: Look, path: Path, asked: Asked) -> None:
    found.is_archive = asked.may_be_archive and archives.is_archive(path)
    reader = None if found.is_archive else recognise(path)
    if reader is None:
        found.is_useless = is_useless(path)
        found.shown = _beginning(path)
        found.lacks = None if found.is_archive or found.is_useless else missed(head(path))
        return
    found.reader, found.what = reader.name, reader.what
    found.entries = reader.name in ENTRIES and can_cut(head(path))
    found.in_bulk = found.file.store is None and bulk.can_read(path, reader.name)
    found.shown = [] if reader.name in _QUIET else _beginning(path)


def _beginning(path: Path) -> list[str]:
    """Two lines, for people."""
    return [line[:_SHOWN] for line in head(path).lines if line.strip()][:2]
