"""tar archives, compressed or not: their files are put into a folder, and read from there."""

import tarfile
from collections.abc import Iterator
from pathlib import Path
from shutil import disk_usage
from typing import Final

from ..dumps.files import opened
from .observations import Observation
from .readers.files import readable, unreadable

SOURCE: Final = "archive"
_GROWTH: Final = 100
_LEAST_LIMIT: Final = 256 << 20
_SHOWN: Final = 60
_BLOCK: Final = 4 << 10
"""What an empty file takes."""
_DAMAGE: Final = (tarfile.TarError, EOFError, OSError, ValueError)


def is_archive(path: Path) -> bool:
    """PipelineError if it can't be read."""
    with readable(path), opened(path) as file:
        try:
            with tarfile.open(fileobj=file, mode="r|") as archive:
                return archive.next() is not None
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            return False


def unpack(path: Path, into: Path) -> Iterator[Observation]:
    """Puts the files of an archive into a folder; rows for those that can't be unpacked."""
    number, left = 0, max(_GROWTH * path.stat().st_size, _LEAST_LIMIT)
    try:
        with opened(path) as file, tarfile.open(fileobj=file, mode="r|") as archive:
            for number, member in enumerate(archive, 1):
                left -= max(member.size, _BLOCK)
                if left < 0:
                    yield unreadable(SOURCE, str(path), number, f"the rest is left out: {_too_much(path)}")
                    return
                if not member.isfile():
                    continue
                if member.size > disk_usage(into).free:
                    yield _left_out(path, number, member, "no space is left for it")
                    continue
                try:
                    archive.extract(member, into, set_attrs=False, filter="data")
                except tarfile.FilterError as error:
                    yield _left_out(path, number, member, str(error))
                except OSError as error:
                    if error.errno is None:
                        raise
                    yield _left_out(path, number, member, error.strerror or str(error))
    except _DAMAGE as error:
        yield unreadable(SOURCE, str(path), number + 1, f"the archive is broken: {error}")


def _left_out(path: Path, number: int, member: tarfile.TarInfo, reason: str) -> Observation:
    name = member.name if len(member.name) <= _SHOWN else f"{member.name[:_SHOWN]}…"
    return unreadable(SOURCE, str(path), number, f"left out: {name!r}: {reason}")


def _too_much(path: Path) -> str:
    """The limit that an archive exceeds, for people."""
    limit = max(_GROWTH * path.stat().st_size, _LEAST_LIMIT) >> 20
    return f"the archive unpacks to more than {limit:,} MiB: unpack it yourself, and give the folder"
