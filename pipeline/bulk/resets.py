"""Failed Fetches of large traces and what their clients did next: far apart, so that they have to be
sorted."""

from pathlib import Path
from typing import Final

from ..engine import Engine, parquet_of
from ..observations import NAMES
from ..rows import before
from ..tables import Table, Window
from ..tables import functions as F

_OUT_OF_RANGE: Final = "OFFSET_OUT_OF_RANGE"


def add_resets(engine: Engine, folder: Path, name: str) -> None:
    """Adds to `folder` what its `~refused` and `~listed` rows say: refused Fetches, with the offset for which
    the client had asked last, and the resets that followed. `name` is that of the files.
    """
    if not (folder / "kind=~refused").exists():
        return
    refused = _rows(engine, folder, "~refused")
    key = ["client", "topic", "partition"]
    where = F.broadcast(refused.select(*key).distinct())
    positions, listed = (
        _rows(engine, folder, kind).join(where, key, "left_semi").select(*NAMES)
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
    engine.write(found.select(*NAMES).unionByName(resets.select(*NAMES)), folder, name)


def _rows(engine: Engine, folder: Path, kind: str) -> Table:
    return engine.files(parquet_of(folder, [kind]), kind)
