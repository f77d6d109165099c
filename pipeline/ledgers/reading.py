"""Gives each ledger its rows, in the order of time, on either engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ..engine import Engine
from ..rows import of_kinds
from ..tables import Folding, Table
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
_row: Final = partial(tuple.__new__, Row)
"""What `Row._make` does, without a call of Python's for each row."""
_ALWAYS: Final = ("key", "kind", "source", "file", "position", "time_ms")


def notes(
    used: Engine, observations: Table, kinds: Mapping[str, int], tell: Callable[[str], None]
) -> list[Note]:
    """What all ledgers noted, of kinds of rows that there are."""
    wanted = (each for each in LEDGERS.values() if any(map(kinds.get, each.needs or each.kinds)))
    found = used.folded([_folding(observations, each, kinds) for each in wanted], tell)
    return [_read(row) for rows in found for row in rows]


def noted(observations: Table, ledger: Ledger) -> list[Note]:
    """What one ledger noted."""
    return list(map(_read, _folding(observations, ledger, {}).folded()))


def _folding(observations: Table, ledger: Ledger, kinds: Mapping[str, int]) -> Folding:
    rows = ledger.named(of_kinds(observations, *ledger.kinds)).where(ledger.of)
    known = {name: F.col(name) for name in (*_ALWAYS, *ledger.columns, *_ORDER)} | {"key": ledger.key}
    # What is sorted should be narrow.
    chosen = [known[name].cast(_kind(name)).alias(name) for name in Row._fields if name in known]
    fold = partial(_fold, ledger.name)
    table = ledger.spread(rows.select(*chosen))
    count = sum(kinds.get(each, 0) for each in ledger.kinds)
    how = "key", _ORDER, Row._fields, fold, _schema(), ledger.fewer
    return Folding(ledger.name, count, table, *how)


def _kind(name: str) -> str:
    return "bigint" if "int" in str(Row.__annotations__[name]) else "string"


def _fold(name: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    for each in LEDGERS[name].fold(map(_row, rows)):
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
