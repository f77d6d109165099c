"""Finds the files that show the offsets topic of a cluster, and reads them."""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ..errors import OptionError
from . import console, dump_log, offsets_console, offsets_dump_log, offsets_segments, segments
from .files import Head, head
from .offsets_topic import OFFSETS, OffsetsTopic

Progress = Callable[[int, int], None]
"""Called from time to time with the bytes that have been read, and with how many there are."""
_SEGMENT: Final = re.compile(r"\d{20}\.log")
_FOLDER: Final = re.compile(OFFSETS + r"-\d+")
_WANTED: Final = (
    "give segments (__consumer_offsets-N/*.log), output of `kafka-dump-log --offsets-decoder`, or what a "
    "console consumer printed with OffsetsMessageFormatter"
)


class _Kind(NamedTuple):
    what: str
    recognises: Callable[[Head], bool]
    read: Callable[[Path, OffsetsTopic, Callable[[int], None]], None]


_SEGMENTS: Final = _Kind("a log segment", segments.recognises, offsets_segments.read)
_DUMPS: Final = (
    _Kind("output of kafka-dump-log", dump_log.recognises, offsets_dump_log.read),
    _Kind("output of a console consumer", console.recognises, offsets_console.read),
)


def read(paths: Sequence[Path | str], progress: Progress = lambda done, total: None) -> OffsetsTopic:
    """The offsets topic in files, and in folders with their folders, where other files don't matter.

    OptionError for a file that can't be read, is of another kind, or is damaged.
    """
    try:
        return _read([each for path in paths for each in _found(Path(path))], progress)
    except OSError as error:
        raise OptionError(f"{error.filename}: {error.strerror}") from None


def _read(found: Sequence[tuple[Path, _Kind]], progress: Progress) -> OffsetsTopic:
    kinds = {kind.what: path for path, kind in found}
    if len(kinds) > 1:
        (one, first), (other, second) = list(kinds.items())[:2]
        raise OptionError(f"{first} is {one}, and {second} is {other}: give files of one kind")
    sizes = [path.stat().st_size for path, _ in found]
    topic, before, total = OffsetsTopic(), 0, sum(sizes)
    for (path, kind), size in zip(found, sizes, strict=True):
        kind.read(path, topic, functools.partial(_tell, progress, before, total))
        before += size
    return topic


def _tell(progress: Progress, before: int, total: int, done: int) -> None:
    progress(min(before + done, total), total)


def _found(path: Path) -> list[tuple[Path, _Kind]]:
    if path.is_dir():
        found = list(_within(path))
        if not found:
            raise OptionError(f"{path}: there is nothing of the offsets topic in this folder; {_WANTED}")
        return found
    first = head(path)
    for kind in (_SEGMENTS, *_DUMPS):
        if kind.recognises(first):
            return [(path, kind)]
    raise OptionError(f"{path} shows nothing of the offsets topic: {_WANTED}")


def _within(folder: Path) -> Iterator[tuple[Path, _Kind]]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        if _SEGMENT.fullmatch(path.name):
            if _FOLDER.fullmatch(path.absolute().parent.name):
                yield path, _SEGMENTS
            continue
        first = head(path)
        for kind in _DUMPS:
            if kind.recognises(first) and not dump_log.is_of_other(first, OFFSETS):
                yield path, kind
                break
