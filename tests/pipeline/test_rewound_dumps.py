"""The scenarios of LinkedIn's two rewinds, dumped as their page says: both are found, and else nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from studies.offset_rewinds.incidents import CONFLUENT, FIRST, FOLDER, SECOND, play

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

WRONG = {"first": FIRST, "second": SECOND}


@pytest.fixture(scope="module")
def found(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    from mockbroker.pipeline.findings import comparable
    from mockbroker.pipeline.readers import read
    from mockbroker.pipeline.session import queries_of
    from mockbroker.pipeline.signatures import offsets_topic

    from .rows import frame

    root = tmp_path_factory.mktemp("dumps")
    names, rows = [], []
    for name, incident in WRONG.items():
        for kind, policies in ("wrong", {}), ("right", incident.right):
            folder = root / f"{name}-{kind}"
            play(incident, policies, [sys.executable, str(FOLDER / "dump.py"), str(folder), *CONFLUENT])
            names.append(folder.name)
            (log,) = Path(folder).rglob("*.log")
            rows += [row for row in read(log) if row.kind != "append"]
    with queries_of(spark, len(rows)):
        result = offsets_topic.find(comparable(frame(spark, rows))).collect()
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
