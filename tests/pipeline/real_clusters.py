"""Recordings of real clusters, and what is found in them.

`conftest.py` needs this, and is imported before it is known which profile Hypothesis has: nothing here may
ask for that.
"""

from __future__ import annotations

import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import Analysis

HOME = Path(__file__).parent / "recordings"
RECORDED = sorted(HOME.iterdir())
NEWEST = {each.name.partition("-")[2]: each for each in RECORDED}
"""By what happened, the recording of the newest release."""
Analyzed = Callable[[Path], Analysis]
"""What is found in a recording, which is not analyzed again."""


def unpacked(folder: Path, into: Path) -> Path:
    files = into / folder.name
    with tarfile.open(folder / "files.tar.xz") as archive:
        archive.extractall(files, filter="data")
    return files


def truth_of(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "truth.toml").read_text())


def recordings(folders: list[Path], short: list[Path]) -> list[Any]:
    """Parameters. The tests of a recording run in one worker, which analyzes it once."""
    marks = {each: [] if each in short else [pytest.mark.long] for each in folders}
    return [
        pytest.param(each, id=each.name, marks=[*own, of_recording(each.name)]) for each, own in marks.items()
    ]


def of_recording(name: str) -> pytest.MarkDecorator:
    return pytest.mark.xdist_group(f"recording-{name}")
