"""What is known of something that does not go by itself: an address that means nothing to clients, a codec
that one lacks, a response that is too large for one, a topic that is not there, an address that has too many
connections, a login that is refused, a quota."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..readers.denial_messages import (
    FAILED_LOGIN,
    NO_CODEC,
    NO_TOPIC,
    THROTTLED,
    TIMED_OUT,
    TOO_LARGE,
    TOO_MANY,
    UNRESOLVED,
)
from ..tables import functions as F
from .ledger import Ledger
from .row import Note, Row, note

ERRORS: Final = {
    UNRESOLVED: "broker-unresolved",
    NO_CODEC: "codec-unknown",
    TOO_LARGE: "response-too-large",
    TOO_MANY: "connections-rejected",
    FAILED_LOGIN: "login-refused",
    NO_TOPIC: "topic-unknown",
    THROTTLED: "throttled",
    TIMED_OUT: "records-timed-out",
}
"""What is noted of each."""
_OF_CLIENTS: Final = (NO_CODEC, THROTTLED, TIMED_OUT, TOO_LARGE)
"""Of each client: for others it may be otherwise."""
_OF_BROKERS: Final = (FAILED_LOGIN, TOO_MANY)
"""Of each broker: it tells of its own connections."""


@dataclass(slots=True)
class Failures:
    """`told` counts what each file tells, for several tell of the same: how often, or for how many ms."""

    first: Row | None = None
    last: Row | None = None
    told: Counter[str] = field(default_factory=Counter)


def step(state: Failures, row: Row) -> Iterable[Note]:
    state.first, state.last = state.first or row, row
    state.told[row.file] += int(row.detail or 0) if row.error == THROTTLED else 1
    return ()


def end(state: Failures) -> Iterator[Note]:
    first, last = state.first, state.last
    if first is None or last is None:
        return
    client = first.client if first.client == last.client else None
    number = max(state.told.values())
    about = {"client": client, "broker": first.broker, "number": number, "detail": first.detail}
    if first.error == NO_TOPIC:
        about["group"] = None
    elif first.error == THROTTLED:
        about |= {"broker": None, "detail": None}
    elif first.error == TIMED_OUT:
        about |= {"broker": None, "detail": None, "partition": None}
    yield note(ERRORS[first.error or ""], first, last if number > 1 else None, **about)


LEDGER: Final = Ledger(
    "failures",
    ("complaint",),
    F.coalesce(F.col("error").isin(*ERRORS), F.lit(False))
    & (~F.col("error").isin(*_OF_CLIENTS) | F.coalesce(F.col("group"), F.col("client")).isNotNull())
    # Members that are refused say so besides.
    & ((F.col("error") != FAILED_LOGIN) | F.col("group").isNull()),
    F.concat_ws(
        "\n",
        F.col("error"),
        F.when(F.col("error") != THROTTLED, F.col("detail")),
        F.when(F.col("error").isin(*_OF_CLIENTS), F.coalesce(F.col("group"), F.col("client"))),
        F.when(F.col("error").isin(*_OF_BROKERS), F.col("broker").cast("string")),
    ),
    ("broker", "client", "group", "topic", "error", "detail"),
    Failures,
    step,
    end,
)
