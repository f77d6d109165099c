"""Requests and answers that need each other, of large traces: joined by Spark, once they were taken apart."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ..findings import observation_schema
from ..observations import NAMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMMITS: Final = ("OffsetCommit", "TxnOffsetCommit")
_OUT_OF_RANGE: Final = "OFFSET_OUT_OF_RANGE"


def pair(spark: "SparkSession", folder: Path) -> None:
    """Adds to `folder` what its `~asked`, `~answered` and `~refused` tell together."""
    rows = _paired(spark, folder).select(*NAMES)
    rows.write.mode("append").partitionBy("kind").parquet(str(folder))


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
    given = (
        *("group", "generation", "transactional_id", "producer_id", "producer_epoch", "sequence"),
        "detail",
    )
    asked = asked.where("api != 'OffsetFetch'").select(
        *where,
        *(
            F.col(name).alias(f"asked_{name}")
            for name in (*given, "offset", "end_offset", "leader_epoch", "current_epoch")
        ),
    )
    by_hand = answered.where("api != 'OffsetFetch'").join(asked, list(where), "left")
    api, fine = F.col("api"), F.col("error").isNull()
    is_commit = api.isin(*_COMMITS)
    kind = (
        F.when(~fine, "refused")
        .when(is_commit, F.when(F.col("asked_offset").isNotNull(), "commit"))
        .when(api == "Produce", F.when(F.col("offset") >= 0, "append"))
        .when(api == "OffsetForLeaderEpoch", "epoch-answer")
        .when(
            api == "ListOffsets",
            F.when(F.col("asked_detail").isNotNull() & (F.col("offset") >= 0), "~listed"),
        )
    )
    epoch_answered = F.concat(F.lit("epoch "), F.coalesce("leader_epoch", F.lit(-1)).cast("string"))
    base = F.col("offset")
    pairs = by_hand.withColumns(
        {
            "kind": kind,
            **{name: F.coalesce(name, f"asked_{name}") for name in given if name != "detail"},
            "offset": F.when(is_commit, F.col("asked_offset")).when(
                fine & (api != "OffsetForLeaderEpoch"), base
            ),
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
    asked = (
        _unfinished(spark, folder, "~asked")
        .where("api = 'OffsetFetch'")
        .select("text", F.col("group").alias("_group"))
    )
    rows = (
        _unfinished(spark, folder, "~answered")
        .where("api = 'OffsetFetch'")
        .join(asked.dropDuplicates(["text"]), "text", "left")
    )
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
    """Fetches that failed, with the offset that the client had asked for last; and the resets that followed.
    Fetches that failed, with the offset that the client had asked for last; and the resets that followed."""
    refused = _unfinished(spark, folder, "~refused")
    empty = spark.createDataFrame([], observation_schema())
    if refused.isEmpty():
        return empty, empty
    key = ["client", "topic", "partition"]
    where = F.broadcast(refused.select(*key).distinct())
    positions = _unfinished(spark, folder, "position").join(where, key, "left_semi").select(*NAMES)
    in_order = Window.partitionBy(*key).orderBy("position")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    asked = F.last(
        F.when(F.col("kind") == "position", F.struct("offset", "leader_epoch", "current_epoch")), True
    )
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
