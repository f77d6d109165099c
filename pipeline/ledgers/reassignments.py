"""What is known of a partition that moves to other brokers: since when, and whether that has ended.

Each controller tells of it, one a moment after another.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..tables import functions as F
from .ledger import Ledger
from .row import Note, Row, note

_COMPLETED: Final = "completed"


@dataclass(slots=True)
class Reassignment:
    """`begun` has by file the first row of one that has not ended."""

    begun: dict[str, Row] = field(default_factory=dict)


def step(state: Reassignment, row: Row) -> Iterator[Note]:
    if row.detail != _COMPLETED:
        state.begun.setdefault(row.file, row)
    elif state.begun:
        yield note("reassignment", min(state.begun.values(), key=lambda each: each.at_ms), row)
        state.begun.clear()


def end(state: Reassignment) -> Iterator[Note]:
    if state.begun:
        first = min(state.begun.values(), key=lambda each: each.at_ms)
        yield note("reassignment", first, to_ms=None)


LEDGER: Final = Ledger(
    "reassignments",
    ("reassignment",),
    F.col("topic").isNotNull()
    & F.col("partition").isNotNull()
    & F.col("time_ms").isNotNull()
    & F.coalesce(F.col("source") == "broker-log", F.lit(False)),
    F.concat_ws("\n", "topic", "partition"),
    ("topic", "partition", "detail"),
    Reassignment,
    step,
    end,
)
