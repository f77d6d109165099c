"""The Spark session of the pipeline: on this machine, quiet, and with suitable settings."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..extras import MissingExtraError
from .errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER: Final = "local[2]"
_OLDEST_JAVA: Final = 17
_LOOPBACK: Final = "127.0.0.1"
_SETTINGS: Final = {
    "spark.driver.memory": "2g",
    # What Python's tasks take comes on top of it.
    "spark.executor.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    # As many tasks as have 16 MB each: with Spark's own 64 MB, some cores have none.
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    "spark.sql.session.timeZone": "UTC",
    # Half the CPU time for queries that end before the second compiler pays off.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC -XX:ParallelGCThreads=2",
    # Each kind of row has a folder; with fewer writers than kinds, rows would be sorted before they are
    # written.
    "spark.sql.maxConcurrentOutputFileWriters": "64",
}
_FEW_ROWS: Final = 500_000
_FOR_FEW: Final = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}


def start(scratch: Path, master: str = MASTER) -> "SparkSession":
    """A session, or the one that runs already. MissingExtraError; PipelineError without Java.

    `scratch` is a folder for Spark's temporary files. Under `spark-submit` only its own settings apply.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("this needs Spark (and Java 17 or newer)", "spark") from None
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    need_java()
    # Otherwise workers use PATH's python3, which may be a different one.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("mockbroker")
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # which spark-submit sets
        for name, value in settings(scratch, master).items():
            builder = builder.config(name, value)
    with _quiet():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def settings(scratch: Path, master: str) -> dict[str, str]:
    """Those of a session. Executors on other machines could reach neither the loopback address nor
    `scratch`."""
    found = {"spark.master": master, "spark.sql.warehouse.dir": str(scratch / "warehouse"), **_SETTINGS}
    if master.startswith("local") or _LOOPBACK in master:
        found["spark.driver.host"] = found["spark.driver.bindAddress"] = _LOOPBACK
        found["spark.local.dir"] = str(scratch)
    return found


@contextmanager
def queries_of(spark: "SparkSession", rows: int) -> Iterator[None]:
    """Spends less time on planning and compiling, which would be half of the time for queries over few
    rows."""
    settings = _FOR_FEW if rows <= _FEW_ROWS else {}
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, was in before.items():
            if was is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, was)


def need_java() -> None:
    """PipelineError that says what to do."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    advice = f"install Java {_OLDEST_JAVA} or newer, or set JAVA_HOME to one"
    if java is None:
        raise PipelineError(f"Spark needs Java, and there is no java on PATH: {advice}")
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise PipelineError(f"Spark needs Java, and {java} can't be run ({error}): {advice}") from None
    version = java_version(said.stderr)
    if version is not None and version < _OLDEST_JAVA:
        raise PipelineError(f"Spark needs Java {_OLDEST_JAVA}, and {java} is {version}: {advice}")


def java_version(said: str) -> int | None:
    """8, 11, 17, … from the output of `java -version`; None for other output."""
    _, quote, rest = said.partition('version "')
    first, _, more = rest.partition('"')[0].partition(".")
    number = more.partition(".")[0] if first == "1" else first.partition("-")[0]
    return int(number) if quote and number.isdecimal() else None


@contextmanager
def _quiet() -> Iterator[None]:
    """Discards what the JVM prints while it starts; its errors come as exceptions."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
