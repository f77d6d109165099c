"""tar archives, compressed or not: their files are put into a folder, and read from there."""

import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shutil import disk_usage
from typing import Final

from ..dumps.files import opened
from .errors import PipelineError
from .observations import Observation
from .readers.files import readable, unreadable, walk

_SOURCE: Final = "archive"
_DAMAGE: Final = (tarfile.TarError, EOFError, OSError, ValueError)


@dataclass(slots=True)
class Unpacked:
    """All files, those of archives in the folders into which they were put, and rows for what can't be
    unpacked."""

    paths: list[Path] = field(default_factory=list)
    archives: list[Path] = field(default_factory=list)
    bad: list[Observation] = field(default_factory=list)


def unpack(paths: Iterable[Path], folder: Path) -> Unpacked:
    """`folder` gets a folder for each archive. PipelineError for a path that can't be read, or if there is
    not enough space."""
    found = Unpacked()
    for path in walk(paths):
        if not _is_archive(path):
            found.paths.append(path)
            continue
        into = folder / str(len(found.archives) + 1) / path.name
        into.mkdir(parents=True)
        found.archives.append(path)
        found.bad += _unpack(path, into)
        found.paths += walk([into])
    return found


def _is_archive(path: Path) -> bool:
    with readable(path), opened(path) as file:
        try:
            with tarfile.open(fileobj=file, mode="r|") as archive:
                return archive.next() is not None
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            return False


def _unpack(path: Path, into: Path) -> Iterator[Observation]:
    number = 0
    with readable(path), opened(path) as file:
        try:
            with tarfile.open(fileobj=file, mode="r|") as archive:
                for number, member in enumerate(archive, 1):
                    if not member.isfile():
                        continue
                    if member.size > disk_usage(into).free:
                        raise PipelineError(f"{path}: no space for {member.name} in {into}")
                    try:
                        archive.extract(member, into, set_attrs=False, filter="data")
                    except tarfile.FilterError as error:
                        yield unreadable(_SOURCE, str(path), number, f"left out: {error}")
        except _DAMAGE as error:
            if isinstance(error, PipelineError) or (isinstance(error, OSError) and error.errno is not None):
                raise
            yield unreadable(_SOURCE, str(path), number + 1, f"the archive is broken: {error}")
