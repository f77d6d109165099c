"""DuckDB and Spark find the same."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mockbroker.extras import MissingExtraError
from mockbroker.pipeline.analysis import analyze
from mockbroker.pipeline.engine import AUTO, DUCKDB, SPARK, SparkEngine, choose, open_engine
from mockbroker.pipeline.session import MASTER

from . import test_consumer_groups, test_offsets_topic, test_resets, test_rewinds, test_share_groups
from .readers.reading import STORIES
from .rows import History, found_in, healthy, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def by_text(findings: list[Any]) -> list[Any]:
    return sorted(findings, key=str)


@pytest.mark.timeout(900)
def test_in_files_of_every_kind(spark: SparkSession, given: Path, tmp_path: Path) -> None:
    found = {name: analyze([given], tmp_path / name, engine=name) for name in (DUCKDB, SPARK)}
    assert found[DUCKDB].findings
    assert by_text(found[SPARK].findings) == by_text(found[DUCKDB].findings)
    assert found[SPARK].kinds == found[DUCKDB].kinds
    assert found[DUCKDB].symptoms
    assert found[SPARK].symptoms == found[DUCKDB].symptoms


SEARCHED: dict[str, dict[str, History]] = {
    "consumer_groups": test_consumer_groups.STORIES,
    "offsets_topic": {**test_offsets_topic.FOUND, **test_offsets_topic.RESET, **test_offsets_topic.NONE},
    "resets": {**test_resets.RESETS, **test_resets.NO_RESETS},
    "rewinds": {**test_rewinds.FOUND, **test_rewinds.NONE},
    "share_groups": {**test_share_groups.FOUND, **test_share_groups.NONE},
}
"""Stories, by the module that searches them."""


@pytest.mark.parametrize("module", SEARCHED)
def test_in_rows_made_by_hand(spark: SparkSession, module: str, tmp_path: Path) -> None:
    find = import_module(f"mockbroker.pipeline.signatures.{module}").find
    rows = [*rows_of(SEARCHED[module]), *healthy().rows]
    with closing(SparkEngine(tmp_path, MASTER)) as engine:
        theirs = found_in(rows, find, engine)
    assert theirs
    assert by_text(theirs) == by_text(found_in(rows, find))


@pytest.mark.parametrize(
    ("engine", "master", "installed", "used"),
    [
        (AUTO, None, True, DUCKDB),
        (AUTO, None, False, SPARK),
        (AUTO, "local[4]", True, SPARK),
        (SPARK, None, True, SPARK),
        (DUCKDB, None, False, DUCKDB),
    ],
)
def test_which_engine_is_used(
    monkeypatch: pytest.MonkeyPatch, engine: str, master: str | None, installed: bool, used: str
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if installed else None)
    assert choose(engine, master)[0] == used


def test_duckdb_needs_no_spark(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from mockbroker.pipeline.analysis import analyze; "
        "analyze([pathlib.Path(sys.argv[1])], pathlib.Path(sys.argv[2])); "
        "assert not {'pyspark', 'py4j'} & set(sys.modules)"
    )
    out = tmp_path / "out"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    story = STORIES / "kafka-7104.log"
    subprocess.run([sys.executable, "-c", program, str(story), str(out)], env=environment, check=True)
    assert (out / "incidents.json").exists()


def test_what_to_install_without_duckdb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"this needs DuckDB: pip install .*\[analyze\]"):
        open_engine(DUCKDB, tmp_path)
