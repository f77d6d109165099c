"""Which reader reads a file: recognised by its content, and by its name only if that says nothing."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

from ...dumps.files import HEAD_BYTES, Head
from ..observations import Observation
from ..writing import Row
from .files import Reading, Refused, head, later, walk

Recognises = Callable[[Head], bool]
Reads = Callable[[Path, Reading], Iterator[Observation]]
ReadsPart = Callable[[Path, Reading, int, int], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class Reader:
    """`name` is the value of `Observation.source`; `what` is for people. `read_part` reads from one of the
    places that `cuts` found to before another; None if files are read as a whole."""

    name: str
    what: str
    recognises: Recognises
    read: Reads
    cuts: Callable[[Path, int], list[int]] | None = None
    read_part: ReadsPart | None = None


_MODULES: Final = (
    "trace",
    "captures",
    "segments",
    "checkpoints",
    "console",
    "dump_log",
    "librdkafka",
    "timeline",
    "logs",
)
"""The stricter ones first: timelines and logs have no magic bytes, and take what no other reader took."""


_USELESS: Final = re.compile(
    r"\d{20}\.(?:index|timeindex|txnindex|snapshot)|partition\.metadata|meta\.properties|quorum-state"
    r"|recovery-point-offset-checkpoint|cleaner-offset-checkpoint|\.lock|\.kafka_cleanshutdown"
)
"""What else is in the data folders of brokers."""
LOGS: Final = ("librdkafka-log", "broker-log", "client-log")
"""What may be printed to several files."""


def readers() -> list[Reader]:
    """All readers, in the order in which they are asked."""
    return [each for name in _MODULES for each in import_module(f".{name}", __package__).READERS]


def recognise(path: Path | str) -> Reader | None:
    """The reader of a file, None if it is of no known kind. PipelineError if it can't be opened.

    If its beginning says nothing, as that of an application's log may, it is searched for lines about Kafka.
    """
    first = head(Path(path))
    found = next((each for each in readers() if each.recognises(first)), None)
    if found is None and first.text and len(first.data) >= HEAD_BYTES:
        logs = [each for each in readers() if each.name in LOGS]
        for part in later(Path(path)):
            found = found or next((each for each in logs if each.recognises(part)), None)
    return found


def is_useless(path: Path) -> bool:
    """Whether a file of Kafka's says nothing about what happened."""
    return bool(_USELESS.fullmatch(path.name))


def by_name(name: str) -> Reader:
    return next(each for each in readers() if each.name == name)


def read(path: Path | str, reading: Reading | None = None) -> Iterator[Observation]:
    """The rows of one file; none if it is not recognised. PipelineError if it can't be opened."""
    reader = recognise(path)
    if reader is not None:
        yield from reader.read(Path(path), reading or Reading())


@dataclass(slots=True)
class Survey:
    """The files that were found: those that have a reader, those of Kafka's that say nothing about what
    happened, and those of no known kind."""

    recognised: list[tuple[Path, Reader]] = field(default_factory=list)
    useless: list[Path] = field(default_factory=list)
    unknown: list[Path] = field(default_factory=list)


def survey(paths: Iterable[Path | str], refused: Refused | None = None) -> Survey:
    """Reads the start of every file, also in folders. PipelineError for a path that does not exist; for one
    that can't be read, `refused` hears of it, or else PipelineError."""
    found = Survey()
    for path in walk(paths, refused):
        try:
            reader = recognise(path)
        except Exception as error:
            if refused is None:
                raise
            refused(path, error)
            continue
        if reader is None:
            (found.useless if is_useless(path) else found.unknown).append(path)
        else:
            found.recognised.append((path, reader))
    return found
