"""How far apart the clocks of several files are, by events that stand in both, and times by one of them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Final, NamedTuple

from .readers.files import LogSpan
from .rows import ends_of_files, of_kinds
from .tables import Column, Table
from .tables import functions as F

RECORDS: Final = "the records of brokers' topics"
"""Whose times are those of coordinators, and told in UTC."""
_BROKER: Final = "broker "
_TELLS: Final = ("group", "member", "transaction", "leader", "broker")
_SOURCES: Final = ("broker-log", "client-log", "librdkafka-log", "segment", "dump-log")
_OF_RECORDS: Final = ("segment", "dump-log")
_MOST: Final = 200_000
"""The events that are compared."""
_TOGETHER_MS: Final = 10_000
"""What one event is told of by different files lies at most so far apart, by one clock."""
_REPEATED_MS: Final = 60_000
"""A name that is used again so much later is another event's."""
_LEAST: Final = 2
"""The events by which clocks are compared."""
_NOTICED_MS: Final = 2_000
"""Clocks that are closer are taken for one."""
_FARTHEST_MS: Final = 14 * 3_600_000
"""No time zones are further apart."""
_ZONE_MS: Final = 900_000
"""By whole quarters of an hour they differ."""


class Told(NamedTuple):
    """When a file first and last tells of an event."""

    event: str
    file: str
    first_ms: int
    last_ms: int


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of `files`, which is `ahead_ms` ahead of that of `other`, give or take `within_ms`: so say
    as many `events` that both tell of."""

    name: str
    files: Sequence[str]
    ahead_ms: int
    within_ms: int
    events: int
    other: str

    @property
    def is_zone(self) -> bool:
        """Whether it seems to be told in another time zone."""
        apart = abs(self.ahead_ms)
        rest = (apart + _ZONE_MS // 2) % _ZONE_MS - _ZONE_MS // 2
        return apart >= _ZONE_MS and abs(rest) <= max(self.within_ms, _NOTICED_MS)

    @property
    def told(self) -> str:
        far = f"{_lasting(abs(self.ahead_ms))} {'ahead of' if self.ahead_ms > 0 else 'behind'}"
        zone = ", perhaps another time zone" if self.is_zone else ""
        return (
            f"the clock of {self.name} is {far} that of {self.other} (± {self.within_ms / 1000:.2f} s, by "
            f"{self.events} events that both tell of){zone}: its times are given by the other's clock"
        )

    def as_json(self) -> dict[str, Any]:
        names = ("name", "ahead_ms", "within_ms", "events", "other")
        return {name: getattr(self, name) for name in names} | {"files": list(self.files)}


def _lasting(ms: int) -> str:
    minutes, seconds = divmod(round(ms / 1000, 1), 60)
    hours, minutes = divmod(int(minutes), 60)
    told = [f"{hours} h"] * (hours > 0) + [f"{minutes} min"] * (minutes > 0)
    return " ".join([*told, f"{seconds:.1f} s"])


def compared(observations: Table) -> list[Clock]:
    """The clocks that are not like the others."""
    rows = of_kinds(observations, *_TELLS).where("time_ms is not null").where(F.col("source").isin(*_SOURCES))
    whose = _whose(rows)
    if len(set(whose.values())) < _LEAST:
        return []
    each = rows.withColumn("event", _event()).where("event is not null").groupBy("event", "file")
    told = each.agg(F.min("time_ms").alias("first_ms"), F.max("time_ms").alias("last_ms"))
    shared = told.groupBy("event").agg(F.count("*").alias("files")).where("files > 1").select("event")
    both = told.join(shared, "event", "left_semi").select(*Told._fields).limit(_MOST).collect()
    return estimated([Told(**row) for row in both], whose)


def _event() -> Column:
    """What all that tell of an event call it; null for everything else."""
    kind, detail = F.col("kind"), F.col("detail")
    member, did = (F.regexp_extract("detail", r"^([^? ]\S*) (joined|left)", group) for group in (1, 2))
    given = F.regexp_extract("detail", r"re-join with the given member-id: (\S+)", 1)
    epoch = F.regexp_extract("detail", r"^registered, epoch (\d+)", 1)
    settled = (F.col("generation") > 0) & ~F.coalesce(detail.startswith("PreparingRebalance"), F.lit(False))
    begun = (detail == "initialized") & (F.col("producer_id") >= 0)
    return F.coalesce(
        F.when((kind == "group") & (given != ""), F.concat_ws(" ", given, F.lit("joined"))),
        F.when((kind == "group") & settled, _named("generation", "group", "generation")),
        F.when((kind == "member") & (member != ""), F.concat_ws(" ", member, did)),
        F.when((kind == "transaction") & begun, _named("producer", "producer_id", "producer_epoch")),
        F.when(
            (kind == "leader") & (F.col("leader_epoch") >= 0) & F.col("topic").isNotNull(),
            _named("epoch", "topic", "partition", "leader_epoch"),
        ),
        F.when((kind == "broker") & (epoch != ""), F.concat_ws(" ", _named("broker", "broker"), epoch)),
    )


def _named(what: str, *names: str) -> Column:
    return F.concat_ws(" ", F.lit(what), *(F.col(name).cast("string") for name in names))


def _whose(rows: Table) -> dict[str, str]:
    """The name of each file's clock: files of one broker have one, and so have records of coordinators."""
    # What a controller says of brokers is not in their logs.
    own = F.when((F.col("source") == "broker-log") & (F.col("kind") != "broker"), F.col("broker"))
    counts: dict[str, Counter[str]] = {}
    for row in (
        rows.withColumn("own", own).groupBy("file", "source", "own").agg(F.count("*").alias("n")).collect()
    ):
        named = RECORDS if row["source"] in _OF_RECORDS else row["file"]
        if row["own"] is not None:
            named = f"{_BROKER}{row['own']}"
        counts.setdefault(row["file"], Counter())[named] += row["n"]
    return {file: max(count, key=lambda each: (each != file, count[each])) for file, count in counts.items()}


