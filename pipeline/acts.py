"""What administrators did, told as what it is, and no symptom: restarts, alterations, deletions, moves."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from .deletions import BY_REQUEST
from .ledgers import Note
from .readers.administration_messages import ELR, NOTHING
from .rows import INTERNAL, NO_PARTITION, of_kinds, set_dead
from .tables import Table
from .tables import functions as F

HEADING: Final = "What administrators did"
QUOTA: Final = "quota-altered"
KINDS: Final = ("config", "quota", "reassignment", "log", "log-start", "group")
_MOST: Final = 20_000
"""The rows that are looked at."""
_AT_ONCE_MS: Final = 1_000
"""What a topic is created with is written with it; a controller that starts replays all at once."""
_IN_ORDER_MS: Final = 1_800_000
"""Brokers that are restarted later than that are restarted for another reason."""
_OF_ELR: Final = "all brokers: min.insync.replicas = "
_COMPLETED: Final = "completed"
_BEFORE_MS: Final = 600_000
_FEW: Final = 5
_BETWEEN: Final = re.compile(r", (?=[\w.]{1,100} = )")
Row = Mapping[str, Any]
Places = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Act:
    """`told` says what was done; `places` are file and position of rows that tell it. Times are Unix ms."""

    name: str
    told: str
    from_ms: int
    to_ms: int
    places: Places
    topic: str | None = None
    group: str | None = None

    def as_json(self) -> dict[str, Any]:
        names = ("name", "told", "from_ms", "to_ms", "topic", "group")
        told = {name: value for name in names if (value := getattr(self, name)) is not None}
        return told | {"evidence": [{"file": file, "position": position} for file, position in self.places]}


def acts(observations: Table, kinds: Mapping[str, int], notes: Iterable[Note]) -> list[Act]:
    """In order of time; `kinds` counts the rows of each kind."""
    rows: Sequence[Row] = []
    if any(map(kinds.get, KINDS)):
        requested = (F.col("kind") != "log-start") | F.coalesce(
            F.col("detail").startswith(BY_REQUEST), F.lit(False)
        )
        requested &= (F.col("kind") != "group") | set_dead()
        some = of_kinds(observations, *KINDS).where(requested & F.col("time_ms").isNotNull())
        some = some.where("source = 'broker-log' and client is null")
        some = some.where((F.col("kind") != "log") | (F.col("partition") == NO_PARTITION))
        names = ("kind", "file", "position", "time_ms", "group", "topic", "partition", "offset", "detail")
        rows = some.select(*names).limit(_MOST).collect()
    return acts_of(rows, notes)


def acts_of(rows: Iterable[Row], notes: Iterable[Note]) -> list[Act]:
    ordered = sorted(rows, key=lambda row: (row["time_ms"], row["file"], row["position"]))
    created: dict[str, list[int]] = {}
    with_elr = [row["time_ms"] for row in ordered if row["kind"] == "config" and row["detail"] == ELR]
    for row in ordered:
        if row["kind"] == "log" and row["detail"] == "created":
            created.setdefault(row["topic"], []).append(row["time_ms"])
    known = [
        row
        for row in ordered
        if not (row["kind"] == "config" and _by_controller(row, with_elr))
        and not _as_created(row, created.get(row["topic"], ()))
    ]
    found = [
        *_restarts(notes),
        *_altered(row for row in known if row["kind"] in ("config", "quota")),
        *_deleted((row for row in known if row["kind"] == "log"), created),
        *(_group_deleted(row) for row in known if row["kind"] == "group"),
        *_records(row for row in known if row["kind"] == "log-start"),
        *_moved(row for row in known if row["kind"] == "reassignment"),
    ]
    return sorted(found, key=lambda each: (each.from_ms, each.told))


def _by_controller(row: Row, with_elr: Iterable[int]) -> bool:
    """Whether a controller set it itself as it turned eligible leader replicas on (KIP-966)."""
    its_own = row["detail"].startswith(_OF_ELR) and row["topic"] is None
    return row["detail"] == ELR or (
        its_own and any(abs(row["time_ms"] - at) <= _AT_ONCE_MS for at in with_elr)
    )


def _as_created(row: Row, created: Iterable[int]) -> bool:
    """Whether it came with a topic: that may be deleted just before another one is created."""
    since = 0 if row["kind"] == "log" else -_AT_ONCE_MS
    return any(since <= row["time_ms"] - at_ms <= _AT_ONCE_MS for at_ms in created)


def shortly_before(
    done: Iterable[Act],
    from_ms: int | None,
    to_ms: int | None,
    topic: str | None,
    group: str | None,
    *,
    of_client: bool,
) -> list[str]:
    """What was done to a topic, a group, or to brokers, before something was noticed, and not long before it
    began. A quota only lets clients wait: it is left out of what is not noticed `of_client`."""
    if from_ms is None or to_ms is None:
        return []
    return [
        each.told
        for each in done
        if from_ms - _BEFORE_MS <= each.from_ms <= to_ms
        and each.topic in (None, topic)
        and each.group in (None, group)
        and (of_client or each.name != QUOTA)
    ]


def _restarts(notes: Iterable[Note]) -> Iterator[Act]:
    """Brokers that were shut down; those that were restarted in order are one act."""
    stops = sorted(
        {(each.from_ms or 0, each.to_ms, each.broker or 0, each.rows) for each in notes if _shut_down(each)},
        key=lambda each: each[:1],
    )
    run: list[Any] = []
    for stop in stops:
        if run and not _follows(run[-1], stop):
            yield _restarted(run)
            run = []
        run.append(stop)
    if run:
        yield _restarted(run)


def _shut_down(note: Note) -> bool:
    return note.what == "broker-shut-down"


def _follows(last: Any, stop: Any) -> bool:
    return last[1] is not None and last[2] != stop[2] and last[1] <= stop[0] <= last[1] + _IN_ORDER_MS


def _restarted(run: Sequence[Any]) -> Act:
    first, last = run[0], run[-1]
    end = last[1] or last[0]
    places = tuple((file, position) for each in run for file, position, _ in each[3][:1])
    took = f"{(end - first[0]) // 1000} s"
    if len(run) > 1:
        brokers = ", ".join(str(each[2]) for each in run[:-1]) + f" and {last[2]}"
        back = "" if last[1] is not None else "; the last one had not come back at the end of the files"
        told = f"brokers {brokers} were shut down and started again one after the other, in {took}{back}"
        return Act("brokers-restarted", told, first[0], end, places)
    back = (
        f"and came back after {took}"
        if last[1] is not None
        else "and had not come back at the end of the files"
    )
    return Act("broker-shut-down", f"broker {last[2]} was shut down, {back}", first[0], end, places)


def _altered(rows: Iterable[Row]) -> Iterator[Act]:
    """What has the value already is no alteration: every controller tells of it."""
    values: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in rows:
        known = values.setdefault((row["kind"], row["topic"], row["group"]), {})
        for named, value in _told(row, known):
            if known.get(named) == value:
                continue
            known[named] = value
            set_to = "was removed" if value in ("none", "null") else f"was set to {value}"
            quota = row["kind"] == "quota"
            told = f"{'the quota ' if quota else ''}{_named(row, named)} {set_to}"
            yield _of(QUOTA if quota else "configuration-altered", told, [row])


def _told(row: Row, known: Iterable[str]) -> list[tuple[str, str]]:
    """Names and values. Of a group all are told that are set: those that were `known` before are removed."""
    if row["group"] is None:
        return [row["detail"].partition(" = ")[::2]]
    told = [] if row["detail"] == NOTHING else _BETWEEN.split(row["detail"])
    now = dict(each.partition(" = ")[::2] for each in told)
    return [*now.items(), *((name, NOTHING) for name in known if name not in now)]


def _named(row: Row, named: str) -> str:
    whose, _, name = named.rpartition(": ")
    if row["topic"] is not None:
        whose = f"topic {row['topic']}"
    elif row["group"] is not None:
        whose = f"group {row['group']}"
    return f"{name} of {whose or 'all brokers'}"


def _deleted(rows: Iterable[Row], created: Mapping[str, Sequence[int]]) -> Iterator[Act]:
    """Every controller tells of it; what is created again may be deleted again."""
    gone: dict[str, int] = {}
    for row in rows:
        topic, last = row["topic"], gone.get(row["topic"])
        if last is None or any(last < at_ms < row["time_ms"] for at_ms in created.get(topic, ())):
            gone[topic] = row["time_ms"]
            yield _of("topic-deleted", f"topic {topic} was deleted", [row])


def _group_deleted(row: Row) -> Act:
    return _of("group-deleted", f"group {row['group']} was deleted", [row])


def _records(rows: Iterable[Row]) -> Iterator[Act]:
    """Those of Kafka Streams' own topics are deleted all the time by their application."""
    by_topic: dict[str, list[Row]] = {}
    for row in rows:
        if (
            row["topic"] is not None
            and row["topic"] not in INTERNAL
            and not row["topic"].endswith("-repartition")
        ):
            by_topic.setdefault(row["topic"], []).append(row)
    for topic, some in by_topic.items():
        last = {row["partition"]: row["offset"] for row in some}
        below = ", ".join(
            f"{topic}-{partition} below {offset}" for partition, offset in list(last.items())[:_FEW]
        )
        more = f" and {len(last) - _FEW} more partitions" if len(last) > _FEW else ""
        yield _of("records-deleted", f"the records of {below}{more} were deleted by request", some)


def _moved(rows: Iterable[Row]) -> Iterator[Act]:
    by_topic = sorted(rows, key=lambda row: (row["topic"], row["time_ms"]))
    for topic, some in groupby(by_topic, key=lambda row: row["topic"]):
        each = list(some)
        began = [row for row in each if row["detail"] != _COMPLETED]
        if not began:
            continue
        partitions = sorted({row["partition"] for row in began})
        ended = {row["partition"] for row in each if row["detail"] == _COMPLETED}
        how = "; ".join(dict.fromkeys(row["detail"] for row in began))
        listed = ", ".join(map(str, partitions[:_FEW])) + (", …" if len(partitions) > _FEW else "")
        left = len(set(partitions) - ended)
        done = "completed" if not left else f"{left} not completed"
        told = f"{len(partitions)} partitions of {topic} were reassigned ({listed}; {how}), {done}"
        yield _of("partitions-reassigned", told.replace("1 partitions", "1 partition", 1), each)


def _of(name: str, told: str, rows: Sequence[Row]) -> Act:
    places = tuple((row["file"], row["position"]) for row in rows[:_FEW])
    return Act(
        name, told, rows[0]["time_ms"], rows[-1]["time_ms"], places, rows[0]["topic"], rows[0]["group"]
    )
