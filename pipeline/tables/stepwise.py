"""Queries over few rows, some steps at a time: to plan a search takes far longer than to carry it out, and
most searches have no rows left after some of their steps. The rest is then not planned at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import duckdb

ONCE: Final = "MATERIALIZED"
# If it is left to DuckDB 2.0, queries of many steps over millions of rows may never end.
EVERY_TIME: Final = "NOT MATERIALIZED"


class Step(NamedTuple):
    """A SELECT from other steps, its `sources`. It has no rows if all steps of one of `without` have none. A
    filter has a `condition`."""

    select: str
    sources: tuple[str, ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    condition: str | None = None


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
    """The rows of the last step. Each filter, and what is used more than once, is worked out before what
    comes after it."""
    again = used_again(steps)
    counts = _counts(connection, steps)
    made: list[str] = []
    empty: set[str] = set()
    try:
        for name, step in steps.items():
            if any(empty.issuperset(some) for some in step.without):
                empty.add(name)
                continue
            if name in counts:
                count = counts[name]
            elif name != last and step.sources and (step.condition or name in again):
                part = query(_needed(steps, name, made), name, again)
                [(count,)] = connection.execute(f"CREATE TEMP TABLE {name} AS {part}").fetchall()
                made.append(name)
            else:
                continue
            if not count:
                empty.add(name)
        if last in empty:
            return []
        whole = query(_needed(steps, last, made), last, again)
        return connection.execute(f"{whole} {order}").fetchall()
    finally:
        for name in made:
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
