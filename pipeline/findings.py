"""What searches find: one row for each time that a signature was seen, with the rows that show it."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypedDict

from .rows import NO_PARTITION, case, named_topic
from .tables import Column, Table
from .tables import functions as F

TYPES: Final = {
    **dict.fromkeys(("signature", "confidence", "why", "summary"), "string"),
    **dict.fromkeys(("behaviours", "ids"), "array<string>"),
    **dict.fromkeys(("group", "client", "topic"), "string"),
    "partition": "int",
    "producer_id": "bigint",
    "broker": "int",
    **dict.fromkeys(("from_ms", "to_ms"), "bigint"),
    "evidence": "array<struct<file: string, position: bigint, time_ms: bigint, text: string>>",
}
"""`behaviours` are names that `mockbroker policies` lists, `ids` those of Kafka's issues and KIPs;
`confidence` is `certain`, `likely` or `possible`, and `why` says why. Times are those of the first and last
row, in Unix milliseconds."""
SUBJECTS: Final = {"group": "group", "producer_id": "producer", "client": "client", "broker": "broker"}
"""Whose doing it is, or to whom it happened: the first that is known."""
_ABOUT: Final = ("group", "client", "topic", "partition", "producer_id", "broker")

CERTAIN: Final = "certain"
LIKELY: Final = "likely"
POSSIBLE: Final = "possible"


class If(NamedTuple):
    """A confidence, and why, for rows for which a condition is true."""

    condition: Column
    confidence: str
    why: str


class Else(NamedTuple):
    """Those for all other rows."""

    confidence: str
    why: str


class Judged(TypedDict):
    confidence: Column
    why: Column


def judged(*cases: *tuple[*tuple[If, ...], Else]) -> Judged:
    """`confidence` and `why` of `findings`: those of the first condition that is true."""
    *ifs, rest = cases
    return Judged(
        confidence=case(*((each.condition, each.confidence) for each in ifs), otherwise=rest.confidence),
        why=case(*((each.condition, each.why) for each in ifs), otherwise=rest.why),
    )


def findings(
    rows: Table,
    *,
    signature: str | Column,
    confidence: str | Column,
    why: str | Column,
    summary: Column,
    evidence: Sequence[Column] | Column,
    behaviours: Sequence[str] | Column = (),
    ids: Sequence[str] | Column = (),
    columns: Mapping[str, Column] | None = None,
) -> Table:
    """`rows` in the common schema. `evidence` are structs made by `seen`; null ones are left out."""
    given = {name: F.col(name) for name in _ABOUT if name in rows.columns} | dict(columns or {})
    where = {name: given.get(name, F.lit(None).cast(TYPES[name])) for name in _ABOUT}
    where["topic"] = named_topic(where["topic"])
    where["partition"] = F.nullif(where["partition"], F.lit(NO_PARTITION))
    told = {"signature": F.lit(signature), "confidence": F.lit(confidence), "why": F.lit(why)}
    told |= {"summary": summary, "behaviours": _list(behaviours), "ids": _list(ids), **where}
    told["evidence"] = evidence if isinstance(evidence, Column) else F.array(*evidence)
    found = rows.select(*(column.alias(name) for name, column in told.items()))
    times = F.transform("evidence", lambda each: each["time_ms"])
    derived = {"from_ms": F.array_min(times), "to_ms": F.array_max(times), "evidence": _sorted("evidence")}
    return found.select(
        *(derived.get(name, F.col(name)).cast(kind).alias(name) for name, kind in TYPES.items())
    )


def _list(values: Sequence[str] | Column) -> Column:
    return values if isinstance(values, Column) else texts(*values)


def _sorted(evidence: str) -> Column:
    """Each row once, in order of time; at the same time, in the order of the file."""
    known = F.array_distinct(F.filter(evidence, lambda each: each.isNotNull()))

    def keyed(each: Column) -> Column:
        at = F.coalesce(each["time_ms"], F.lit(0)).alias("at")
        return F.struct(at, each["position"], each["file"], each["text"], each.alias("row"))

    return F.transform(F.array_sort(F.transform(known, keyed)), lambda each: each["row"])


def texts(*values: str) -> Column:
    """The same array of text for every row."""
    return F.array(*map(F.lit, values)).cast("array<string>")
