"""The scenarios of LinkedIn's two rewinds, dumped as their page says: both are found, and else nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from studies.offset_rewinds.incidents import FIRST, FOLDER, MIRROR, SECOND, play

from ..pipeline.rows import Row, found_in

WRONG = {"first": FIRST, "second": SECOND}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    from mockbroker.pipeline.readers import read
    from mockbroker.pipeline.signatures import offsets_topic

    root = tmp_path_factory.mktemp("dumps")
    names, rows = [], []
    for name, incident in WRONG.items():
        for kind, policies in ("wrong", {}), ("right", incident.right):
            folder = root / f"{name}-{kind}"
            play(incident, policies, [sys.executable, str(FOLDER / "dump.py"), str(folder), *MIRROR])
            names.append(folder.name)
            (log,) = Path(folder).rglob("*.log")
            rows += [row for row in read(log) if row.kind != "append"]
    result = found_in(rows, offsets_topic.find)
    return {name: [one for one in result if f"/{name}/" in one.evidence[0].file] for name in names}


def test_the_first_incident(found: dict[str, list[Row]]) -> None:
    assert {(one.signature, one.topic) for one in found["first-wrong"]} == {("offset-rewind", "deployments")}


def test_the_second_incident(found: dict[str, list[Row]]) -> None:
    assert {(one.signature, one.topic) for one in found["second-wrong"]} == {
        ("tombstone-of-live-group", "views"),
        ("tombstone-of-live-group", "deployments"),
    }


@pytest.mark.parametrize("incident", WRONG)
def test_the_right_answers(found: dict[str, list[Row]], incident: str) -> None:
    assert found[f"{incident}-right"] == []
