"""Large traces, read by Spark itself: as `readers/trace.py` reads them, but a row at a time in no process.

Left out is what no search looks at: `current_epoch` of `fetched` rows, answers to JoinGroup and InitProducerId,
and the groups of refused requests that are about no partition.

One pass takes the rows apart and writes those that say all by themselves. Requests and answers that need each
other are written beside them, as kinds that begin with `~`, and paired in a second pass: most of a trace is
never shuffled. What a file's exchange is called until then stands in `text`.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ..trace.files import COLUMNS
from .findings import observation_schema
from .observations import NAMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_BYTES: Final = 32 << 20
"""Smaller files take longer this way."""
SPLIT_BYTES: Final = 256 << 20
_SQL: Final = {"int64": "bigint", "int32": "int", "int16": "int", "bool": "boolean", "string": "string"}
_CORRUPT: Final = "_corrupt"

_BATCH: Final = (
    "array<struct<base_offset: bigint, leader_epoch: int, producer_id: bigint, producer_epoch: int, "
    "base_sequence: int, records: int>>"
)
_PART: Final = (
    "struct<`partition`: int, partition_index: int, index: int, error_code: string, fetch_offset: bigint, "
    "current_leader_epoch: int, last_fetched_epoch: int, leader_epoch: int, end_offset: bigint, base_offset: bigint, "
    f"offset: bigint, `timestamp`: bigint, committed_offset: bigint, committed_leader_epoch: int, records: {_BATCH}>"
)
_TOPIC: Final = (
    "struct<name: string, topic: string, topic_id: string, group_id: string, error_code: string, "
    f"partitions: array<{_PART}>, partition_data: array<{_PART}>, partition_responses: array<{_PART}>>"
)
_BODY: Final = (
    "group_id string, transactional_id string, producer_id bigint, producer_epoch int, replica_id int, "
    "replica_state struct<replica_id: int>, generation_id_or_member_epoch int, generation_id int, error_code string, "
    f"topics array<{_TOPIC}>, topic_data array<{_TOPIC}>, responses array<{_TOPIC}>, "
    f"groups array<struct<group_id: string, error_code: string, topics: array<{_TOPIC}>>>, {_CORRUPT} string"
)
"""What is looked for in bodies, of all of `_APIS`: in none of them a name has another shape."""
_COMMITS: Final = ("OffsetCommit", "TxnOffsetCommit")
_PAIRED: Final = (*_COMMITS, "Produce", "OffsetForLeaderEpoch", "ListOffsets", "OffsetFetch")
_APIS: Final = ("Fetch", *_PAIRED)
_OUT_OF_RANGE: Final = "OFFSET_OUT_OF_RANGE"
_SOURCE: Final = "trace"


@dataclass(frozen=True, slots=True)
class Lines:
    """Where the lines of a file are: `before` counts those that begin before each split."""

    before: dict[int, int]
    count: int
    ended: bool


def lines(path: Path) -> Lines | None:
    """None for a file whose lines Spark would count in another way: it knows no blank ones."""
    before, count, start, last = {}, 0, 0, b"\n"
    with path.open("rb") as file:
        while data := file.read(1 << 24):
            if start % SPLIT_BYTES == 0:
                # A line that begins in one split and ends in the next belongs to the first.
                before[start] = count + (start > 0)
            if b"\n\n" in data or (last == b"\n" and data.startswith(b"\n")) or b"\r" in data:
                return None
            count += data.count(b"\n")
            start += len(data)
            last = data[-1:]
    ended = last == b"\n"
    return Lines(before, count + (not ended), ended)


def read(spark: "SparkSession", path: Path, folder: Path) -> bool:
    """Adds the rows of a trace to `folder`, `kind=…/` each. False where only the other reader can."""
    if path.suffix == ".parquet":
        rows = _parquet(spark, path)
    else:
        found = lines(path)
        if found is None:
            return False
        rows = _json_lines(spark, path, found)
    with _one_split_each(spark):
        _write(_taken_apart(rows, str(path)), folder)
    _write(_paired(spark, folder), folder)
    for unfinished in folder.glob("kind=~*"):
        shutil.rmtree(unfinished)
    return True


@contextmanager
def _one_split_each(spark: "SparkSession") -> Iterator[None]:
    """Splits of `SPLIT_BYTES`, and no two in one task, so that a row's place in its task is that in its split."""
    names = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    kept = {name: spark.conf.get(name) for name in names}
    for name in names:
        spark.conf.set(name, str(SPLIT_BYTES))
    try:
        yield
    finally:
        for name, value in kept.items():
            spark.conf.set(name, value or "")


def _write(rows: DataFrame, folder: Path) -> None:
    rows.select(*NAMES).write.mode("append").partitionBy("kind").parquet(str(folder))


