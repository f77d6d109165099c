"""What is known of a producer or a transactional id: what it wrote, and that it was refused for good."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ..readers.member_messages import FATAL
from ..readers.refusal_messages import GIVEN, INVALID, TOO_LARGE, TRANSACTION_TIMEOUT
from ..refused_producers import with_ids
from ..tables import Table
from ..tables import functions as F
from .ledger import Ledger, refused_only
from .row import Note, Row, note

_FATAL: Final = (
    *("PRODUCER_FENCED", "INVALID_PRODUCER_ID_MAPPING", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    TRANSACTION_TIMEOUT,
)
"""A client gives up after these: whoever goes on with the id is another one."""
_OF_RECORDS: Final = (*TOO_LARGE, *INVALID)
"""Clients do not send such records again."""
_IF_GIVEN: Final = ("UNKNOWN_TOPIC_OR_PARTITION",)
"""Clients try again for a while: only what an application is given is noticed."""
_UNLESS_IT_WRITES: Final = (
    "INVALID_PRODUCER_EPOCH",
    "UNKNOWN_PRODUCER_ID",
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "UNKNOWN_SERVER_ERROR",
)
_SENT_AGAIN: Final = ("UNKNOWN_PRODUCER_ID", "OUT_OF_ORDER_SEQUENCE_NUMBER")
"""Clients send again what brokers refuse so: only records tell whether it was written then."""
_SAY: Final = ("broker-log", "client-log")
ERRORS: Final = (*_FATAL, *_OF_RECORDS, *_UNLESS_IT_WRITES, *_IF_GIVEN)
_BEGINS: Final = "initialized"
_WRITES: Final = ("Ongoing", "PrepareCommit", "CompleteCommit", _BEGINS)
"""What a producer that goes on makes of its transactional id."""


@dataclass(slots=True)
class Producer:
    """`state` is the last of a transactional id, `deleted` the tombstone after it. `first` and `last` are the
    refusals since it last wrote, `given` if an application tells of one, or the client says that it ends.
    `has_records` is that some of it are known."""

    state: Row | None = None
    deleted: Row | None = None
    first: Row | None = None
    last: Row | None = None
    count: int = 0
    given: bool = False
    has_records: bool = False


def step(state: Producer, row: Row) -> Iterable[Note]:
    match row.kind:
        case "transaction":
            state.state, state.deleted = row, None
            state.has_records = state.has_records or row.source not in _SAY
            if (row.detail or "").startswith(_WRITES):
                _goes_on(state)
        case "tombstone":
            state.deleted = row
        case "append":
            state.has_records = True
            _goes_on(state)
        case "refused":
            state.first = state.first or row
            state.last = row
            state.count += 1
            state.given = state.given or row.detail == GIVEN or (row.detail or "").startswith(FATAL)
    return ()


def _goes_on(state: Producer) -> None:
    """Whoever writes after the application was told of the error is another producer."""
    if state.first is not None and state.first.error in _UNLESS_IT_WRITES and not state.given:
        state.first = state.last = None
        state.count = 0


def end(state: Producer) -> Iterator[Note]:
    if state.first is None or state.last is None:
        return
    unsure = state.first.source in _SAY and state.first.error in _SENT_AGAIN
    if unsure and not state.given and not state.has_records:
        return
    yield note(
        "producer-refused",
        *(state.state, state.deleted, state.first, state.last if state.count > 1 else None),
        from_ms=state.first.time_ms,
        to_ms=state.last.time_ms,
        number=state.count,
        detail=state.first.error,
    )


def _refused(rows: Table) -> Table:
    """Of producers that were refused. Refusals may name the producer alone: who begins anew is known by its
    transactional id, and by that."""
    refused = rows.where("kind = 'refused'").select("key").distinct()
    begun = rows.where(F.col("detail") == _BEGINS)
    begun = begun.where(F.col("transactional_id").isNotNull() & F.col("producer_id").isNotNull())
    both = rows.unionByName(begun.withColumn("key", _BY_NUMBER))
    return both.join(refused, "key", "left_semi")


_BY_NUMBER: Final = F.concat(F.lit("producer "), F.col("producer_id").cast("string"))
_WHO: Final = F.coalesce(
    F.concat(F.lit("id "), F.col("transactional_id")),
    _BY_NUMBER,
    F.concat(F.lit("client "), F.col("client")),
    F.when(F.col("error").isin(*_OF_RECORDS), F.concat_ws("-", "topic", F.col("partition").cast("string"))),
)
LEDGER: Final = Ledger(
    "producers",
    ("transaction", "tombstone", "append", "refused"),
    _WHO.isNotNull()
    & refused_only(F.col("error").isin(*ERRORS))
    & (
        ~F.coalesce(F.col("error").isin(*_IF_GIVEN), F.lit(False))
        | F.coalesce(F.col("detail") == GIVEN, F.lit(False))
    )
    & ((F.col("kind") != "tombstone") | F.col("transactional_id").isNotNull())
    & (
        F.col("producer_id").isNotNull()
        | F.col("transactional_id").isNotNull()
        | F.coalesce(F.col("error").isin(*_FATAL, *_OF_RECORDS, *_IF_GIVEN), F.lit(False))
    ),
    _WHO,
    (
        "client",
        "topic",
        "partition",
        "offset",
        "producer_id",
        "producer_epoch",
        "transactional_id",
        "error",
        "detail",
    ),
    Producer,
    step,
    end,
    named=with_ids,
    spread=_refused,
    needs=("refused",),
)
