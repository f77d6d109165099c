"""What searches find: one row, one time that a signature was seen, with the rows that show it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from .observations import NAMES

SCHEMA: Final = (
    "signature string, confidence string, why string, summary string, behaviours array<string>, "
    "ids array<string>, "
    "`group` string, topic string, `partition` int, producer_id bigint, broker int, from_ms "
    "bigint, to_ms bigint, "
    "evidence array<struct<file: string, position: bigint, time_ms: bigint, text: string>>"
)
"""`behaviours` are names that `mockbroker policies` lists, `ids` those of Kafka's issues and KIPs,
`confidence` is `certain`, `likely` or `possible`, and `why` says why. Times are Unix milliseconds of the
first and last row."""

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
"""Columns that evidence is made of."""


def row() -> Column:
    """What `seen` needs of a row: to be carried along where words would be too much."""
    return F.struct(*SEEN)


def seen(within: str = "") -> Column:
    """A row, or the one in a column that `row` made, as evidence. Null where there is none.

    Its text is what stood in the file, or where that was not kept what its columns say.
    """

    def of(name: str) -> Column:
        return F.col(f"{within}.{name}" if within else name)

    def named(name: str, told: str) -> Column:
        return F.when(of(name).isNotNull(), F.concat(F.lit(f"{told} "), of(name).cast("string")))

    replicas = F.array_join(of("replicas").cast("array<string>"), ", ")
    told = F.concat_ws(
        ": ",
        F.concat_ws(" ", of("kind"), F.when(of("topic").isNotNull(), place(within))),
        F.concat_ws(
            ", ",
            of("error"),
            of("detail"),
            *(named(name, words) for name, words in _TOLD),
            F.when(of("replicas").isNotNull(), F.concat(F.lit("["), replicas, F.lit("]"))),
            *(named(name, name) for name in _WHO),
        ),
    )
    # A row of a trace is JSON.
    text = F.when(of("source") == "trace", told).otherwise(F.coalesce(of("text"), told))
    evidence = F.struct(
        *(of(name).alias(name) for name in ("file", "position", "time_ms")), text.alias("text")
    )
    return F.when(F.col(within).isNotNull(), evidence) if within else evidence


def in_order(*by: str | Column) -> WindowSpec:
    """The rows of each of `by`, in the order of time; at the same time, in that of their file."""
    return Window.partitionBy(*by).orderBy(F.col("time_ms").asc_nulls_first(), "file", "position")


def before(window: WindowSpec) -> WindowSpec:
    """All rows before the current one."""
    return window.rowsBetween(Window.unboundedPreceding, -1)


def up_to(window: WindowSpec) -> WindowSpec:
    """All rows before the current one, and itself."""
    return window.rowsBetween(Window.unboundedPreceding, Window.currentRow)


def of_kinds(observations: DataFrame, *kinds: str) -> DataFrame:
    return observations.where(F.col("kind").isin(*kinds))


def sentence(text: str, **values: str | Column) -> Column:
    """`text` with the columns in place of their `{names}`. What is not known reads `?`."""
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


def place(within: str = "") -> Column:
    """`topic-partition`, as Kafka writes it."""
    topic, partition = (F.col(f"{within}.{name}" if within else name) for name in ("topic", "partition"))
    named = sentence("{topic}-{partition}", topic=topic, partition=partition)
    named = F.when(partition == NO_PARTITION, topic).otherwise(named)
    return F.when(topic.startswith(_UNNAMED), "the partition").otherwise(named)


def comparable(observations: DataFrame) -> DataFrame:
    """`observations` with values for what is not told where there is only one: the partition of a timeline.
    `observations` with values for what is not told where there is only one: the partition of a timeline."""
    unnamed = (F.col("source") == "timeline") & F.col("topic").isNull()
    topic = F.when(unnamed, F.concat(F.lit(_UNNAMED), "file")).otherwise(F.col("topic"))
    partition = F.when(topic.isNotNull(), F.coalesce("partition", F.lit(NO_PARTITION)))
    return observations.withColumns({"topic": topic, "partition": partition})


def who() -> Column:
    """The group, else the client."""
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
    """`rows` in the common schema. `evidence` are structs of `seen`; those that are null are left out."""
    shown = evidence if isinstance(evidence, Column) else F.array(*evidence)
    shown = F.array_sort(F.array_distinct(F.filter(shown, lambda each: each.isNotNull())), _by_time)
    given = dict(columns or {})
    where = {
        name: given.get(name, F.col(name) if name in rows.columns else F.lit(None))
        for name in ("group", "topic", "partition", "producer_id", "broker")
    }
    where["topic"] = F.when(~where["topic"].startswith(_UNNAMED), where["topic"])
    where["partition"] = F.nullif(where["partition"], F.lit(NO_PARTITION))
    times = F.transform("evidence", lambda each: each["time_ms"])
    found = rows.select(
        _text(signature).alias("signature"),
        _text(confidence).alias("confidence"),
        _text(why).alias("why"),
        summary.alias("summary"),
        _texts(behaviours).alias("behaviours"),
        _texts(ids).alias("ids"),
        *(column.alias(name) for name, column in where.items()),
        shown.alias("evidence"),
    )
    found = found.withColumns({"from_ms": F.array_min(times), "to_ms": F.array_max(times)})
    wanted = [each.strip().split(" ")[0].strip("`") for each in SCHEMA.split("evidence")[0].split(", ")]
    kinds = {
        "partition": "int",
        "broker": "int",
        "producer_id": "bigint",
        "group": "string",
        "topic": "string",
    }
    return found.select(
        *(F.col(f"`{name}`").cast(kinds[name]) if name in kinds else F.col(name) for name in wanted if name),
        "evidence",
    )


def _by_time(one: Column, other: Column) -> Column:
    a = [F.coalesce(one["time_ms"], F.lit(0)), one["position"]]
    b = [F.coalesce(other["time_ms"], F.lit(0)), other["position"]]
    return F.when(a[0] != b[0], F.signum(a[0] - b[0])).otherwise(F.signum(a[1] - b[1])).cast("int")


def _column(value: str | Column) -> Column:
    return F.col(value) if isinstance(value, str) else value


def _text(value: str | Column) -> Column:
    return F.lit(value) if isinstance(value, str) else value


def _texts(value: Sequence[str] | Column) -> Column:
    if isinstance(value, Column):
        return value
    return F.array(*map(F.lit, value)).cast("array<string>")


def observation_schema() -> Any:
    """The columns of the one table, as Spark has them."""
    from pyspark.sql.pandas.types import from_arrow_schema

    from .observations import arrow_schema

    return from_arrow_schema(arrow_schema())


assert set(NAMES) >= {name for name, _ in _TOLD}
