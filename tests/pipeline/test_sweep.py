"""Sweeps on Spark: the same rows as without it, whatever was there before."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from mockbroker.pipeline import sweep
from mockbroker.simulation import files
from mockbroker.simulation.claims import ClaimedError, claim
from mockbroker.simulation.exploring import Variant, run, variants
from mockbroker.simulation.plan import Options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIVE = Options(policies={"fetch-log-start-offset": "live"})


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "CHUNK", 100)


def swept(compared: Sequence[Variant], seeds: range, out: Path) -> list[dict[str, Any]]:
    rows = [row for rows in sweep.explore(compared, seeds, out) for row in rows]
    return sorted(rows, key=lambda row: (row["variant"], row["seed"]))


def test_spark_finds_what_a_process_finds(spark: "SparkSession", tmp_path: Path) -> None:
    compared, seeds = variants(replace(LIVE, slow_metadata=True), "both"), range(150, 350)
    rows = swept(compared, seeds, tmp_path)
    expected = [row for variant in compared for row in run(variant, seeds)]
    assert rows == sorted(expected, key=lambda row: (row["variant"], row["seed"]))
    table = spark.read.parquet(str(tmp_path / "runs"))
    counted = {row["behaviour"]: row["count"] for row in table.groupBy("behaviour").count().collect()}
    assert counted == {"own": 200, "fixed": 200}


def test_a_sweep_goes_on_with_what_is_missing(spark: "SparkSession", tmp_path: Path) -> None:
    compared, seeds = variants(LIVE, "no"), range(200)
    there, missing = sweep.plan(compared, seeds, tmp_path)
    kept = [{**row, "requests": -1} for row in run(compared[0], there.seeds)]
    files.write(there.path, kept)
    rows = swept(compared, seeds, tmp_path)
    assert rows == [*kept, *run(compared[0], missing.seeds)]


def test_an_error_of_a_task_is_told(spark: "SparkSession", tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"no Kafka release '9\.9'"):
        swept([Variant("own", Options(kafka="9.9"))], range(1), tmp_path)


def test_another_sweep_in_the_folder_is_refused(tmp_path: Path) -> None:
    (there,) = variants(Options(), "no")
    claim(tmp_path, [there], sweep.ENGINE)
    with pytest.raises(ClaimedError, match="choose another folder"):
        swept(variants(LIVE, "no"), range(1), tmp_path)
    assert not list(tmp_path.glob("runs/*"))


def test_chunks_are_the_same_however_many_seeds(tmp_path: Path) -> None:
    (few,) = sweep.plan(variants(LIVE, "no"), range(100), tmp_path)
    many = sweep.plan(variants(LIVE, "no"), range(250), tmp_path)
    assert [each.seeds for each in many] == [range(100), range(100, 200), range(200, 250)]
    assert many[0].path == few.path


def test_files_appear_whole(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"

    def broken() -> Any:
        yield from run(Variant("own", LIVE), range(3))
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        files.write(path, broken())
    assert not path.exists()
    files.write(path, run(Variant("own", LIVE), range(3)))
    assert pq.read_table(path).num_rows == 3
