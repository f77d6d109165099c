"""What searches find: one row for each time that a signature was seen, with the rows that show it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from .observations import NAMES
from .tables import Column, Table, Window, WindowSpec
from .tables import functions as F

TYPES: Final = {
    **dict.fromkeys(("signature", "confidence", "why", "summary"), "string"),
    **dict.fromkeys(("behaviours", "ids"), "array<string>"),
    "group": "string",
    "topic": "string",
    "partition": "int",
    "producer_id": "bigint",
    "broker": "int",
    **dict.fromkeys(("from_ms", "to_ms"), "bigint"),
    "evidence": "array<struct<file: string, position: bigint, time_ms: bigint, text: string>>",
}
"""`behaviours` are names that `mockbroker policies` lists, `ids` those of Kafka's issues and KIPs;
`confidence` is `certain`, `likely` or `possible`, and `why` says why. Times are those of the first and last
row, in Unix milliseconds."""

CERTAIN: Final = "certain"
LIKELY: Final = "likely"
POSSIBLE: Final = "possible"

_UNNAMED: Final = "\1"
NO_PARTITION: Final = -1
_TOLD: Final = (
    ("offset", "offset"),
    ("from_offset", "from"),
    ("end_offset", "end offset"),
    ("leader_epoch", "leader epoch"),
    ("current_epoch", "current epoch"),
    ("leader", "leader"),
    ("generation", "generation"),
    ("producer_id", "producer"),
    ("producer_epoch", "producer epoch"),
    ("sequence", "sequence"),
)
_WHO: Final = ("broker", "client", "group")
_WHERE: Final = ("kind", "source", "file", "position", "time_ms", "topic", "partition")
SEEN: Final = (*_WHERE, "replicas", "error", "detail", "text", *(name for name, _ in _TOLD), *_WHO)
"""The columns from which evidence is made."""


def row() -> Column:
    """What `seen` needs of a row, to be carried along where the text would be too much."""
    return F.struct(*SEEN)


def seen(within: str = "") -> Column:
    """A row, or the one in a column that `row` made, as evidence. Null if there is none.

    Its text is the original text of the file or, if that was not kept, made from the columns.
    """

    of = _named(within)
    named = (*_TOLD, *zip(_WHO, _WHO, strict=True))
    numbers = [F.concat(F.lit(f"{told} "), of(name)) for name, told in named]
    replicas = F.array_join(of("replicas").cast("array<string>"), ", ")
    numbers.insert(len(_TOLD), F.concat(F.lit("["), replicas, F.lit("]")))
    about = F.concat_ws(" ", of("kind"), F.when(of("topic").isNotNull(), _place(within)))
    told = F.concat_ws(": ", about, F.concat_ws(", ", of("error"), of("detail"), *numbers))
    # The original text of a trace's row is JSON.
    text = F.when(of("source") == "trace", told).otherwise(F.coalesce(of("text"), told))
    evidence = F.struct(of("file"), of("position"), of("time_ms"), text.alias("text"))
    return F.when(F.col(within).isNotNull(), evidence) if within else evidence


def in_order(*by: str | Column) -> WindowSpec:
    """The rows of each of `by`, in order of time; at the same time, in the order of their file."""
    return Window.partitionBy(*by).orderBy("time_ms", "file", "position")


def before(window: WindowSpec) -> WindowSpec:
    """All rows before the current one."""
    return window.rows("UNBOUNDED PRECEDING AND 1 PRECEDING")


def up_to(window: WindowSpec) -> WindowSpec:
    """All rows up to and including the current one."""
    return window.rows("UNBOUNDED PRECEDING AND CURRENT ROW")


def after(window: WindowSpec) -> WindowSpec:
    """All rows after the current one, from the end: the next one is their last."""
    return before(window.reversed)


def of_kinds(observations: Table, *kinds: str) -> Table:
    return observations.where(F.col("kind").isin(*kinds))


def sentence(text: str, **values: str | Column) -> Column:
    """`text` with columns in place of their `{names}`. Unknown values become `?`."""
    parts: list[Column] = []
    rest = text
    while rest:
        literal, brace, rest = rest.partition("{")
        if literal:
            parts.append(F.lit(literal))
        if brace:
            name, _, rest = rest.partition("}")
            parts.append(F.coalesce(_column(values.get(name, name)).cast("string"), F.lit("?")))
    return F.concat(*parts)


def place() -> Column:
    """`topic-partition`, as Kafka writes it."""
    return _place()


def _place(within: str = "") -> Column:
    topic, partition = map(_named(within), ("topic", "partition"))
    number = F.coalesce(partition.cast("string"), F.lit("?"))
    named = F.concat(F.coalesce(topic, F.lit("?")), F.lit("-"), number)
    told = F.when(partition == NO_PARTITION, topic).otherwise(named)
    return F.when(topic.startswith(_UNNAMED), "the partition").otherwise(told)


def _named(within: str) -> Callable[[str], Column]:
    return lambda name: F.col(f"{within}.{name}" if within else name)


def comparable(observations: Table) -> Table:
    """`observations`, in which missing values are filled in if there is only one candidate: a timeline's
    partition."""
    unnamed = (F.col("source") == "timeline") & F.col("topic").isNull()
    topic = F.when(unnamed, F.concat(F.lit(_UNNAMED), "file")).otherwise(F.col("topic"))
    partition = F.when(topic.isNotNull(), F.coalesce("partition", F.lit(NO_PARTITION)))
    return observations.withColumns({"topic": topic, "partition": partition})


def _sorted(evidence: str) -> Column:
    """Each row once, in order of time; at the same time, in the order of the file."""
    known = F.array_distinct(F.filter(evidence, lambda each: each.isNotNull()))

    def keyed(each: Column) -> Column:
        at = F.coalesce(each["time_ms"], F.lit(0)).alias("at")
        return F.struct(at, each["position"], each["file"], each["text"], each.alias("row"))

    return F.transform(F.array_sort(F.transform(known, keyed)), lambda each: each["row"])


def who() -> Column:
    """The group, or else the client."""
    group = F.concat(F.lit("group "), F.col("group"))
    return F.coalesce(group, F.concat(F.lit("client "), F.col("client")), F.lit("a consumer"))


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
    shown = evidence if isinstance(evidence, Column) else F.array(*evidence)
    given = dict(columns or {})
    where = {
        name: given.get(name, F.col(name) if name in rows.columns else F.lit(None).cast(TYPES[name]))
        for name in ("group", "topic", "partition", "producer_id", "broker")
    }
    where["topic"] = F.when(~where["topic"].startswith(_UNNAMED), where["topic"])
    where["partition"] = F.nullif(where["partition"], F.lit(NO_PARTITION))
    found = rows.select(
        _text(signature).alias("signature"),
        _text(confidence).alias("confidence"),
        _text(why).alias("why"),
        summary.alias("summary"),
        (behaviours if isinstance(behaviours, Column) else texts(*behaviours)).alias("behaviours"),
        (ids if isinstance(ids, Column) else texts(*ids)).alias("ids"),
        *(column.alias(name) for name, column in where.items()),
        shown.alias("evidence"),
    )
    times = F.transform("evidence", lambda each: each["time_ms"])
    derived = {"from_ms": F.array_min(times), "to_ms": F.array_max(times), "evidence": _sorted("evidence")}
    return found.select(
        *(derived.get(name, F.col(name)).cast(kind).alias(name) for name, kind in TYPES.items())
    )


def _column(value: str | Column) -> Column:
    return F.col(value) if isinstance(value, str) else value


def _text(value: str | Column) -> Column:
    return F.lit(value) if isinstance(value, str) else value


def texts(*values: str) -> Column:
    """The same array of text for every row."""
    return F.array(*map(F.lit, values)).cast("array<string>")


assert set(NAMES) >= {name for name, _ in _TOLD}
