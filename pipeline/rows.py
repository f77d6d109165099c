"""Words for searches of the common table: which rows, in which order, and what they say to people."""

from collections.abc import Callable, Iterable
from typing import Final

from .observations import NAMES
from .tables import Column, Table, Window, WindowSpec
from .tables import functions as F

PARTITION: Final = ("topic", "partition")
NO_PARTITION: Final = -1
INTERNAL: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata")
"""Topics that brokers write to."""
_UNNAMED: Final = "\1"
_SHOWN: Final = (
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
_WHERE: Final = ("kind", "source", "file", "position", "time_ms", *PARTITION)
SEEN: Final = (*_WHERE, "replicas", "error", "detail", "text", *(name for name, _ in _SHOWN), *_WHO)
"""The columns from which evidence is made."""


def row() -> Column:
    """What `seen` needs of a row, to be carried along where the text would be too much."""
    return F.struct(*SEEN)


def seen(within: str = "") -> Column:
    """A row, or the one in a column that `row` made, as evidence. Null if there is none.

    Its text is the original text of the file or, if that was not kept, made from the columns.
    """
    of = _named(within)
    named = (*_SHOWN, *zip(_WHO, _WHO, strict=True))
    numbers = [F.concat(_called(name, shown, of), of(name)) for name, shown in named]
    replicas = F.array_join(of("replicas").cast("array<string>"), ", ")
    numbers.insert(len(_SHOWN), F.concat(F.lit("["), replicas, F.lit("]")))
    about = F.concat_ws(" ", of("kind"), F.when(of("topic").isNotNull(), place(within)))
    made = F.concat_ws(": ", about, F.concat_ws(", ", of("error"), of("detail"), *numbers))
    # The original text of a trace's row is JSON.
    text = F.when(of("source") == "trace", made).otherwise(F.coalesce(of("text"), made))
    evidence = F.struct(of("file"), of("position"), of("time_ms"), text.alias("text"))
    return F.when(F.col(within).isNotNull(), evidence) if within else evidence


def _called(name: str, shown: str, of: Callable[[str], Column]) -> Column:
    if name != "from_offset":
        return F.lit(f"{shown} ")
    return F.when(of("kind") == "high-watermark", F.lit("last stable offset ")).otherwise(F.lit(f"{shown} "))


def _named(within: str) -> Callable[[str], Column]:
    return lambda name: F.col(f"{within}.{name}" if within else name)


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


def first_of(rows: Table, window: WindowSpec) -> Table:
    """The first row of each of what the window's rows have in common."""
    return rows.withColumn("_nth", F.row_number().over(window)).where("_nth = 1").drop("_nth")


def ends_of_files(rows: Table, *names: str) -> Table:
    """By these columns and `file`, when it ends (`end_ms`): the time of its last row, because a clock may
    have been ahead before."""
    return rows.groupBy(*names, "file").agg(F.max_by("time_ms", "position").alias("end_ms"))


def of_kinds(observations: Table, *kinds: str) -> Table:
    return observations.where(F.col("kind").isin(*kinds))


def set_of_group() -> Column:
    """Whether a row says what is set of a group; the settings of a producer may have the group of a log."""
    of_broker = (F.col("kind") == "config") & (F.col("source") == "broker-log")
    return of_broker & F.col("group").isNotNull()


def set_dead() -> Column:
    """Whether a coordinator says that somebody deleted a group: one that expires is dead, too."""
    dead = (F.col("source") == "broker-log") & (F.col("kind") == "group") & (F.col("detail") == "Dead")
    return F.coalesce(dead & F.col("text").like("%The following groups were deleted%"), F.lit(False))


def log() -> Column:
    """The log that a row is in: a folder of segments, or one file of a tool."""
    folder = F.regexp_extract("file", "^(.*)/[^/]*$", 1)
    return F.when(F.col("source") == "segment", folder).otherwise(F.col("file"))


def prefixed(rows: Table, prefix: str, *names: str, **more: Column) -> Table:
    """Some columns under other names, so that rows can be joined with rows of the same kind."""
    return rows.select(
        *(F.col(name).alias(prefix + name) for name in names),
        *(column.alias(name) for name, column in more.items()),
    )


def same(prefix: str, names: Iterable[str]) -> list[Column]:
    """The conditions that columns are equal to those which `prefixed` has renamed."""
    return [F.col(name) == F.col(prefix + name) for name in names]


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
            parts.append(F.coalesce(F.column(values.get(name, name)).cast("string"), F.lit("?")))
    return F.concat(*parts)


def only_if(condition: Column, text: str, **values: str | Column) -> Column:
    """The part of a sentence that is there only if the condition is true."""
    return F.when(condition, sentence(text, **values)).otherwise("")


def case(*cases: tuple[Column, str | Column], otherwise: str | Column) -> Column:
    """The value of the first condition that is true."""
    chosen = F.Case(tuple((condition, F.lit(value)) for condition, value in cases))
    return chosen.otherwise(otherwise)


def place(within: str = "") -> Column:
    """`topic-partition`, as Kafka writes it; of a row, or of the one in a column that `row` made."""
    topic, partition = map(_named(within), PARTITION)
    number = F.coalesce(partition.cast("string"), F.lit("?"))
    named = F.concat(F.coalesce(topic, F.lit("?")), F.lit("-"), number)
    known = F.when(partition == NO_PARTITION, topic).otherwise(named)
    return F.when(topic.startswith(_UNNAMED), "the partition").otherwise(known)


def who() -> Column:
    """The group, or else the client."""
    group = F.concat(F.lit("group "), F.col("group"))
    return F.coalesce(group, F.concat(F.lit("client "), F.col("client")), F.lit("a consumer"))


def comparable(observations: Table) -> Table:
    """`observations`, in which missing values are filled in if there is only one candidate: a timeline's
    partition."""
    unnamed = (F.col("source") == "timeline") & F.col("topic").isNull()
    topic = F.when(unnamed, F.concat(F.lit(_UNNAMED), "file")).otherwise(F.col("topic"))
    partition = F.when(topic.isNotNull(), F.coalesce("partition", F.lit(NO_PARTITION)))
    return observations.withColumns({"topic": topic, "partition": partition})


def named_topic(topic: Column) -> Column:
    """A topic, null where `comparable` had to make up its name."""
    return F.when(~topic.startswith(_UNNAMED), topic)


assert set(NAMES) >= {name for name, _ in _SHOWN}
