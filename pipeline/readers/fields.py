"""What a trace says in rows of the common table: which fields become which columns, and what a request and
its answer say together. `exchanges` reads rows one at a time, and `bulk` whole columns, by these rules.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple


class Part(Enum):
    """Of what a field is: of the whole request or answer, of a partition, or of a partition's first or last
    batch. The value of a constant is its name."""

    BODY = "body"
    PARTITION = "partition"
    FIRST = "first batch"
    LAST = "last batch"
    CONSTANT = "constant"


class Field(NamedTuple):
    """The value of the first of `names` that is there. With `known` a negative number and an empty text are
    None. `plus` names a number to be added, `called` the texts that stand for numbers, and `before` is a word
    before the number."""

    part: Part
    names: tuple[str, ...]
    known: bool = True
    plus: str = ""
    called: Mapping[int, str] | None = None
    before: str = ""


Fields = Mapping[str, Field]
"""By column of the table."""


def _body(*names: str) -> Field:
    return Field(Part.BODY, names)


def _partition(*names: str, known: bool = True) -> Field:
    return Field(Part.PARTITION, names, known)


_TRANSACTIONAL_ID: Final = Field(Part.BODY, ("transactional_id",), known=False)
_CURRENT: Final = {"current_epoch": _partition("current_leader_epoch")}
_COMMITTED: Final = {
    "offset": _partition("committed_offset", known=False),
    "leader_epoch": _partition("committed_leader_epoch"),
}
_COMMIT: Final[Fields] = {
    **_COMMITTED,
    "group": _body("group_id"),
    "generation": _body("generation_id_or_member_epoch", "generation_id"),
    "transactional_id": _TRANSACTIONAL_ID,
    "producer_id": _body("producer_id"),
    "producer_epoch": _body("producer_epoch"),
}
_IN_TRANSACTION: Final = Field(Part.CONSTANT, ("in a transaction",))
COMMITS: Final = ("OffsetCommit", "TxnOffsetCommit")
ASKED: Final[Mapping[str, Fields]] = {
    "OffsetCommit": _COMMIT,
    "TxnOffsetCommit": {**_COMMIT, "detail": _IN_TRANSACTION},
    "Produce": {
        "transactional_id": _TRANSACTIONAL_ID,
        "producer_id": Field(Part.FIRST, ("producer_id",)),
        "producer_epoch": Field(Part.FIRST, ("producer_epoch",)),
        "sequence": Field(Part.FIRST, ("base_sequence",)),
        "end_offset": Field(Part.FIRST, ("records",)),
    },
    "OffsetForLeaderEpoch": {**_CURRENT, "leader_epoch": _partition("leader_epoch")},
    "ListOffsets": {
        **_CURRENT,
        "detail": Field(Part.PARTITION, ("timestamp",), called={-1: "latest", -2: "earliest"}),
    },
    "Fetch": {
        **_CURRENT,
        "offset": _partition("fetch_offset", known=False),
        "leader_epoch": _partition("last_fetched_epoch"),
    },
}
"""By API: what a request says of a partition."""
ANSWERED: Final[Mapping[str, Fields]] = {
    "OffsetFetch": _COMMITTED,
    "Produce": {"offset": _partition("base_offset", known=False)},
    "OffsetForLeaderEpoch": {
        "end_offset": _partition("end_offset", known=False),
        "detail": Field(Part.PARTITION, ("leader_epoch",), known=False, before="epoch"),
    },
    "ListOffsets": {
        "offset": _partition("offset", known=False),
        "leader_epoch": _partition("leader_epoch"),
    },
    "Fetch": {
        "offset": Field(Part.FIRST, ("base_offset",), known=False),
        "end_offset": Field(Part.LAST, ("base_offset",), known=False, plus="records"),
        "leader_epoch": Field(Part.LAST, ("leader_epoch",)),
    },
}
"""By API: what an answer says of a partition, if it has no error."""


class Rule(NamedTuple):
    """What a request and its answer say together of a partition without an error: a row of `kind`, with the
    columns of the request, except those that are in `answered`.

    There is none if the request has none of the column `asked`, or if the answer's offset is negative, unless
    that is `any_offset`. With `counted` the request's `end_offset` is the number of records from the answer's
    offset on.
    """

    kind: str
    answered: tuple[str, ...] = ()
    asked: str | None = None
    any_offset: bool = True
    counted: bool = False


_COMMITS: Final = Rule("commit", asked="offset")
RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(COMMITS, _COMMITS),
    "Produce": Rule("append", ("offset",), any_offset=False, counted=True),
    "OffsetForLeaderEpoch": Rule("epoch-answer", ("end_offset", "detail")),
    "ListOffsets": Rule("reset", ("offset", "leader_epoch"), asked="detail", any_offset=False),
    "OffsetFetch": Rule("restore", ("offset", "leader_epoch")),
}
"""By API. An answer to ListOffsets is a reset only if the client has lost its position before. Of Fetch see
`ANSWERED`: a client is given records from the offset for which it asked."""
NOT_REFUSED: Final = ("end_offset", "detail")
"""What a row about a refusal does not have of its request."""

_PARTITIONS: Final = ("topics", "partitions")
_ASKED_IN: Final = {"Produce": ("topic_data", "partition_data")}
_ANSWERED_IN: Final = {
    "Produce": ("responses", "partition_responses"),
    "Fetch": ("responses", "partitions"),
}


def asked_in(api: str) -> tuple[str, str]:
    """A request's list of topics, and in each that of partitions."""
    return _ASKED_IN.get(api, _PARTITIONS)


def answered_in(api: str) -> tuple[str, str]:
    """The same of an answer."""
    return _ANSWERED_IN.get(api, _PARTITIONS)


_PLACE: Final = {"topic": "topic", "partition": "partition"}
STATES: Final[Mapping[str, Mapping[str, str]]] = {
    "leader": {**_PLACE, "leader": "leader", "leader_epoch": "leader_epoch"},
    "in-sync-replicas": {**_PLACE, "replicas": "in_sync_replicas"},
    "high-watermark": {
        **_PLACE,
        "offset": "high_watermark",
        "end_offset": "log_end_offset",
        "from_offset": "last_stable_offset",
    },
    "log-start": {**_PLACE, "offset": "log_start_offset"},
    "truncation": {**_PLACE, "offset": "to_offset", "from_offset": "from_offset"},
    "follower-failure": {**_PLACE, "detail": "failure"},
    "group": {"group": "group", "broker": "coordinator", "generation": "generation", "detail": "state"},
    "transaction": {
        **{name: name for name in ("transactional_id", "producer_id", "producer_epoch")},
        "broker": "coordinator",
        "detail": "state",
    },
}
"""By kind: columns of the table, and the trace's columns from which they come. A trace calls a follower whose
`state` is `failed` a `follower`."""
