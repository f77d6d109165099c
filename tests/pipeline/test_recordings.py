"""Recordings of real clusters (`python -m mockbroker.rig record incidents`): an incident is named,
and what operators do every day is none."""

from __future__ import annotations

import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import analyze

HOME = Path(__file__).parent / "recordings"
RECORDED = sorted(HOME.iterdir())
NEWEST = {each.name.partition("-")[2]: each for each in RECORDED}
"""By what happened, the recording of the newest release."""


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(each, id=each.name, marks=[] if each in NEWEST.values() else [pytest.mark.long])
        for each in RECORDED
    ],
)
def test_a_recording(folder: Path, tmp_path: Path) -> None:
    truth = tomllib.loads((folder / "truth.toml").read_text())
    files = tmp_path / folder.name
    with tarfile.open(folder / "files.tar.xz") as archive:
        archive.extractall(files, filter="data")
    found = analyze([files], tmp_path / "out")
    assert [row["detail"] for row in found.unreadable] == []
    told = [(each.name, each.story) for each in found.incidents]
    symptoms = [(each.told, each.explained_by) for each in found.symptoms]
    if truth["healthy"]:
        assert (told, symptoms) == ([], [])
    else:
        assert told[0][0] == truth["finding"], told
        assert len(told) <= 2, told
        assert all(0 in by for _, by in symptoms), symptoms
        offsets = {(each.at, each.offset, each.end_offset) for each in found.symptoms}
        assert set(_noticed(truth)) <= offsets


def _noticed(truth: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """The records that groups did not get, and those that were lost, where the files tell it."""
    for event in truth["event"]:
        if event["did"] == "a group was set on":
            yield f"{event['topic']}-{event['partition']}", event["from_offset"], event["offset"]
        elif event["did"] == "an out-of-sync replica was elected":
            yield (
                f"{event['topic']}-{event['partition']}",
                event["offset"],
                event["offset"] + event["lost"],
            )
