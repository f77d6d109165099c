"""Rows for a ledger, and what it notes of them."""

from __future__ import annotations

import itertools
from typing import Any

from mockbroker.pipeline.ledgers import Ledger, Note, Row

START_MS = 1_700_000_000_000
SECOND = 1_000
MINUTE = 60 * SECOND
OFFSETS = "__consumer_offsets-0/00000000000000000000.log"


class Rows:
    """Rows of one file, in its order; each a second after the one before, unless told when."""

    def __init__(self, file: str = "server.log", source: str = "broker-log", **always: Any) -> None:
        self.rows: list[Row] = []
        self._always = {"source": source, "file": file, **always}
        self._now_ms = START_MS
        self._positions = itertools.count(1)

    def add(self, kind: str, after_ms: int = SECOND, **values: Any) -> Rows:
        self._now_ms += after_ms
        own = {"position": next(self._positions), "time_ms": self._now_ms}
        self.rows.append(Row(**{"key": "k", "kind": kind, **self._always, **own, **values}))
        return self


def noted(ledger: Ledger, *rows: Rows) -> list[Note]:
    """The notes of one thing, but what is only known at the end of it; in the order of time, as engines give
    its rows."""
    every = [row for each in rows for row in each.rows]
    every.sort(key=lambda row: (row.at_ms, row.file, row.position))
    return [each for each in ledger.fold(every) if each.what not in ("log-start", "unread")]


def told(ledger: Ledger, *rows: Rows) -> list[tuple[str, int | None, int | None]]:
    """Of each note what it is, and the offsets."""
    return [(each.what, each.offset, each.end_offset) for each in noted(ledger, *rows)]
