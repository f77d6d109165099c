"""That a partition has no leader.

Nobody logs it when it begins: a replica that is started later hears of the epoch. It began when the session
of the leader of the epoch before had timed out, or its disk had failed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..tables import Table
from ..tables import functions as F
from .brokers import TIMED_OUT
from .row import Note, Row, note


@dataclass(slots=True)
class Leaderless:
    """`since` is what it began with, and `gone` has by broker that its session timed out, or
    its disk failed."""

    since: Row | None = None
    gone: dict[int, Row] = field(default_factory=dict)

    def broker(self, row: Row) -> None:
        if row.broker is not None:
            self.gone.setdefault(row.broker, row)

    def leader(self, row: Row, led: Mapping[int, int], least_ms: int) -> Iterator[Note]:
        """A row that tells who leads; `led` has the epochs in which brokers led by their own logs."""
        if row.leader is None:
            return
        if row.leader < 0:
            before = None if row.leader_epoch is None else row.leader_epoch - 1
            left = (each for broker, each in self.gone.items() if led.get(broker) == before is not None)
            self.since = self.since or next(left, row)
            return
        since, self.since = self.since, None
        if since is not None and row.at_ms - since.at_ms >= least_ms:
            yield note("no-leader", since, row)
        if row.leader == row.broker:
            self.gone.pop(row.leader, None)

    def end(self) -> Iterator[Note]:
        if self.since is not None:
            yield note("no-leader", self.since, to_ms=None)


def with_brokers(observations: Table) -> Table:
    """That the session of a broker timed out is about each partition that it led."""
    rows = observations.where("kind != 'broker'")
    led = rows.where("kind = 'leader' and leader = broker").select(
        F.col("broker").alias("_broker"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
    )
    timed_out = (F.col("kind") == "broker") & (F.col("detail") == TIMED_OUT)
    gone = observations.where(F.coalesce(timed_out, F.lit(False)))
    each = gone.join(led.distinct(), [F.col("broker") == F.col("_broker")])
    each = each.withColumns({"topic": F.col("_topic"), "partition": F.col("_partition")})
    return rows.unionByName(each.drop("_broker", "_topic", "_partition"))
