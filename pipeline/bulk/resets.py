"""Failed Fetches of large traces and what their clients did next: sorted by Spark, because they are far
apart."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ..findings import before, observation_schema
from ..observations import NAMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OUT_OF_RANGE: Final = "OFFSET_OUT_OF_RANGE"


def add_resets(spark: "SparkSession", folder: Path) -> None:
    """Adds to `folder` what its `~refused` and `~listed` rows say: refused Fetches, with the offset for which
    the client had asked last, and the resets that followed.
    """
    if not (folder / "kind=~refused").exists():
        return
    refused = _unfinished(spark, folder, "~refused")
    key = ["client", "topic", "partition"]
    where = F.broadcast(refused.select(*key).distinct())
    positions, listed = (
        _unfinished(spark, folder, kind).join(where, key, "left_semi").select(*NAMES)
        for kind in ("position", "~listed")
    )
    earlier = before(Window.partitionBy(*key).orderBy("position"))
    asked = F.last(
        F.when(F.col("kind") == "position", F.struct("offset", "leader_epoch", "current_epoch")), True
    )
    is_lost = (F.col("kind") == "~refused") & (F.col("error") == _OUT_OF_RANGE)
    lost = F.last(F.when(is_lost, F.col("asked.offset")), True)
    since = F.last(F.when(is_lost | (F.col("kind") == "~listed"), F.col("kind")), True)
    rows = positions.unionByName(refused).unionByName(listed)
    rows = rows.withColumn("asked", asked.over(earlier))
    rows = rows.withColumns({"lost": lost.over(earlier), "since": since.over(earlier)})
    found = rows.where("kind = '~refused'").withColumns(
        {
            "kind": F.lit("refused"),
            "text": F.lit(None).cast("string"),
            **{name: F.col(f"asked.{name}") for name in ("offset", "leader_epoch", "current_epoch")},
        }
    )
    resets = rows.where("kind = '~listed' and since = '~refused'")
    resets = resets.withColumns({"kind": F.lit("reset"), "from_offset": F.col("lost")})
    both = found.select(*NAMES).unionByName(resets.select(*NAMES))
    both.write.mode("append").partitionBy("kind").parquet(str(folder))


def _unfinished(spark: "SparkSession", folder: Path, kind: str) -> DataFrame:
    schema = observation_schema()
    path = folder / f"kind={kind}"
    if not path.exists():
        return spark.createDataFrame([], schema)
    rest = type(schema)([field for field in schema if field.name != "kind"])
    return spark.read.schema(rest).parquet(str(path)).withColumn("kind", F.lit(kind)).select(*NAMES)
