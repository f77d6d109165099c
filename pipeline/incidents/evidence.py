"""Which files could have told of something: those that it needs, if they go over its time."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from ..readers.files import LogSpan
from ..readers.log_spans import BROKER, CONTROLLER, JAVA
from ..signature import BATCHES, BROKERS, CLIENT, COORDINATORS, OFFSETS, OWN
from ..tables import Table
from ..tables import functions as F
from .model import Finding

_IN_TRACES: Final = (CONTROLLER, BROKERS, OWN, COORDINATORS, CLIENT, BATCHES)
_RECORDS: Final = ("segment", "dump-log")
_TOPIC: Final = "__consumer_offsets"
UNKNOWN: Final = "the files don't tell"
"""How it begins that it is not known which files would tell it."""
_APART_MS: Final = 60_000
"""Files of one log that lie so close together have nothing in between."""
_COLUMNS: Final = ("kind", "source", "file", "broker", "leader", "replicas", "group", "topic", "partition")
Times = tuple[int, int]


class Looked(NamedTuple):
    """`told` is where something would be, and the times of it, or why it could not be looked for."""

    covered: bool
    told: str


def summed(observations: Table) -> list[dict[str, Any]]:
    """For each file, what its rows are about, with the times of the first and last; `bad` if one of them may
    be what an incident begins with."""
    kind, detail = F.col("kind"), F.col("detail")
    bad = (
        ((kind == "leader") & (detail == "unclean"))
        | ((kind == "truncation") & F.coalesce(F.col("from_offset") > F.col("offset"), F.lit(True)))
        | ((kind == "log") & (detail == "deleted"))
        | ((kind == "epoch-answer") & (F.col("end_offset") < 0))
        | ((kind == "load") & detail.startswith("failed"))
        | ((kind == "tombstone") & F.col("topic").isNotNull())
    )
    replicas = F.array_join(F.col("replicas").cast("array<string>"), ",")
    rows = observations.withColumns({"replicas": replicas, "bad": F.coalesce(bad, F.lit(False))})
    return (
        rows.groupBy(*_COLUMNS)
        .agg(F.min("time_ms").alias("from_ms"), F.max("time_ms").alias("to_ms"), F.max("bad").alias("bad"))
        .collect()
    )


class Evidence:
    """What was read: rows that `summed` made, and the `spans` of logs."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], spans: Mapping[str, LogSpan]) -> None:
        self._spans = spans
        self._of_group: dict[str | None, list[Mapping[str, Any]]] = {}
        self._of_topic: dict[str | None, list[Mapping[str, Any]]] = {}
        self._bad: list[Mapping[str, Any]] = []
        self._files_of: dict[int | None, set[str]] = {}
        """The logs of each broker."""
        for row in rows:
            self._of_group.setdefault(row["group"], []).append(row)
            self._of_topic.setdefault(row["topic"], []).append(row)
            if row["bad"]:
                self._bad.append(row)
            if row["source"] == "broker-log":
                self._files_of.setdefault(row["broker"], set()).add(row["file"])
        self._traced = _times(row for row in rows if row["source"] == "trace")
        self._needed: dict[tuple[Any, ...], tuple[str, dict[str, list[Times]]]] = {}

    def look(self, need: str, cause: Finding) -> Looked:
        """Whether the files that are needed were read, and go over the time of a finding."""
        begin, end = cause["from_ms"], cause["to_ms"]
        if begin is None or end is None:
            return Looked(False, f"{UNKNOWN} when it happened")
        if need in _IN_TRACES and (times := _around(self._traced, begin, end)):
            return Looked(True, _told("the trace", times))
        about = need, *(cause[name] for name in ("group", "topic", "partition", "broker"))
        if about not in self._needed:
            self._needed[about] = self._parts(*about)
        named, parts = self._needed[about]
        if not parts:
            return Looked(False, f"{UNKNOWN} {named}")
        found = []
        for name, spans in parts.items():
            if not spans:
                return Looked(False, f"{name} is not among the files")
            if (times := _around(spans, begin, end)) is None:
                return Looked(False, f"{name} does not go over all of that time")
            found.append(times)
        first, last = zip(*found, strict=True)
        return Looked(True, _told(named, (max(first), min(last))))

    def shows(self, kind: str, cause: Finding, *keys: str) -> bool:
        """Whether there is a row of a kind that an incident may begin with, about the same of the keys."""
        return any(row["kind"] == kind and all(row[key] == cause[key] for key in keys) for row in self._bad)

    def _parts(
        self, need: str, group: str | None, topic: str | None, partition: int | None, broker: int | None
    ) -> tuple[str, dict[str, list[Times]]]:
        """What is needed, and the times of the files of each part of it."""
        if need == CONTROLLER:
            named = "the log of a controller"
            return named, {named: self._logs(CONTROLLER, self._spans)}
        if need in (CLIENT, OFFSETS):
            if group is None:
                return "of which group it was", {}
            of_group = self._of_group.get(group, ())
            if need == CLIENT:
                named = f"the log of a Java client of group {group}"
                files = {row["file"] for row in of_group if row["source"] == "client-log"}
                return named, {named: self._logs(JAVA, files)}
            named = f"the offsets topic with group {group}"
            return named, {named: _times(row for row in of_group if row["source"] in _RECORDS)}
        if need == OWN:
            own = None if broker is None else f"the log of broker {broker}"
            return own or "which broker it was", {own: self._of_broker(broker)} if own else {}
        if need == COORDINATORS:
            topic, partition = _TOPIC, None
        elif topic is None or partition is None:
            return "which partition it was", {}
        at = topic if partition is None else f"{topic}-{partition}"
        about = [row for row in self._of_topic.get(topic, ()) if partition in (None, row["partition"])]
        if need == BATCHES:
            named = f"the log of {at}"
            kept = (row for row in about if row["kind"] == "append" and row["source"] in _RECORDS)
            return named, {named: _times(kept)}
        parts = {f"the log of broker {each}": self._of_broker(each) for each in sorted(_brokers(about))}
        return (f"the logs of the brokers that had {at}" if parts else f"which brokers had {at}"), parts

    def _of_broker(self, broker: int | None) -> list[Times]:
        return self._logs(BROKER, self._files_of.get(broker, ()))

    def _logs(self, whose: str, files: Iterable[str]) -> list[Times]:
        spans = (self._spans[file] for file in files if file in self._spans)
        return [(each.from_ms, each.to_ms) for each in spans if whose in each.of]


