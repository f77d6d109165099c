"""Reads a file and tells its rows as dicts of what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.readers import Reading, read, recognise

STORIES = Path(__file__).parent.parent / "stories"
"""What the stories of known bugs quote, in the forms in which it is found."""
RECORDED = Path(__file__).parent.parent / "recorded"
_PLACE = ("source", "file", "text", "position")


def source(path: Path) -> str | None:
    """Which reader takes a file."""
    reader = recognise(path)
    return reader.name if reader else None


def rows(path: Path, reading: Reading | None = None, place: bool = False) -> list[dict[str, Any]]:
    """What is known in each row, without where it stood unless `place`."""
    return [told(each, place) for each in read(path, reading)]


def told(row: Observation, place: bool = False) -> dict[str, Any]:
    known = {name: getattr(row, name) for name in row.__slots__}
    return {
        name: value for name, value in known.items() if value is not None and (place or name not in _PLACE)
    }


def of_kind(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name != "kind"} for row in found if row["kind"] == kind
    ]
