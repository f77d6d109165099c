"""Queries some steps at a time: most searches have no rows left after some of their steps. The rest is then
not carried out, nor planned, which takes far longer than that where there are few rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import duckdb

ONCE: Final = "MATERIALIZED"
# If it is left to DuckDB 2.0, queries of many steps over millions of rows may never end.
EVERY_TIME: Final = "NOT MATERIALIZED"
FEW: Final = 50_000
"""So many rows of a step may be kept."""


class Step(NamedTuple):
    """A SELECT from other steps, its `sources`. It has no rows if all steps of one of `without` have none. A
    filter has a `condition`. One that `streams` has its first rows before it has seen all of its sources."""

    select: str
    sources: tuple[str, ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    condition: str | None = None
    streams: bool = False


Steps = Mapping[str, Step]


def query(steps: Steps, last: str, once: Collection[str]) -> str:
    """One query of all steps, each after its sources."""
    listed = ",\n".join(
        f"{name} AS {ONCE if name in once else EVERY_TIME} ({step.select})" for name, step in steps.items()
    )
    return f"WITH {listed}\nSELECT * FROM {last}"


def used_again(steps: Steps) -> set[str]:
    """The steps that are used more than once."""
    used = Counter(source for step in steps.values() for source in step.sources)
    return {name for name, times in used.items() if times > 1}


def rows(
    connection: duckdb.DuckDBPyConnection, steps: Steps, last: str, order: str = ""
) -> list[tuple[Any, ...]]:
    """The rows of the last step, where there are few. Each filter, and what is used more than once, is worked
    out before what comes after it."""
    again = used_again(steps)
    counts = _counts(connection, steps)
    with _working(connection, steps, again) as work:
        for name, step in steps.items():
            if work.is_empty(name):
                continue
            if name in counts:
                work.counted(name, counts[name])
            elif name != last and step.sources and (step.condition or name in again):
                work.make(name)
        return work.rows(last, order)


def rows_of_many(
    connection: duckdb.DuckDBPyConnection, steps: Steps, last: str, once: Collection[str], large: set[str]
) -> list[tuple[Any, ...]]:
    """The same where there are many. What is to be worked out `once` is, before what comes after it; so is
    all that `rows` works out if it comes from few rows, and each filter of what was read until it turns out
    to have many rows: it is then noted as `large`."""
    again = used_again(steps)
    streaming: set[str] = set()
    few: set[str] = set()
    with _working(connection, steps, once) as work:
        for name, step in steps.items():
            if work.is_empty(name):
                few.add(name)
                continue
            if (step.streams or not step.sources) and streaming.issuperset(step.sources):
                streaming.add(name)
            if name == last or not step.sources:
                continue
            if few.issuperset(step.sources):
                few.add(name)
                if step.condition or name in again:
                    work.make(name)
            elif name in once:
                if work.make(name) <= FEW:
                    few.add(name)
            elif step.condition and name in streaming and step.select not in large:
                if work.make(name, FEW) <= FEW:
                    few.add(name)
                else:
                    large.add(step.select)
        return work.rows(last)


class _Work:
    """The steps that are tables by now, and those that have no rows."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, steps: Steps, once: Collection[str]) -> None:
        self.made: list[str] = []
        self._connection, self._steps, self._once = connection, steps, once
        self._empty: set[str] = set()

    def is_empty(self, name: str) -> bool:
        """Whether a step has no rows, as those before it have none."""
        if any(self._empty.issuperset(some) for some in self._steps[name].without):
            self._empty.add(name)
        return name in self._empty

    def counted(self, name: str, count: int) -> None:
        if not count:
            self._empty.add(name)

    def make(self, name: str, most: int | None = None) -> int:
        """Works a step out. The number of its rows; if there are more than `most`, they are not kept."""
        limit = "" if most is None else f"LIMIT {most + 1}"
        select = f"{self._query(name)} {limit}"
        [(count,)] = self._connection.execute(f"CREATE TEMP TABLE {name} AS {select}").fetchall()
        if most is not None and count > most:
            self._connection.execute(f"DROP TABLE {name}")
        else:
            self.made.append(name)
            self.counted(name, count)
        return int(count)

    def rows(self, last: str, order: str = "") -> list[tuple[Any, ...]]:
        if last in self._empty:
            return []
        return self._connection.execute(f"{self._query(last)} {order}").fetchall()

    def _query(self, name: str) -> str:
        return query(_needed(self._steps, name, self.made), name, self._once)


@contextmanager
def _working(connection: duckdb.DuckDBPyConnection, steps: Steps, once: Collection[str]) -> Iterator[_Work]:
    work = _Work(connection, steps, once)
    try:
        yield work
    finally:
        for name in work.made:
            connection.execute(f"DROP TABLE {name}")


def _counts(connection: duckdb.DuckDBPyConnection, steps: Steps) -> dict[str, int]:
    """How many rows there are of what was read, and how many pass the filters that come before all else."""
    counts: dict[str, int] = {}
    for root, step in steps.items():
        if step.sources:
            continue
        passed = {root: "true"}
        for name, each in steps.items():
            if each.condition and each.sources[0] in passed:
                passed[name] = f"{passed[each.sources[0]]} AND {each.condition}"
        listed = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in passed.values())
        [found] = connection.execute(f"WITH {root} AS ({step.select}) SELECT {listed} FROM {root}").fetchall()
        counts |= zip(passed, found, strict=True)
    return counts


def _needed(steps: Steps, last: str, made: Collection[str]) -> Steps:
    """The steps that lead to the last one from those that are tables by now."""
    needed = {last}
    for name in reversed(list(steps)):
        if name in needed:
            needed.update(source for source in steps[name].sources if source not in made)
    return {name: step for name, step in steps.items() if name in needed}
