"""One Spark session for all tests of a process."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mockbroker.clients.drivers import building
from mockbroker.pipeline.analysis import Analysis, analyze

from .. import needs
from . import incidents, traces
from .readers.reading import STORIES
from .readers.segments import data, segment
from .real_clusters import Analyzed, unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TORN = "<script>alert(1)</script>"
"""A line of a file that `given` has."""
CONNECTOR = Path(__file__).parent / "kafka-connector"


def connector_jars() -> list[Path]:
    """Spark's connector for Kafka, fetched on first use. BuildError without Maven or its repository."""

    def fetch(folder: Path) -> None:
        maven = building.need("mvn")
        building.step([maven, "-B", "-q", "dependency:copy-dependencies", "-DoutputDirectory=lib"], folder)

    return sorted(building.cached(CONNECTOR, "jars", fetch).glob("lib/*.jar"))


@pytest.fixture(scope="session")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind, which nobody alters: made once for all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "given"
    with building.locked(folder.with_suffix(".lock")):
        if not folder.exists():
            made = tmp_path_factory.mktemp("given")
            _fill(made)
            made.rename(folder)
    return folder


def _fill(folder: Path) -> None:
    traces.forgotten_producer(folder / "forgotten.jsonl", "2.3")
    traces.forgotten_producer(folder / "remembered.jsonl", "4.4")
    traces.late_log_start(folder / "late-start.jsonl", "live")
    traces.late_log_start(folder / "start-in-time.jsonl", "of-read")
    traces.mechanism(folder / "cut-off.jsonl", "5a")
    traces.mechanism(folder / "not-entered.jsonl", "3a")
    traces.mechanism(folder / "told.jsonl", "3a", "undefined_epoch=log-end-offset")
    traces.quiet_day(folder / "quiet.jsonl")
    for story in STORIES.iterdir():
        (folder / story.name).write_bytes(story.read_bytes())
    head = json.dumps({"schema": "mockbroker-trace", "version": 1})
    (folder / "torn.jsonl").write_text(f"{head}\n{TORN}\n")
    (folder / "newer.jsonl").write_text(head.replace("1}", "99}") + "\n")
    damaged = bytearray(data(0, 2))
    damaged[-1] ^= 1
    (folder / "segments").mkdir()
    segment(folder / "segments", bytes(damaged) + data(2, 2)[:-5], "orders-7")
    for log in (incidents.stopped_load, incidents.cleanup_during_load, incidents.operators_reset):
        log(folder / "segments")
    (folder / "holiday.jpg").write_bytes(b"\xff\xd8\xff\0\0\0")


@pytest.fixture(scope="session")
def analyzed(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    """The files of a recording are beside the folder of what was found in them."""

    @functools.cache
    def found(folder: Path) -> Analysis:
        made = tmp_path_factory.mktemp("recording")
        return analyze([unpacked(folder, made)], made / "out")

    return found


@pytest.fixture(scope="session")
@needs.brings(*needs.SPARK)
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local session. Jars have to be there before its JVM starts: those of Kafka's connector are."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    jars: list[Path] = []
    with contextlib.suppress(building.BuildError):  # whose test needs them asks again, and is told
        jars = connector_jars()
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers would take PATH's python3
    config: dict[str, bool | float | int | str | None] = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        # Half the CPU time in short queries.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # To compile takes longer than to carry out.
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        # Producers that are kept would look for a test's brokers at ports that others have got since.
        "spark.kafka.producer.cache.timeout": "1s",
        "spark.kafka.producer.cache.evictorThreadRunInterval": "1s",
        "spark.jars": ",".join(map(str, jars)),
    }
    builder = SparkSession.builder.master("local[2]").appName("mockbroker-tests")
    session = builder.config(map=config).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    gateway = SparkContext._gateway
    assert gateway is not None
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends with it
    gateway.proc.wait()