def _json_lines(spark: "SparkSession", path: Path, found: Lines) -> DataFrame:
    schema = ", ".join(f"`{name}` {_sql(kind)}" for name, kind in COLUMNS.items()) + f", {_CORRUPT} string"
    rows = spark.read.schema(schema).option("columnNameOfCorruptRecord", _CORRUPT).option("lineSep", "\n")
    rows = rows.json(str(path)).select("*", "_metadata.file_block_start")
    before = F.create_map(*(F.lit(value) for pair in found.before.items() for value in pair))
    nth = F.monotonically_increasing_id().bitwiseAND((1 << 33) - 1)
    rows = rows.withColumn("position", before[F.col("file_block_start")] + nth + 1)
    torn = F.lit(not found.ended) & (F.col("position") == found.count)
    return rows.withColumn("reason", F.when(torn, "torn last line").otherwise("not a row of a trace"))


def _parquet(spark: "SparkSession", path: Path) -> DataFrame:
    schema = ", ".join(f"`{name}` {_sql(kind)}" for name, kind in COLUMNS.items())
    rows = spark.read.schema(schema).parquet(str(path)).select("*", "_metadata.row_index")
    return rows.withColumns(
        {"position": F.col("row_index") + 1, _CORRUPT: F.lit(None).cast("string"), "reason": F.lit("")}
    )


def _sql(kind: str) -> str:
    return f"array<{_sql(kind[5:-1])}>" if kind.startswith("list<") else _SQL[kind]


def _taken_apart(rows: DataFrame, file: str) -> DataFrame:
    """A row for each state, and for each partition of a request or an answer."""
    answered = (F.col("kind") == "request") | (F.col("outcome") == "answer")
    told = F.when(F.col("api").isin(*_APIS) & answered, F.from_json("body", _BODY))
    rows = rows.withColumn("told", told)
    of_groups = F.flatten(
        F.transform(
            "told.groups",
            lambda group: F.transform(group["topics"], lambda topic: topic.withField("group_id", group["group_id"])),
        )
    )
    has_groups = (F.col("kind") == "answer") & (F.size("told.groups") > 0)
    topics = F.when(has_groups, of_groups).otherwise(F.coalesce("told.topics", "told.topic_data", "told.responses"))
    rows = rows.withColumn("t", F.explode_outer(topics))
    parts = F.coalesce("t.partitions", "t.partition_data", "t.partition_responses")
    rows = rows.withColumn("p", F.explode_outer(parts))
    kind = _kind()
    rows = rows.withColumn("made", kind).where("made is not null")
    return rows.select(*(column.alias(name) for name, column in _columns(file).items()))


def _kind() -> Column:
    kind, api, error = F.col("kind"), F.col("api"), F.col("p.error_code")
    failed = F.size("errors") > 0
    request = (
        F.when(api == "OffsetFetch", F.when(F.coalesce(F.size("told.groups"), F.lit(0)) <= 1, "~asked"))
        .when(F.col("p").isNull(), None)
        .when(api == "Fetch", "position")
        .when(api.isin(*_PAIRED), "~asked")
    )
    good = error == "NONE"
    answer = (
        F.when(F.col("p").isNull(), F.when(failed & F.col("t").isNull(), "refused"))
        .when((api == "Fetch") & good, F.when(F.size("p.records") > 0, "fetched"))
        .when(api == "Fetch", "~refused")
        .when((api == "OffsetFetch") & F.col("t.group_id").isNotNull(), F.when(good, "restore").otherwise("refused"))
        .when(api.isin(*_PAIRED), "~answered")
    )
    return (
        F.when(F.col(_CORRUPT).isNotNull() | F.col(f"told.{_CORRUPT}").isNotNull(), "unreadable")
        .when(kind == "request", request)
        .when((kind == "answer") & (F.col("outcome") == "answer"), answer)
        .when(kind == "follower", F.when(F.col("state") == "failed", "follower-failure"))
        .when(
            kind.isin("leader", "in-sync-replicas", "high-watermark", "log-start", "truncation", "group", "transaction"),
            kind,
        )
    )


