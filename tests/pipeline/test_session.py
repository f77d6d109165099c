"""What Spark is given, and what is said where it can't be."""

from typing import TYPE_CHECKING

import pytest

from mockbroker.pipeline import session
from mockbroker.pipeline.errors import PipelineError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"


def test_settings_for_few_rows_end_with_their_queries(spark: "SparkSession") -> None:
    before = spark.conf.get(PARTITIONS)
    with session.queries_of(spark, 10):
        assert spark.conf.get(PARTITIONS) == "1" != before
    assert spark.conf.get(PARTITIONS) == before
    with session.queries_of(spark, 10_000_000):
        assert spark.conf.get(PARTITIONS) == before


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.2" 2022-01-18', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("something else", None),
    ],
)
def test_java_says_its_version(said: str, version: int | None) -> None:
    assert session.java_version(said) == version


@pytest.mark.needs("pyspark")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("""echo 'openjdk version "11.0.2"' >&2""", "Spark needs Java 17, and .* is 11: install Java 17"),
        ("exit 3", "can't be run"),
        (None, "there is no java on PATH: install Java 17 or newer, or set JAVA_HOME"),
    ],
)
def test_without_a_java_that_serves(
    tmp_path: "Path", monkeypatch: pytest.MonkeyPatch, script: str | None, said: str
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    if script is not None:
        (tmp_path / "java").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "java").chmod(0o755)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(PipelineError, match=said):
        session.start(tmp_path)


@pytest.mark.parametrize(
    ("master", "address"),
    [("local[2]", "127.0.0.1"), ("spark://127.0.0.1:7077", "127.0.0.1"), ("spark://head:7077", None)],
)
def test_executors_elsewhere_can_reach_the_driver(master: str, address: str | None, tmp_path: "Path") -> None:
    found = session.settings(tmp_path, master)
    assert found.get("spark.driver.host") == address
    assert ("spark.local.dir" in found) == (address is not None)