def estimated(told: Iterable[Told], whose: Mapping[str, str]) -> list[Clock]:
    """The clocks that are not like that with which they are compared: the records', or a broker's, or that of
    which most events are known; `whose` names the clock of each file."""
    events: dict[str, dict[str, tuple[int, int]]] = {}
    for each in told:
        times = events.setdefault(each.event, {})
        first, last = times.get(whose[each.file], (each.first_ms, each.last_ms))
        times[whose[each.file]] = min(first, each.first_ms), max(last, each.last_ms)
    apart: dict[tuple[str, str], list[int]] = {}
    known: Counter[str] = Counter()
    for times in events.values():
        once = {name: first for name, (first, last) in times.items() if last - first <= _REPEATED_MS}
        known.update(once.keys() if len(once) > 1 else ())
        for one, other in permutations(once, 2):
            apart.setdefault((one, other), []).append(once[one] - once[other])
    if not known:
        return []
    right = max(known, key=lambda name: (name == RECORDS, name.startswith(_BROKER), known[name], name))
    files: dict[str, list[str]] = {}
    for file, name in sorted(whose.items()):
        files.setdefault(name, []).append(file)
    return [
        Clock(name, files[name], ahead_ms, within_ms, count, right)
        for name, (ahead_ms, within_ms, count) in sorted(_walked(right, apart).items())
        if max(_NOTICED_MS, 3 * within_ms) <= abs(ahead_ms) <= _FARTHEST_MS
    ]


def _walked(first: str, apart: Mapping[tuple[str, str], Sequence[int]]) -> dict[str, tuple[int, int, int]]:
    """How far each clock is ahead of the first, within what, and by how many events: always the clock next of
    which most is known."""
    agreed = {pair: found for pair, values in apart.items() if (found := _agreed(values)) is not None}
    walked = {first: (0, 0, 0)}
    while True:
        next_to = {
            pair: found for pair, found in agreed.items() if pair[1] in walked and pair[0] not in walked
        }
        if not next_to:
            del walked[first]
            return walked
        one, other = max(next_to, key=lambda pair: (next_to[pair][2], pair))
        ahead_ms, within_ms, count = next_to[one, other]
        before_ms, before_within_ms, _ = walked[other]
        walked[one] = before_ms + ahead_ms, before_within_ms + within_ms, count


def _agreed(apart: Sequence[int]) -> tuple[int, int, int] | None:
    """What most events say; None if they differ."""
    ordered = sorted(apart)
    ends = [bisect_right(ordered, least + _TOGETHER_MS) for least in ordered]
    start = max(range(len(ordered)), key=lambda number: ends[number] - number)
    best = ordered[start : ends[start]]
    if len(best) < _LEAST or 2 * len(best) <= len(ordered):
        return None
    return best[len(best) // 2], max((best[-1] - best[0]) // 2, 1), len(best)


def by_one(observations: Table, clocks: Sequence[Clock]) -> Table:
    """The times of all rows by the clock of the others."""
    shifts = shifts_of(clocks)
    if not shifts:
        return observations
    files, ahead = (F.array(*map(F.lit, some)) for some in (shifts.keys(), shifts.values()))
    shift = F.coalesce(F.lookup(files, ahead, "file"), F.lit(0))
    return observations.withColumn("time_ms", F.col("time_ms") - shift)


def shifts_of(clocks: Iterable[Clock]) -> dict[str, int]:
    """By file, what its times are too much."""
    return {file: each.ahead_ms for each in clocks for file in each.files}


def spans_by_one(spans: Mapping[str, LogSpan], clocks: Iterable[Clock]) -> dict[str, LogSpan]:
    shifts = shifts_of(clocks)
    return {
        file: replace(
            each, from_ms=each.from_ms - shifts.get(file, 0), to_ms=each.to_ms - shifts.get(file, 0)
        )
        for file, each in spans.items()
    }


def ended_ms(observations: Table) -> int | None:
    """When the last file ends. Times of records are what producers say."""
    rows = observations.where("time_ms is not null").where(~F.col("source").isin(*_OF_RECORDS))
    ends = ends_of_files(rows)
    (row,) = ends.groupBy(F.lit(1).alias("all")).agg(F.max("end_ms").alias("end_ms")).collect() or [{}]
    return row.get("end_ms")


def span(observations: Table) -> tuple[int, int]:
    """From the first to the last row."""
    times = F.min("time_ms").alias("first"), F.max("time_ms").alias("last")
    (row,) = observations.groupBy(F.lit(1).alias("all")).agg(*times).collect()
    return row["first"], row["last"]
