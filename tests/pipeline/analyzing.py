"""A story that is found wherever it lies, in tar archives too."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

from mockbroker.pipeline.analysis import Analysis, analyze

from .readers.reading import STORIES

STORY = "kafka-7104.log"
TEXT = (STORIES / STORY).read_bytes()
FOUND = ["log-start-past-log-end"]


def archive(path: Path, members: Iterable[tuple[str, bytes]], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as written:  # type: ignore[call-overload]
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            written.addfile(member, io.BytesIO(data))
    return path


def analyzed(path: Path, out: Path) -> tuple[list[str], Analysis]:
    """The names of the incidents that are found, and all else."""
    found = analyze([path], out)
    return [each.name for each in found.incidents], found
