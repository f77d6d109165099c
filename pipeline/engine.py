"""What carries searches out: DuckDB in this process, or Spark."""

from __future__ import annotations

import importlib.util
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..extras import MissingExtraError
from ..processes import in_order, side_by_side
from .observations import NAMES, arrow_schema
from .tables import Folding, Table
from .tables.apart import Apart, ApartTable, Asked, asked, carry_out, divided
from .tables.duck import Database, DuckTable, configured
from .tables.stepwise import FEW, Step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AUTO: Final = "auto"
DUCKDB: Final = "duckdb"
SPARK: Final = "spark"
ENGINES: Final = (AUTO, DUCKDB, SPARK)
SHOWN: Final = {DUCKDB: "DuckDB", SPARK: "Spark"}
_MEMORY: Final = 400_000_000
"""What DuckDB may take for few rows; beyond that it uses the disk. The process takes a third of a GB more."""
_MEMORY_APART: Final = 150_000_000
"""The same for each process that goes through many rows, which takes 120 MB more."""
_BYTES_OF_ROW: Final = 16
"""So much memory it needs for each row that it sorts; with a third of it, it gives up."""
_MANY_ROWS: Final = 1_000_000
"""Going through so many rows takes longer than another process takes to start."""
_ROWS_SORTED: Final = 50_000_000
"""So many rows are sorted at once: 10 GB of them are on the disk then."""
_ROWS_OF_LONGEST: Final = 5_000_000
"""So many rows of the longest are worth another process, which reads all of them and takes its own."""
_ROWS_OF_PART: Final = 20_000_000
"""So many rows are worth a task of their own, where keys are folded."""
_WAITING: Final = 2
"""Searches that wait for a core."""
_WAVES: Final = 3
"""Of a task for each core, that are given to Spark at a time: no core waits for the slowest task of a
wave."""
_LARGEST_WAVE: Final = 64
"""What so many tasks give back the driver can take at once."""
Task = TypeVar("Task")
Result = TypeVar("Result")
Tell = Callable[[str], None]


