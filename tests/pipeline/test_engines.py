"""DuckDB and Spark find the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mockbroker.extras import MissingExtraError
from mockbroker.pipeline import signatures
from mockbroker.pipeline.analysis import Analysis, analyze
from mockbroker.pipeline.collecting import collect, observations
from mockbroker.pipeline.engine import AUTO, DUCKDB, SPARK, DuckEngine, SparkEngine, choose, open_engine
from mockbroker.pipeline.session import MASTER
from mockbroker.pipeline.signature import Search
from mockbroker.pipeline.tables.duck import DuckTable
from mockbroker.pipeline.tables.spark import SparkTable

from ..needs import SPARK as SPARK_AND_JAVA
from ..properties import thorough
from . import (
    test_consumer_groups,
    test_lost_disks,
    test_offsets_topic,
    test_resets,
    test_rewinds,
    test_share_groups,
)
from .readers.reading import STORIES
from .real_clusters import NEWEST, unpacked
from .rows import History, found_in, healthy, rows_of
from .short_histories import recreated

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def by_text(findings: list[Any]) -> list[Any]:
    return sorted(findings, key=str)


SEARCHED: dict[str, dict[str, History]] = {
    "consumer_groups": test_consumer_groups.STORIES,
    "lifetimes": {"recreated": recreated(), "gone": test_lost_disks.GONE, **test_lost_disks.NOT_GONE},
    "offsets_topic": {**test_offsets_topic.FOUND, **test_offsets_topic.RESET, **test_offsets_topic.NONE},
    "resets": {**test_resets.RESETS, **test_resets.NO_RESETS},
    "rewinds": {**test_rewinds.FOUND, **test_rewinds.NONE},
    "share_groups": {**test_share_groups.FOUND, **test_share_groups.NONE},
}
"""Stories, by the module that searches them."""
FEW = ("cut_off", "elections", "epochs", "followers", "outflux", "sequences", "truncations", "unreplicated")
"""What Spark carries out in CI besides: some find something, some join and count as nothing else does."""


def name_of(search: Search) -> str:
    return search.find.__module__.rpartition(".")[2]


REST = [each for each in signatures.searches() if name_of(each) not in SEARCHED]
TRIED = REST if thorough() else [each for each in REST if name_of(each) in FEW]
USED = re.compile(r"\b[a-z_]+(?=\()|\w+ JOIN \w+ (?:USING|ON)")
"""Functions and joins in SQL."""


@pytest.fixture(params=["planned", "tasks"])
def who_searches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark, or DuckDB in its tasks."""
    if request.param == "planned":
        monkeypatch.setattr(SparkEngine, "most_rows", 0)


@pytest.mark.parametrize("module", SEARCHED)
@pytest.mark.usefixtures("who_searches")
def test_in_rows_made_by_hand(spark: SparkSession, module: str, tmp_path: Path) -> None:
    find = import_module(f"mockbroker.pipeline.signatures.{module}").find
    rows = [*rows_of(SEARCHED[module]), *healthy().rows]
    with closing(SparkEngine(tmp_path, MASTER)) as engine:
        theirs = found_in(rows, find, engine)
    assert theirs
    assert by_text(theirs) == by_text(found_in(rows, find))


def with_others(given: Path, out: Path, engine: str) -> Analysis:
    """Those of `SEARCHED` have more to find in the rows that are made by hand. Of all that are not tried it
    is known what their findings are called."""
    every = [
        each if each in TRIED else Search(each.what, each.find, (), *each.signatures)
        for each in signatures.searches()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signatures, "searches", lambda: iter(every))
        return analyze([given], out, engine=engine)


@pytest.fixture(scope="module")
def by_duckdb(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return with_others(given, tmp_path_factory.mktemp("by-duckdb") / "out", DUCKDB)


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("who_searches")
def test_in_files_of_every_kind(
    spark: SparkSession, given: Path, by_duckdb: Analysis, tmp_path: Path
) -> None:
    found = with_others(given, tmp_path / "out", SPARK)
    assert by_duckdb.findings
    assert by_text(found.findings) == by_text(by_duckdb.findings)
    assert found.kinds == by_duckdb.kinds
    assert by_duckdb.symptoms
    assert found.symptoms == by_duckdb.symptoms


def planned(by_duckdb: Analysis) -> list[Search]:
    """Those for which no file has rows."""
    return [each for each in REST if not any(map(by_duckdb.kinds.get, each.needs))]


def test_spark_takes_every_other_search(spark: SparkSession, by_duckdb: Analysis, tmp_path: Path) -> None:
    """Those that nothing above could carry out, over the rows of a real cluster: some plans that DuckDB runs
    Spark's optimizer makes invalid."""
    others = planned(by_duckdb)
    assert len(others) > 5
    files = unpacked(NEWEST["compacted-before-read"], tmp_path)
    with closing(SparkEngine(tmp_path / "spark", MASTER)) as engine:
        collected = collect([files], tmp_path / "rows", engine)
        rows = engine.at_hand(observations(engine, collected.folder))
        for each in others:
            found = each.find(rows)
            assert isinstance(found, SparkTable)
            found.frame.explain()


@pytest.mark.needs(*SPARK_AND_JAVA)
def test_spark_takes_every_function_and_join(by_duckdb: Analysis, tmp_path: Path) -> None:
    """Those of searches that it does not take in CI are no others."""
    used: dict[str, set[str]] = {}
    with closing(DuckEngine(tmp_path)) as engine:
        for each in signatures.searches():
            made = each.find(engine.files([]))
            assert isinstance(made, DuckTable)
            used[name_of(each)] = {re.sub(r"step_\d+ ", "", word) for word in USED.findall(made.query())}
    taken = {*SEARCHED, *map(name_of, (*TRIED, *planned(by_duckdb)))}
    assert set().union(*used.values()) - set().union(*map(used.__getitem__, taken)) == set()


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
