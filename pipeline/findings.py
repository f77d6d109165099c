"""What searches find: one row for each time that a signature was seen, with the rows that show it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from .observations import NAMES

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

_UNNAMED: Final = "\0"
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

    # As SQL text: Spark parses that once, and is not called for each of its hundreds of parts.
    of = _named(within)
    numbers = [f"'{told} ' || {of(name)}" for name, told in (*_TOLD, *zip(_WHO, _WHO, strict=True))]
    replicas = f"'[' || array_join(CAST({of('replicas')} AS ARRAY<STRING>), ', ') || ']'"
    numbers.insert(len(_TOLD), replicas)
    about = f"concat_ws(' ', {of('kind')}, IF({of('topic')} IS NULL, NULL, {_place(within)}))"
    told = f"concat_ws(': ', {about}, concat_ws(', ', {of('error')}, {of('detail')}, {', '.join(numbers)}))"
    # The original text of a trace's row is JSON.
    text = f"IF({of('source')} = 'trace', {told}, coalesce({of('text')}, {told}))"
    where = ", ".join(f"'{name}', {of(name)}" for name in ("file", "position", "time_ms"))
    evidence = f"named_struct({where}, 'text', {text})"
    return F.expr(f"IF(`{within}` IS NULL, NULL, {evidence})" if within else evidence)


def in_order(*by: str | Column) -> WindowSpec:
    """The rows of each of `by`, in order of time; at the same time, in the order of their file."""
    return Window.partitionBy(*by).orderBy(F.col("time_ms").asc_nulls_first(), "file", "position")


def before(window: WindowSpec) -> WindowSpec:
    """All rows before the current one."""
    return window.rowsBetween(Window.unboundedPreceding, -1)


def up_to(window: WindowSpec) -> WindowSpec:
    """All rows up to and including the current one."""
    return window.rowsBetween(Window.unboundedPreceding, Window.currentRow)


def after(window: WindowSpec) -> WindowSpec:
    """All rows after the current one."""
    return window.rowsBetween(1, Window.unboundedFollowing)


def of_kinds(observations: DataFrame, *kinds: str) -> DataFrame:
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
    return F.expr(_place())


def _place(within: str = "") -> str:
    topic, partition = map(_named(within), ("topic", "partition"))
    named = f"coalesce({topic}, '?') || '-' || coalesce(CAST({partition} AS STRING), '?')"
    told = f"IF({partition} = {NO_PARTITION}, {topic}, {named})"
    return f"IF(startswith({topic}, char({ord(_UNNAMED)})), 'the partition', {told})"


def _named(within: str) -> Callable[[str], str]:
    return lambda name: f"`{within}`.`{name}`" if within else f"`{name}`"


def comparable(observations: DataFrame) -> DataFrame:
    """`observations`, in which missing values are filled in if there is only one candidate: a timeline's
    partition."""
    unnamed = (F.col("source") == "timeline") & F.col("topic").isNull()
    topic = F.when(unnamed, F.concat(F.lit(_UNNAMED), "file")).otherwise(F.col("topic"))
    partition = F.when(topic.isNotNull(), F.coalesce("partition", F.lit(NO_PARTITION)))
    return observations.withColumns({"topic": topic, "partition": partition})


_LATER: Final = "coalesce(one.time_ms, 0) - coalesce(other.time_ms, 0)"
_ORDER: Final = f"CAST(sign(coalesce(nullif({_LATER}, 0), one.position - other.position)) AS INT)"
_SORTED: Final = (
    f"array_sort(array_distinct(filter(evidence, each -> each IS NOT NULL)), (one, other) -> {_ORDER})"
)


def who() -> Column:
    """The group, or else the client."""
    group = F.concat(F.lit("group "), F.col("group"))
    return F.coalesce(group, F.concat(F.lit("client "), F.col("client")), F.lit("a consumer"))


def findings(
    rows: DataFrame,
    *,
    signature: str | Column,
    confidence: str | Column,
    why: str | Column,
    summary: Column,
    evidence: Sequence[Column] | Column,
    behaviours: Sequence[str] | Column = (),
    ids: Sequence[str] | Column = (),
    columns: Mapping[str, Column] | None = None,
) -> DataFrame:
    """`rows` in the common schema. `evidence` are structs made by `seen`; null ones are left out."""
    shown = evidence if isinstance(evidence, Column) else F.array(*evidence)
    given = dict(columns or {})
    where = {
        name: given.get(name, F.col(name) if name in rows.columns else F.lit(None))
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
    times = "transform(evidence, each -> each.time_ms)"
    derived = {"from_ms": f"array_min({times})", "to_ms": f"array_max({times})", "evidence": _SORTED}
    return found.selectExpr(
        *(f"CAST({derived.get(name, f'`{name}`')} AS {kind}) AS `{name}`" for name, kind in TYPES.items())
    )


def _column(value: str | Column) -> Column:
    return F.col(value) if isinstance(value, str) else value


def _text(value: str | Column) -> Column:
    return F.lit(value) if isinstance(value, str) else value


def texts(*values: str) -> Column:
    """The same array of text for every row."""
    return F.array(*map(F.lit, values)).cast("array<string>")


def observation_schema() -> Any:
    """The columns of the table, for Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    from .observations import arrow_schema

    return from_arrow_schema(arrow_schema())


assert set(NAMES) >= {name for name, _ in _TOLD}
