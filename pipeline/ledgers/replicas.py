"""Which replicas of a partition are not in sync, since when, and whether their brokers were away then.

How many a partition has is known by those that were in sync, until a reassignment or a deletion takes one
away. With KRaft nobody logs it when a broker that is away is taken out of the ISR: it begins when the broker
leaves. Once that is back, or somebody else may lead, only a leader's word tells that it goes on: the log that
says otherwise may not be among the files.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..rows import PARTITION, ends_of_files, in_order, of_kinds, up_to
from ..tables import Table, Window
from ..tables import functions as F
from .brokers import TIMED_OUT
from .ledger import Ledger
from .row import Note, Row, note

LEFT: Final = ("in controlled shutdown", TIMED_OUT, "state SHUTTING_DOWN", "shutting down")
SLOW: Final = "shrank"
"""How the detail of a row begins by which a leader put a replica out of the ISR."""
BACK: Final = ("unfenced", "state STARTED", "started")
_NUMBER: Final = re.compile(r"\d{1,9}")
STILL: Final = "still"
"""The detail of what has not ended when the logs do."""
_TALKATIVE: Final = ("complaint", "group", "high-watermark", "load", "log-start")
"""Other rows by which it is known how far a log goes."""
_COMPLETED: Final = "completed"
_TOLD: Final = (*PARTITION, "broker", "turn", "time_ms")


@dataclass(slots=True)
class Replicas:
    """`known` were in sync at some time, `out` are not now, each with the row that tells so first; of `slow`
    nothing tells that their broker was away. `until` has the row after which that is not sure any more.
    `leader` is that of `epoch`: others may be cut off."""

    known: set[int] = field(default_factory=set)
    out: dict[int, Row] = field(default_factory=dict)
    slow: set[int] = field(default_factory=set)
    until: dict[int, Row] = field(default_factory=dict)
    leader: int | None = None
    epoch: int = -1

    def lose(self, brokers: Iterable[int]) -> None:
        """They are no replicas any more; without any the topic is gone, and another one begins anew."""
        for each in set(brokers):
            self.known.discard(each)
            self.out.pop(each, None)
            self.until.pop(each, None)
        if not self.known:
            self.leader, self.epoch = None, -1

    def doubt(self, brokers: Iterable[int], row: Row) -> None:
        """From that row on it is not sure of these that they are out."""
        for each in self.out.keys() & brokers:
            self.until.setdefault(each, row)


def step(state: Replicas, row: Row) -> Iterable[Note]:
    return _STEPS[row.kind](state, row)


def end(state: Replicas) -> Iterator[Note]:
    for broker in state.out:
        yield _noted(state, broker, state.until.get(broker))


def _in_sync(state: Replicas, row: Row) -> Iterator[Note]:
    leader = row.broker if row.leader is None else row.leader
    if row.leader_epoch is not None:
        if row.leader_epoch < state.epoch:
            return
        state.leader, state.epoch = leader, row.leader_epoch
    elif None not in (leader, state.leader) and leader != state.leader:
        return
    now = _brokers(row)
    state.known |= now
    if row.detail is not None and " from " in row.detail:
        state.known |= {int(each) for each in _NUMBER.findall(row.detail)}
    state.until.clear()
    for broker in sorted(state.known - now - state.out.keys()):
        state.out[broker] = row
        (state.slow.add if (row.detail or "").startswith(SLOW) else state.slow.discard)(broker)
    for broker in sorted(now & state.out.keys()):
        yield _noted(state, broker, row)
        del state.out[broker]


def _leader(state: Replicas, row: Row) -> Iterable[Note]:
    if row.leader_epoch is not None and row.leader_epoch > state.epoch:
        state.doubt(state.known, row)
    return ()


def _broker(state: Replicas, row: Row) -> Iterator[Note]:
    broker = row.broker
    if broker is None or broker not in state.known or len(state.known) == 1:
        return
    if row.detail in BACK:
        state.doubt([broker], row)
        return
    if broker in state.until:
        yield _noted(state, broker, state.until.pop(broker))
        del state.out[broker]
    state.out.setdefault(broker, row)
    state.slow.discard(broker)
    if broker == state.leader:
        state.doubt(state.known - {broker}, row)


def _moved(state: Replicas, row: Row) -> Iterable[Note]:
    if row.detail == _COMPLETED and row.replicas:
        state.lose(state.known - _brokers(row))
    return ()


def _log(state: Replicas, row: Row) -> Iterable[Note]:
    if row.detail == "deleted":
        state.lose(state.known if row.broker is None else [row.broker])
    return ()


def _brokers(row: Row) -> set[int]:
    return {int(each) for each in (row.replicas or "").split(",") if each}


def _noted(state: Replicas, broker: int, back: Row | None) -> Note:
    """What has not ended goes on until the logs end that would say so: `offset`, or its own time."""
    since = state.out[broker]
    about = dict.fromkeys(("group", "client"))
    still = {"to_ms": since.offset or since.time_ms, "detail": STILL} if back is None else {}
    where = {"topic": since.topic, "partition": since.partition, "broker": broker}
    return note("out-of-sync", since, back, **about, **where, **still, number=int(broker in state.slow))


def others_end(observations: Table) -> Table:
    """Until when (`end_ms`) the logs of the other brokers go, by `of`: the clock of one may be wrong."""
    own = own_ends(observations)
    brokers = observations.where("kind = 'broker' and broker is not null").select(F.col("broker").alias("of"))
    each = brokers.distinct().join(own, [F.col("of") != F.col("_broker")])
    return each.groupBy("of").agg(F.max("end_ms").alias("end_ms"))


def own_ends(observations: Table) -> Table:
    """Until when (`end_ms`) the log of each broker goes, by `_broker`."""
    own = observations.where("kind != 'broker' and source = 'broker-log' and broker is not null")
    ends = ends_of_files(own, "broker")
    return ends.groupBy(F.col("broker").alias("_broker")).agg(F.max("end_ms").alias("end_ms"))


def _with_brokers(observations: Table) -> Table:
    """Each partition gets a row of its own when a broker leaves or comes back that was in its ISR, if the
    partition was told of since that broker left the time before: of one that is still there a leader tells
    when the broker is back. The `offset` of each row is when the logs end that would say more."""
    names = F.array_join(F.col("replicas").cast("array<string>"), ",")
    rows = of_kinds(observations, *_STEPS).where("kind != 'broker' and source = 'broker-log'")
    rows = rows.where("topic is not null and partition is not null and time_ms is not null")
    rows = rows.join(own_ends(observations), [F.col("broker") == F.col("_broker")], "left")
    rows = rows.withColumn("offset", F.col("end_ms")).drop("_broker", "end_ms")
    lives = of_kinds(observations, "broker").where(F.col("detail").isin(*LEFT, *BACK))
    lives = _with_turns(lives.where("time_ms is not null and source = 'broker-log'"))
    lives = lives.join(others_end(observations), [F.col("broker") == F.col("of")], "left")
    lives = lives.withColumn("offset", F.col("end_ms")).drop("of", "end_ms")
    told = _told(rows, lives).select(*(F.col(name).alias(f"told_{name}") for name in _TOLD))
    in_turn = F.col("broker") == F.col("told_broker"), F.col("turn") == F.col("told_turn")
    each = lives.join(told, list(in_turn)).where("time_ms >= told_time_ms")
    each = each.withColumns({name: F.col(f"told_{name}") for name in PARTITION})
    return rows.unionByName(each.select(*rows.columns)).withColumn("replicas", names)


def _with_turns(lives: Table) -> Table:
    """How often the broker had left (`turn`)."""
    window = in_order("broker")
    lives = lives.withColumn("left", F.col("detail").isin(*LEFT))
    was = F.coalesce(F.lag("left").over(window), F.lit(False))
    lives = lives.withColumn("leaves", F.when(F.col("left") & ~was, 1))
    return lives.withColumn("turn", F.count("leaves").over(up_to(window)))


def _told(rows: Table, lives: Table) -> Table:
    """For each partition the turns of brokers in which it is told of, and those after them; `time_ms` is when
    it is told of first."""
    had = rows.where("kind = 'in-sync-replicas'").select(*PARTITION, F.explode("replicas").alias("broker"))
    told = had.distinct().join(rows.select(*PARTITION, "time_ms"), list(PARTITION))
    begin = lives.groupBy("broker", "turn").agg(F.min("time_ms").alias("time_ms"))
    # Where turns begin comes first: it has no topic.
    window = Window.partitionBy("broker").orderBy("time_ms", "topic")
    both = told.unionByName(begin, allowMissingColumns=True)
    both = both.withColumn("turn", F.coalesce(F.last("turn", True).over(up_to(window)), F.lit(0)))
    turns = F.explode(F.array("turn", F.col("turn") + 1))
    told = both.where("topic is not null").select(*PARTITION, "broker", "time_ms", turns.alias("turn"))
    return told.groupBy(*PARTITION, "broker", "turn").agg(F.min("time_ms").alias("time_ms"))


_STEPS: Final = {
    "in-sync-replicas": _in_sync,
    "leader": _leader,
    "broker": _broker,
    "reassignment": _moved,
    "log": _log,
}
LEDGER: Final = Ledger(
    "replicas",
    (*_STEPS, *_TALKATIVE),
    F.col("time_ms").isNotNull() & (F.col("source") == "broker-log"),
    F.concat_ws("\n", "topic", "partition"),
    ("broker", "topic", "partition", "offset", "leader_epoch", "leader", "detail", "replicas"),
    Replicas,
    step,
    end,
    named=_with_brokers,
    needs=("in-sync-replicas",),
)