def _columns(file: str) -> dict[str, Column]:
    """By the names of the one table."""
    made, part = F.col("made"), F.col("p")
    of_part = F.col("told").isNotNull()

    def either(mine: Column, states: Column) -> Column:
        return F.when(of_part, mine).otherwise(states)

    asked = made == "~asked"
    first, last = F.try_element_at("p.records", F.lit(1)), F.try_element_at("p.records", F.lit(-1))
    name = F.coalesce(_some("t.topic"), _some("t.name"), _single_topic(), F.col("t.topic_id"))
    index = F.coalesce("p.partition_index", "p.partition", "p.index")
    batches = F.col("p.records").isNotNull()
    has_producer = asked & (first["producer_id"] >= 0)
    replica = F.greatest("told.replica_id", "told.replica_state.replica_id")
    strategy = F.when(part["timestamp"] == -1, "latest").when(part["timestamp"] == -2, "earliest")
    columns: dict[str, Column] = {
        "kind": made,
        "source": F.lit(_SOURCE),
        "file": F.lit(file),
        "position": F.col("position"),
        "time_ms": F.col("time_ms"),
        "broker": F.coalesce("broker", "coordinator"),
        "client": F.col("client_id"),
        "group": F.coalesce("t.group_id", _some("told.group_id"), F.col("group")),
        "topic": either(name, F.col("topic")),
        "partition": either(index, F.col("partition")),
        "offset": either(
            F.when(made == "fetched", first["base_offset"]).otherwise(
                F.coalesce(part["fetch_offset"], part["committed_offset"], part["base_offset"], part["offset"])
            ),
            F.coalesce("high_watermark", "log_start_offset", "to_offset"),
        ),
        "from_offset": F.col("from_offset"),
        # What a request does not have yet: how many records it brings.
        "end_offset": either(
            F.when(asked & batches, first["records"].cast("bigint"))
            .when(made == "fetched", last["base_offset"] + last["records"])
            .otherwise(part["end_offset"]),
            F.col("log_end_offset"),
        ),
        "leader_epoch": either(
            _known(
                F.when(made == "fetched", last["leader_epoch"])
                .when(made == "position", part["last_fetched_epoch"])
                .otherwise(F.coalesce(part["committed_leader_epoch"], part["leader_epoch"]))
            ),
            F.col("leader_epoch"),
        ),
        "current_epoch": _known(part["current_leader_epoch"]),
        "leader": F.col("leader"),
        "replicas": F.col("in_sync_replicas"),
        "generation": either(
            _known(F.coalesce("told.generation_id_or_member_epoch", "told.generation_id")), F.col("generation")
        ),
        "transactional_id": either(F.col("told.transactional_id"), F.col("transactional_id")),
        "producer_id": either(
            F.when(has_producer, first["producer_id"]).otherwise(_known(F.col("told.producer_id"))), F.col("producer_id")
        ),
        "producer_epoch": either(
            F.when(has_producer, first["producer_epoch"]).otherwise(_known(F.col("told.producer_epoch"))),
            F.col("producer_epoch"),
        ),
        "sequence": F.when(has_producer, _known(first["base_sequence"])).cast("bigint"),
        "api": F.when(made.isin("position", "refused") | made.startswith("~"), F.col("api")),
        "error": F.when(part["error_code"] != "NONE", part["error_code"]).otherwise(
            F.when(made == "refused", F.try_element_at("errors", F.lit(1)))
        ),
        "detail": F.when(made == "unreadable", F.coalesce(_some("reason"), F.lit("not a row of a trace")))
        .when((made == "position") & (replica >= 0), F.concat(F.lit("follower "), replica.cast("string")))
        .when(asked & (F.col("api") == "ListOffsets"), strategy)
        .when(asked & (F.col("api") == "TxnOffsetCommit"), "in a transaction")
        .when(F.col("kind").isin("group", "transaction"), F.col("state"))
        .when(made == "follower-failure", F.col("failure")),
        "text": F.when(made == "unreadable", F.substring(F.coalesce(_CORRUPT, "body"), 1, 400)).when(
            made.startswith("~"), F.concat_ws("#", "broker", "connection", "correlation_id")
        ),
    }
    kinds = {field.name: field.dataType for field in observation_schema()}
    return {name: columns[name].cast(kinds[name]) for name in NAMES}


def _some(name: str) -> Column:
    return F.when(F.col(name) != "", F.col(name))


def _single_topic() -> Column:
    """A body that has a topic's id only is about the topic that the row names, if that is one."""
    only = F.try_element_at("names", F.lit(1))
    is_one = (F.size("names") == 1) & F.col("t.topic_id").isNotNull()
    return F.when(is_one, F.regexp_replace(only, r"-\d+$", ""))


def _known(value: Column) -> Column:
    return F.when(value >= 0, value)


def _unfinished(spark: "SparkSession", folder: Path, kind: str) -> DataFrame:
    schema = observation_schema()
    path = folder / f"kind={kind}"
    if not path.exists():
        return spark.createDataFrame([], schema)
    rest = type(schema)([field for field in schema if field.name != "kind"])
    return spark.read.schema(rest).parquet(str(path)).withColumn("kind", F.lit(kind)).select(*NAMES)


