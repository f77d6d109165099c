"""Recordings of real clusters (`python -m mockbroker.rig record incidents`): an incident is named,
and what operators do every day is none."""

from __future__ import annotations

import shutil
import tarfile
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import analyze, search
from mockbroker.pipeline.collecting import collect
from mockbroker.pipeline.engine import DuckEngine

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
    found = analyze([_files(folder, tmp_path)], tmp_path / "out")
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


def test_without_other_files_records_are_gone_all_the_same(tmp_path: Path) -> None:
    """Who was elected is in the controller's log, and in those of clients and brokers what came of it."""
    files = _files(NEWEST["unclean-election"], tmp_path)
    kept = [each for each in files.rglob("*") if each.name == "state-change.log" or _of_groups(each)]
    found = analyze(kept, tmp_path / "out")
    (gone,) = [each for each in found.symptoms if each.name == "acknowledged-missing"]
    assert (gone.at, gone.offset, gone.end_offset, gone.explained_by) == ("orders-0", 1000, 2500, [])
    assert "the log of a controller is not among the files" in gone.missing


def test_without_the_states_of_groups_offsets_go_back_all_the_same(tmp_path: Path) -> None:
    """That a group had no members tells that an operator set its offset back."""
    with closing(DuckEngine(tmp_path)) as engine:
        kept = [each for each in _files(NEWEST["admin-reset"], tmp_path).rglob("*") if _of_groups(each)]
        collected = collect(kept, tmp_path / "rows", engine)
        whole = search(collected, engine).symptoms
        shutil.rmtree(tmp_path / "rows" / "kind=group")
        rest = search(collected, engine).symptoms
    assert {each.told for each in whole} == {each.told for each in rest}
    assert {each.group for each in whole} == {"billing", "shipping", "reports"}
    assert [each.explained_by for each in whole] == [[0]] * 3
    assert [each.explained_by for each in rest] == [[]] * 3


def _files(recording: Path, folder: Path) -> Path:
    files = folder / recording.name
    with tarfile.open(recording / "files.tar.xz") as archive:
        archive.extractall(files, filter="data")
    return files


def _of_groups(path: Path) -> bool:
    return path.parent.name.startswith("__consumer_offsets") and path.suffix == ".log"