def _times(rows: Iterable[Mapping[str, Any]]) -> list[Times]:
    """The times of each file, by those of its rows."""
    files: dict[str, list[int]] = {}
    for row in rows:
        if row["from_ms"] is not None:
            files.setdefault(row["file"], []).extend((row["from_ms"], row["to_ms"]))
    return [(min(each), max(each)) for each in files.values()]


def _brokers(rows: Iterable[Mapping[str, Any]]) -> set[int]:
    found: set[int] = set()
    for row in rows:
        found.update(map(int, filter(None, (row["replicas"] or "").split(","))))
        found.update(each for each in (row["broker"], row["leader"]) if each is not None and each >= 0)
    return found


def _around(spans: Iterable[Times], begin: int, end: int) -> Times | None:
    """The span of files that lie close together, if it goes from before `begin` until after `end`."""
    first: int | None = None
    last = 0
    for since, until in sorted(spans):
        if first is None or since > last + _APART_MS:
            if first is not None and first <= begin and end <= last:
                return first, last
            first, last = since, until
        last = max(last, until)
    return (first, last) if first is not None and first <= begin and end <= last else None


def _told(named: str, times: Times) -> str:
    first, last = (datetime.fromtimestamp(each / 1000, UTC) for each in times)
    until = f"{last:%H:%M:%S}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M:%S}"
    return f"{named}, from {first:%Y-%m-%d %H:%M:%S} to {until},"