def _paired(spark: "SparkSession", folder: Path) -> DataFrame:
    asked, answered = _unfinished(spark, folder, "~asked"), _unfinished(spark, folder, "~answered")
    where = ("text", "topic", "partition")
    given = (*("group", "generation", "transactional_id", "producer_id", "producer_epoch", "sequence"), "detail")
    asked = asked.where("api != 'OffsetFetch'").select(
        *where,
        *(F.col(name).alias(f"asked_{name}") for name in (*given, "offset", "end_offset", "leader_epoch", "current_epoch")),
    )
    by_hand = answered.where("api != 'OffsetFetch'").join(asked, list(where), "left")
    api, fine = F.col("api"), F.col("error").isNull()
    is_commit = api.isin(*_COMMITS)
    kind = (
        F.when(~fine, "refused")
        .when(is_commit, F.when(F.col("asked_offset").isNotNull(), "commit"))
        .when(api == "Produce", F.when(F.col("offset") >= 0, "append"))
        .when(api == "OffsetForLeaderEpoch", "epoch-answer")
        .when(api == "ListOffsets", F.when(F.col("asked_detail").isNotNull() & (F.col("offset") >= 0), "~listed"))
    )
    epoch_answered = F.concat(F.lit("epoch "), F.coalesce("leader_epoch", F.lit(-1)).cast("string"))
    base = F.col("offset")
    pairs = by_hand.withColumns(
        {
            "kind": kind,
            **{name: F.coalesce(name, f"asked_{name}") for name in given if name != "detail"},
            "offset": F.when(is_commit, F.col("asked_offset")).when(fine & (api != "OffsetForLeaderEpoch"), base),
            "end_offset": F.when(fine & (api == "Produce"), base + F.col("asked_end_offset")).when(
                fine & (api == "OffsetForLeaderEpoch"), F.col("end_offset")
            ),
            "leader_epoch": F.when(fine & (api == "ListOffsets"), F.col("leader_epoch")).otherwise(
                F.col("asked_leader_epoch")
            ),
            "current_epoch": F.col("asked_current_epoch"),
            "detail": F.when(fine & (api == "OffsetForLeaderEpoch"), epoch_answered).when(
                fine, F.col("asked_detail")
            ),
            "api": F.when(~fine, api),
            "text": F.lit(None).cast("string"),
        }
    ).where("kind is not null")
    pairs = pairs.select(*NAMES)
    old = _old_restores(spark, folder)
    refused, resets = _refused(spark, folder, pairs.where("kind = '~listed'"))
    done = pairs.where("kind != '~listed'").unionByName(old)
    return done.unionByName(refused).unionByName(resets)


def _old_restores(spark: "SparkSession", folder: Path) -> DataFrame:
    """OffsetFetch up to v7 names its group in the request only."""
    asked = _unfinished(spark, folder, "~asked").where("api = 'OffsetFetch'").select("text", F.col("group").alias("_group"))
    rows = _unfinished(spark, folder, "~answered").where("api = 'OffsetFetch'").join(asked.dropDuplicates(["text"]), "text", "left")
    refused = F.col("error").isNotNull()
    rows = rows.withColumns(
        {
            "kind": F.when(refused, "refused").otherwise("restore"),
            "group": F.coalesce("group", "_group"),
            "api": F.when(refused, F.col("api")),
            "text": F.lit(None).cast("string"),
        }
    )
    return rows.select(*NAMES)


def _refused(spark: "SparkSession", folder: Path, listed: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Fetches that failed, with the offset that the client had asked for last; and the resets that followed."""
    refused = _unfinished(spark, folder, "~refused")
    empty = spark.createDataFrame([], observation_schema())
    if refused.isEmpty():
        return empty, empty
    key = ["client", "topic", "partition"]
    where = F.broadcast(refused.select(*key).distinct())
    positions = _unfinished(spark, folder, "position").join(where, key, "left_semi").select(*NAMES)
    in_order = Window.partitionBy(*key).orderBy("position")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    asked = F.last(F.when(F.col("kind") == "position", F.struct("offset", "leader_epoch", "current_epoch")), True)
    is_lost = (F.col("kind") == "~refused") & (F.col("error") == _OUT_OF_RANGE)
    lost = F.last(F.when(is_lost, F.col("asked.offset")), True)
    since = F.last(F.when(is_lost | (F.col("kind") == "~listed"), F.col("kind")), True)
    rows = positions.unionByName(refused).unionByName(listed.join(where, key, "left_semi").select(*NAMES))
    rows = rows.withColumn("asked", asked.over(before))
    rows = rows.withColumns({"lost": lost.over(before), "since": since.over(before)})
    found = rows.where("kind = '~refused'").withColumns(
        {
            "kind": F.lit("refused"),
            "text": F.lit(None).cast("string"),
            **{name: F.col(f"asked.{name}") for name in ("offset", "leader_epoch", "current_epoch")},
        }
    )
    resets = rows.where("kind = '~listed' and since = '~refused'")
    resets = resets.withColumns({"kind": F.lit("reset"), "from_offset": F.col("lost")})
    return found.select(*NAMES), resets.select(*NAMES)
