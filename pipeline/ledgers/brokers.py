"""What is known of a broker: when it ran, whether it was shut down, ended itself or was just gone, and how
long it loaded.

Its own log and that of the controller tell of the same; either is enough.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..readers.broker_life_messages import ENDED_ITSELF, TOLD_TO_END
from ..tables import functions as F
from .ledger import Ledger
from .row import Note, Row, note

TIMED_OUT: Final = "fenced: its session timed out"
_BEGINS: Final = ("starting", "state STARTING")
_STARTED: Final = ("started", "state STARTED")
_RUNS: Final = (*_STARTED, "unfenced")
_LEAVES: Final = (
    *("in controlled shutdown", "controlled shutdown granted", "shutting down", "a controlled shutdown"),
    *("an immediate shutdown", "unclean shutdown: the controlled one failed", "state SHUTTING_DOWN"),
    *("shut down completed", "state SHUTDOWN", "unregistered", TOLD_TO_END),
)
_REGISTERED: Final = "registered"
_BEGAN: Final = "began"
_FINISHED: Final = "finished in "
_NOTICED_MS: Final = 10_000
"""What took less is not noted."""


@dataclass(slots=True)
class Broker:
    """`runs` is the last row by which it runs, `leaves` that by which it is being shut down, `lost` that its
    session timed out, `failed` the fatal error by which it ended itself; `begins` the first row of the
    process that came after. `loads` has what it began to load, by partition, and `registered` the
    registrations that are known: a controller that starts reads them all again."""

    runs: Row | None = None
    leaves: Row | None = None
    lost: Row | None = None
    failed: Row | None = None
    begins: Row | None = None
    loads: dict[tuple[str | None, int | None], Row] = field(default_factory=dict)
    registered: set[str] = field(default_factory=set)


def step(state: Broker, row: Row) -> Iterator[Note]:
    return _load(state, row) if row.kind == "load" else _life(state, row)


def end(state: Broker) -> Iterator[Note]:
    yield from _away(state, None)
    for row in state.loads.values():
        yield _noted("loading", row, to_ms=None, topic=row.topic, partition=row.partition)


def _life(state: Broker, row: Row) -> Iterator[Note]:
    detail = row.detail or ""
    if detail.startswith(f"{_REGISTERED}, "):
        if detail in state.registered:
            return
        state.registered.add(detail)
    if detail in _BEGINS or detail.startswith(_REGISTERED):
        # A broker's log and its controller's both tell of the same process.
        known = (state.runs, state.leaves, state.lost, state.failed)
        if any(each is not None for each in known):
            state.begins = state.begins or row
        state.loads.clear()
    elif detail == TIMED_OUT:
        if state.leaves is None:
            state.lost = state.lost or row
    elif detail.startswith(ENDED_ITSELF):
        if state.leaves is None and state.begins is None:
            state.failed = state.failed or row
        state.loads.clear()
    elif detail in _LEAVES:
        if state.begins is None:
            state.leaves = state.leaves or row
        state.loads.clear()
    elif detail in _RUNS:
        if detail == _STARTED[0] and state.runs is not None and state.runs.detail == detail:
            # With ZooKeeper there is no word of how it begins.
            state.begins = state.begins or row
        stopped = state.leaves or state.failed
        if state.begins is not None or state.lost is not None or (stopped and detail in _STARTED):
            yield from _away(state, row)
        elif stopped is None:
            state.runs = row


def _away(state: Broker, back: Row | None) -> Iterator[Note]:
    """What is known once it runs again, or at the end of the files."""
    runs, leaves, lost, begins = state.runs, state.leaves, state.lost, state.begins
    failed, state.failed = state.failed, None
    state.leaves = state.lost = state.begins = None
    state.runs = back or runs
    last: dict[str, int | None] = {} if back is not None else {"to_ms": None}
    if failed is not None:
        # A process that exits shuts itself down in order.
        yield _noted("broker-failed", failed, begins, back, detail=failed.detail)
    elif leaves is not None:
        yield _noted("broker-shut-down", leaves, begins, back, **last)
    elif begins is not None:
        yield _noted("broker-died", lost or runs, begins, back, **last)
    elif lost is not None:
        # Without another process, or a word of it, it was only not heard.
        yield _noted("broker-fenced", lost, begins, back, **last)


def _load(state: Broker, row: Row) -> Iterator[Note]:
    detail = row.detail or ""
    began = state.loads.pop((row.topic, row.partition), None)
    if detail == _BEGAN:
        state.loads[row.topic, row.partition] = began or row
        return
    number = detail.removeprefix(_FINISHED).partition(" ")[0]
    if detail.startswith(_FINISHED) and number.isdecimal():
        since = row.at_ms - int(number)
        if int(number) >= _NOTICED_MS:
            yield _noted("loading", row, from_ms=since, topic=row.topic, partition=row.partition)
    elif began is not None and row.at_ms - began.at_ms >= _NOTICED_MS:
        yield _noted("loading", began, row, topic=row.topic, partition=row.partition)


def _noted(what: str, *rows: Row | None, **values: int | str | None) -> Note:
    (first, *_) = [row for row in rows if row is not None]
    about = dict.fromkeys(("group", "client", "topic", "partition"))
    return note(what, *rows, **{**about, "broker": first.broker, **values})


LEDGER: Final = Ledger(
    "brokers",
    ("broker", "load"),
    (F.col("broker").isNotNull() | F.coalesce(F.col("detail").startswith(ENDED_ITSELF), F.lit(False)))
    & F.col("time_ms").isNotNull(),
    F.coalesce(F.col("broker").cast("string"), F.concat(F.lit("log "), F.col("file"))),
    ("broker", "topic", "partition", "detail"),
    Broker,
    step,
    end,
)
