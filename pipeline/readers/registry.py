"""Which reader reads a file: told by what is in it, and by its name only where that says nothing."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

from ..observations import Observation
from .files import Head, Reading, head, walk

Recognises = Callable[[Head], bool]
Reads = Callable[[Path, Reading], Iterator[Observation]]


@dataclass(frozen=True, slots=True)
class Reader:
    """`name` is what `Observation.source` says; `what` is for people."""

    name: str
    what: str
    recognises: Recognises
    read: Reads


_MODULES: Final = ("trace", "captures", "segments", "checkpoints", "console", "dump_log", "timeline", "logs")
"""The stricter first: a timeline and a log have no magic bytes, and take what nobody else took."""


def readers() -> list[Reader]:
    """All of them, in the order in which they are asked."""
    return [each for name in _MODULES for each in import_module(f".{name}", __package__).READERS]


def recognise(path: Path | str) -> Reader | None:
    """Who reads a file, None when nobody knows what it is. PipelineError when it can't be opened."""
    first = head(Path(path))
    return next((each for each in readers() if each.recognises(first)), None)


def read(path: Path | str, reading: Reading | None = None) -> Iterator[Observation]:
    """The rows of one file; none when it is not recognised. PipelineError when it can't be opened."""
    reader = recognise(path)
    if reader is not None:
        yield from reader.read(Path(path), reading or Reading())


@dataclass(slots=True)
class Survey:
    """The files that were found: those that have a reader, and those that nobody knows."""

    recognised: list[tuple[Path, Reader]] = field(default_factory=list)
    unknown: list[Path] = field(default_factory=list)


def survey(paths: Iterable[Path | str]) -> Survey:
    """Looks at the start of every file, folders walked. PipelineError for a path that can't be read."""
    found = Survey()
    for path in walk(paths):
        reader = recognise(path)
        if reader is None:
            found.unknown.append(path)
        else:
            found.recognised.append((path, reader))
    return found
