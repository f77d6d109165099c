"""Seeds x behaviours as a Spark job: few long tasks, each of which leaves a Parquet file of its runs.

`OUT/runs/behaviour=NAME/part-FIRST-LAST.parquet` is complete or absent, so that an interrupted sweep
continues with what is missing.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from ..simulation import files
from ..simulation.claims import claim
from ..simulation.consumer_setting import Commit, Reset
from ..simulation.exploring import Variant, run
from ..simulation.plan import Options
from ..simulation.producer_setting import Generation

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

CHUNK: Final = 250
"""Seeds of a task: some seconds of work, so that progress shows, and the 0.1 s that Spark takes for a task
count little."""
RUNS: Final = "runs"
ENGINE: Final = "spark"
_LOOK_S: Final = 0.5


class Chunk(NamedTuple):
    """A task, and the file that it leaves."""

    variant: Variant
    seeds: range
    path: Path


def explore(
    variants: Sequence[Variant], seeds: range, out: Path | None, master: str | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Rows of `exploring.COLUMNS`, chunk by chunk; those that exist already come first.

    Every worker has to see `out`. PipelineError without Spark; ClaimedError if another sweep is in `out`.
    """
    from .session import MASTER, start

    with TemporaryDirectory(prefix="mockbroker-") as scratch:
        folder = out or Path(scratch) / "sweep"
        claim(folder, variants, ENGINE)
        chunks = plan(variants, seeds, folder)
        missing = []
        for chunk in chunks:
            if chunk.path.exists():
                yield rows_of(chunk.path)
            else:
                missing.append(chunk)
        if missing:
            spark = start(Path(scratch), master or MASTER)
            yield from _sweep(spark, missing)


def plan(variants: Sequence[Variant], seeds: range, folder: Path) -> list[Chunk]:
    """The tasks of a sweep. The same seeds are in the same chunks, however many are asked for."""
    chunks = []
    for variant in variants:
        # Spark interprets what follows the equals sign, so it is quoted in Spark's way.
        inside = folder / RUNS / f"behaviour={quote(variant.name, safe='')}"
        first = seeds.start
        while first < seeds.stop:
            last = min(seeds.stop, (first // CHUNK + 1) * CHUNK)
            chunks.append(Chunk(variant, range(first, last), inside / f"part-{first}-{last}.parquet"))
            first = last
    return chunks


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The runs in a file."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read().to_pylist()  # type: ignore[no-any-return]


def _sweep(spark: "SparkSession", chunks: Sequence[Chunk]) -> Iterator[list[dict[str, Any]]]:
    """Runs the job, and yields what its tasks have left so far."""
    table = spark.createDataFrame([(_task(each),) for each in chunks], "task string")
    job = table.repartition(len(chunks)).mapInArrow(_work, "path string")
    failed: list[BaseException] = []

    def collect() -> None:
        try:
            job.collect()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=collect, name="sweep", daemon=True)
    thread.start()
    left = list(chunks)
    while left:
        over = not thread.is_alive()
        done = [each for each in left if each.path.exists()]
        for chunk in done:
            left.remove(chunk)
            yield rows_of(chunk.path)
        if over:
            break
        thread.join(_LOOK_S)
    if failed:
        raise failed[0]


def _task(chunk: Chunk) -> str:
    options = asdict(chunk.variant.options)
    return json.dumps([chunk.variant.name, options, chunk.seeds.start, chunk.seeds.stop, str(chunk.path)])


def _work(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """What a worker does: runs each task, from the beginning if Spark retries it."""
    import pyarrow as pa

    for batch in batches:
        for text in batch.column(0).to_pylist():
            name, options, first, stop, path = json.loads(text)
            variant = Variant(name, _options(options))
            files.write(Path(path), run(variant, range(first, stop)))
            yield pa.RecordBatch.from_pydict({"path": [path]})


def _options(row: dict[str, Any]) -> Options:
    def member(kind: Any, name: str) -> Any:
        return None if row[name] is None else kind(row[name])

    chosen = {
        "commit": member(Commit, "commit"),
        "reset": member(Reset, "reset"),
        "producer": member(Generation, "producer"),
    }
    return Options(**{**row, **chosen})