class Engine(ABC):
    """Started when it is first needed. `at_once` is how many searches it is given at the same time, `part`
    how many bytes of a file each task reads. If it `is_apart`, no file is opened but by its tasks."""

    at_once: int
    part: int
    is_apart: bool

    @abstractmethod
    def each(self, do: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """What `do`, a function of a module, makes of each task, in their order."""

    @abstractmethod
    def ahead(self, do: Callable[[Task], Result], tasks: Sequence[Task]) -> Generator[Result, None, None]:
        """The same, one by one, while further tasks are worked on."""

    @abstractmethod
    def files(self, paths: Sequence[Path], kind: str | None = None) -> Table:
        """Rows of the common table in Parquet; of which `kind`, if the folders don't tell."""

    @abstractmethod
    def write(self, table: Table, folder: Path, name: str) -> None:
        """Adds rows of the common table to `folder`, each in its `kind=…/`."""

    def searching(self, rows: int) -> AbstractContextManager[None]:
        """Prepares for searches of so many rows."""
        return nullcontext()

    def folded(self, foldings: Sequence[Folding], tell: Tell) -> Iterator[list[dict[str, Any]]]:
        """What each makes of its rows, in their order; tells what it is at."""
        for each in foldings:
            tell(f"going through {each.name}")
            yield each.folded()

    def at_hand(self, table: Table) -> Table:
        """The same table, worked out if it has few rows: each search would read its files again."""
        return table

    @abstractmethod
    def close(self) -> None: ...


class DuckEngine(Engine):
    """MissingExtraError. `scratch` is a folder for what does not fit into memory."""

    at_once = 1
    part = 16 << 20  # a second or two
    is_apart = False

    def __init__(self, scratch: Path) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingExtraError("this needs DuckDB", "analyze") from None
        self._scratch = scratch
        self._database = Database(duckdb.connect(config=configured(_MEMORY, str(scratch))))

    def each(self, do: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        return list(in_order(do, tasks, min(os.cpu_count() or 1, len(tasks))))

    def ahead(self, do: Callable[[Task], Result], tasks: Sequence[Task]) -> Generator[Result, None, None]:
        return in_order(do, tasks, min(os.cpu_count() or 1, len(tasks)))

    def files(self, paths: Sequence[Path], kind: str | None = None) -> DuckTable:
        if not paths:
            return self.table(arrow_schema().empty_table())
        return DuckTable(self._database, reading(paths, kind), NAMES)

    def table(self, rows: Any) -> DuckTable:
        """An Arrow table, which is kept until the engine is closed."""
        name = f"rows_{id(rows)}"
        self._database.connection.register(name, rows)
        return DuckTable(self._database, Step(f"SELECT * FROM {name}"), rows.schema.names)

    def write(self, table: Table, folder: Path, name: str) -> None:
        from .writing import Writers, folder_schema

        assert isinstance(table, DuckTable)
        writers = Writers(folder, name)
        rows = table.arrow()
        for kind in rows["kind"].unique().to_pylist():
            import pyarrow.compute as pc

            some = rows.filter(pc.equal(rows["kind"], kind)).drop_columns("kind")
            writers.write(kind, some.cast(folder_schema()))
        writers.close()

    @contextmanager
    def searching(self, rows: int) -> Iterator[None]:
        self._database.few_rows = rows <= FEW
        self._database.connection.execute(f"SET memory_limit = '{_memory(rows, _MEMORY)}B'")
        if not self._database.few_rows:
            # Searches use all processors, but for their many short statements.
            self.at_once = max(min(os.cpu_count() or 1, _MEMORY // _memory(rows)), 1)
        try:
            yield
        finally:
            self._database.few_rows = False
            self.at_once = 1

    def folded(self, foldings: Sequence[Folding], tell: Tell) -> Iterator[list[dict[str, Any]]]:
        """Many rows by other processes, since Python makes something of them with one processor only."""
        many = [each for each in foldings if each.rows >= _MANY_ROWS]
        few = [each for each in foldings if each.rows < _MANY_ROWS]
        made = {each.name: found for each, found in zip(few, super().folded(few, tell), strict=True)}
        many.sort(key=lambda each: -each.rows)
        cores = os.cpu_count() or 1
        todo: list[tuple[Folding, Asked]] = []
        for each in many:
            parts = 1 + each.rows // _ROWS_SORTED
            if each is many[0]:
                # No core waits for it at the end.
                parts = max(parts, min(cores, each.rows // _ROWS_OF_LONGEST))
            todo += [(each, some) for some in self._divided(each, parts)]
        apart = side_by_side(carry_out, [some for _, some in todo], min(cores, len(todo)), tell)
        for (each, _), found in zip(todo, apart, strict=True):
            made.setdefault(each.name, []).extend(found)
        return iter([made[each.name] for each in foldings])

    def _divided(self, folding: Folding, parts: int) -> list[Asked]:
        assert isinstance(folding.table, DuckTable)
        memory = _memory(folding.rows // parts, _MEMORY_APART)
        tables = divided(folding.table, folding.key, parts, folding.fewer)
        most = max(_machine_memory() // 2, memory)
        return [asked(each, memory, most, folding, str(self._scratch)) for each in tables]

    def at_hand(self, table: Table) -> Table:
        assert isinstance(table, DuckTable)
        return self.table(table.arrow()) if self._database.few_rows else table

    def close(self) -> None:
        self._database.connection.close()


def _memory(rows: int, least: int = 1) -> int:
    """Bytes for DuckDB to search so many rows: half of what this machine has at most, where that is known."""
    wanted = _BYTES_OF_ROW * rows
    return max(least, min(wanted, _machine_memory() // 2 or wanted))


def _machine_memory() -> int:
    """Bytes; 0 where that is not known."""
    if not hasattr(os, "sysconf"):  # on Windows
        return 0
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def reading(paths: Sequence[Path], kind: str | None = None) -> Step:
    """The first step of DuckDB's tables."""
    quoted = DuckTable.dialect.text
    names = ", ".join(quoted(str(path)) for path in paths)
    known = "" if kind is None else f"{quoted(kind)} AS "
    columns = ", ".join(f'{known if name == "kind" else ""}"{name}"' for name in NAMES)
    kinds = "hive_partitioning = false" if kind else "hive_types = {'kind': VARCHAR}"
    return Step(f"SELECT {columns} FROM read_parquet([{names}], {kinds})")


class SparkEngine(Engine):
    """Uses the session that runs already, if there is one. PipelineError, when it is needed, without Java.

    Each search of up to `most_rows` is a task, in which DuckDB carries it out: beyond that it would take one
    core too long, and Spark plans it and divides it.
    """

    at_once = 3  # a search that Spark plans waits half of the time for its driver
    part = 64 << 20
    is_apart = True
    most_rows = 500_000_000

    def __init__(self, scratch: Path, master: str, tell: Tell = lambda _: None) -> None:
        if importlib.util.find_spec("pyspark") is None:
            raise MissingExtraError("this needs Spark (and Java 17 or newer)", "spark")
        from pyspark.sql import SparkSession

        self._scratch, self._master, self._tell = scratch, master, tell
        self._theirs = SparkSession.getActiveSession() is not None
        self._by_duckdb: Apart | None = None

    @property
    def session(self) -> SparkSession:
        from pyspark.sql import SparkSession

        from .session import start

        if SparkSession.getActiveSession() is None:
            self._tell("starting Spark")
        return start(self._scratch, self._master)

    def each(self, do: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        found: list[Result] = self.session.sparkContext.parallelize(tasks, len(tasks)).map(do).collect()
        return found

    def ahead(self, do: Callable[[Task], Result], tasks: Sequence[Task]) -> Generator[Result, None, None]:
        if not tasks:
            return
        context = self.session.sparkContext
        wave = min(context.defaultParallelism, _LARGEST_WAVE)

        def work(some: Sequence[Task]) -> list[Result]:
            found: list[Result] = context.parallelize(some, len(some)).map(do).collect()
            return found

        waves = iter([tasks[start : start + wave] for start in range(0, len(tasks), wave)])
        with ThreadPoolExecutor(_WAVES) as pool:
            running = deque(pool.submit(work, some) for some in islice(waves, _WAVES))
            try:
                while running:
                    yield from running.popleft().result()
                    running.extend(pool.submit(work, some) for some in islice(waves, 1))
            finally:
                for each in running:
                    each.cancel()

    def files(self, paths: Sequence[Path], kind: str | None = None) -> Table:
        from pyspark.sql import functions as F
        from pyspark.sql.pandas.types import from_arrow_schema

        from .tables.spark import SparkTable

        if paths and self._by_duckdb is not None:
            return ApartTable(self._by_duckdb, reading(paths, kind), NAMES)
        schema = from_arrow_schema(arrow_schema())
        if not paths:
            return SparkTable(self.session.createDataFrame([], schema), NAMES)
        names = [str(path) for path in paths]
        if kind is None:
            # The folders' names tell the kinds only below a common one.
            read = self.session.read.schema(schema).option("basePath", str(paths[0].parents[1]))
            return SparkTable(read.parquet(*names).select(*NAMES), NAMES)
        rest = type(schema)([field for field in schema if field.name != "kind"])
        frame = self.session.read.schema(rest).parquet(*names)
        return SparkTable(frame.withColumn("kind", F.lit(kind)).select(*NAMES), NAMES)

    def write(self, table: Table, folder: Path, name: str) -> None:
        from .tables.spark import SparkTable

        assert isinstance(table, SparkTable)
        table.frame.write.mode("append").partitionBy("kind").parquet(str(folder))

    @contextmanager
    def searching(self, rows: int) -> Iterator[None]:
        if rows > self.most_rows or importlib.util.find_spec("duckdb") is None:
            from .session import queries_of

            with queries_of(self.session, rows):
                yield
            return
        context = self.session.sparkContext

        def each(do: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
            found: list[Result] = context.parallelize(tasks, len(tasks)).map(do).collect()
            return found

        cores = context.defaultParallelism
        parts = min(cores, 1 + rows // _ROWS_OF_PART)
        self.at_once = cores + _WAITING
        self._by_duckdb = Apart(each=each, parts=parts, few_rows=rows <= FEW)
        try:
            yield
        finally:
            self._by_duckdb = None

    def folded(self, foldings: Sequence[Folding], tell: Tell) -> Iterator[list[dict[str, Any]]]:
        def fold(each: Folding) -> list[dict[str, Any]]:
            tell(f"going through {each.name}")
            return each.folded()

        with ThreadPoolExecutor(self.at_once) as pool:
            yield from pool.map(fold, foldings)

    def close(self) -> None:
        """Stops the session that it started."""
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        if session is not None:
            session.catalog.clearCache() if self._theirs else session.stop()


def choose(engine: str, master: str | None) -> tuple[str, str]:
    """The engine that is meant, and why."""
    if engine != AUTO:
        return engine, "as you said"
    if master is not None or "PYSPARK_GATEWAY_PORT" in os.environ:  # which spark-submit sets
        return SPARK, "because a master is given"
    if importlib.util.find_spec("duckdb") is not None:
        return DUCKDB, "the fastest on one machine"
    return SPARK, "because DuckDB is not installed"


def open_engine(name: str, scratch: Path, master: str | None = None, tell: Tell = lambda _: None) -> Engine:
    """DuckDB or Spark. MissingExtraError says how to install what is missing."""
    from .session import MASTER

    return DuckEngine(scratch) if name == DUCKDB else SparkEngine(scratch, master or MASTER, tell)


def parquet_of(folder: Path, kinds: Iterable[str] = ("*",)) -> list[Path]:
    """The files of some kinds of rows."""
    return sorted(path for kind in kinds for path in folder.glob(f"kind={kind}/*.parquet"))
