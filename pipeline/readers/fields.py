"""Where requests and answers have the columns of rows: `exchanges` reads them one at a time, and `bulk` whole
columns at a time.

Which rows an exchange makes of these, and what it makes without its request, they both say; a test compares
them.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple


class Part(Enum):
    """Of what a field is: of the whole request or answer, of a partition, or of a partition's first batch."""

    BODY = "body"
    PARTITION = "partition"
    BATCH = "batch"


class Field(NamedTuple):
    """The value of the first of `names` that is there. With `known` a negative number and an empty text are
    None."""

    part: Part
    names: tuple[str, ...]
    known: bool = True


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
COMMITS: Final = ("OffsetCommit", "TxnOffsetCommit")
ASKED: Final[Mapping[str, Fields]] = {
    **dict.fromkeys(COMMITS, _COMMIT),
    "Produce": {
        "transactional_id": _TRANSACTIONAL_ID,
        "producer_id": Field(Part.BATCH, ("producer_id",)),
        "producer_epoch": Field(Part.BATCH, ("producer_epoch",)),
        "sequence": Field(Part.BATCH, ("base_sequence",)),
    },
    "OffsetForLeaderEpoch": {**_CURRENT, "leader_epoch": _partition("leader_epoch")},
    "ListOffsets": _CURRENT,
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
        "leader_epoch": _partition("leader_epoch"),
    },
    "ListOffsets": {
        "offset": _partition("offset", known=False),
        "leader_epoch": _partition("leader_epoch"),
    },
}
"""By API: what an answer says of a partition, if it has no error."""
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
