"""Gives each ledger its rows, in the order of time, on either engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from ..rows import of_kinds
from ..tables import Table
from ..tables import functions as F
from . import (
    absent_groups,
    brokers,
    failures,
    group_partitions,
    members,
    partitions,
    producers,
    reassignments,
    replicas,
    share_partitions,
    share_states,
)
from .ledger import Ledger
from .row import Note, Row

LEDGERS: Final = {
    each.LEDGER.name: each.LEDGER
    for each in (
        *(group_partitions, absent_groups, partitions, share_partitions, share_states, producers, members),
        *(brokers, failures, reassignments, replicas),
    )
}
_ORDER: Final = ("time_ms", "file", "position", "offset", "kind")
_ALWAYS: Final = ("key", "kind", "source", "file", "position", "time_ms")


def notes(
    observations: Table, kinds: Mapping[str, int], tell: Callable[[str], None], at_once: int = 1
) -> list[Note]:
    """What all ledgers noted, of kinds of rows that there are; so many of them are given to the engine
    `at_once`."""

    def go(ledger: Ledger) -> list[Note]:
        tell(f"going through {ledger.name}")
        return noted(observations, ledger)

    there = [each for each in LEDGERS.values() if any(map(kinds.get, each.needs or each.kinds))]
    with ThreadPoolExecutor(at_once) as pool:
        return [note for some in pool.map(go, there) for note in some]


def noted(observations: Table, ledger: Ledger) -> list[Note]:
    """What one ledger noted."""
    rows = ledger.named(of_kinds(observations, *ledger.kinds)).where(ledger.of)
    known = {name: F.col(name) for name in (*_ALWAYS, *ledger.columns, *_ORDER)} | {"key": ledger.key}
    # What is sorted should be narrow.
    chosen = [known[name].cast(_kind(name)).alias(name) for name in Row._fields if name in known]
    fold = partial(_fold, ledger.name)
    found = ledger.fewer(rows.select(*chosen)).folded("key", _ORDER, Row._fields, fold, _schema())
    return [_read(each) for each in found]


def _kind(name: str) -> str:
    return "bigint" if "int" in str(Row.__annotations__[name]) else "string"


def _fold(name: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    for each in LEDGERS[name].fold(map(Row._make, rows)):
        yield each._asdict() | {"rows": [dict(zip(_PLACE, place, strict=True)) for place in each.rows]}


def _read(row: Mapping[str, Any]) -> Note:
    places = tuple(tuple(each[name] for name in _PLACE) for each in row["rows"])
    return Note(**{**row, "rows": places})


_PLACE: Final = ("file", "position", "kind")


def _schema() -> Any:
    import pyarrow as pa

    kinds = {"file": pa.string(), "position": pa.int64(), "kind": pa.string()}
    place = pa.struct([pa.field(name, kind) for name, kind in kinds.items()])

    def kind(name: str) -> Any:
        if name == "rows":
            return pa.list_(place)
        return pa.int64() if "int" in str(Note.__annotations__[name]) else pa.string()

    return pa.schema([pa.field(name, kind(name)) for name in Note._fields])
