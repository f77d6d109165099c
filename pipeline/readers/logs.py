"""Logs of Kafka's brokers and of clients: log4j's text, or any other whose lines begin with date and time.

Entries that no table knows are counted. Some columns come from an entry's prefix (`[Partition orders-0
broker=1]`, `[Consumer clientId=app, groupId=g]`). If it has none, the broker of a broker's log, or the client
and group of a client's, are those of the earlier entries, if these agree.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...dumps.files import Head
from ..observations import Observation
from . import (
    broker_messages,
    client_messages,
    denial_messages,
    follower_messages,
    js_and_go_messages,
    librdkafka_messages,
    python_messages,
    refusal_messages,
)
from .complaints import Judge, Verdict
from .files import Reading
from .log_entries import Entry, entries
from .log_messages import Values, split
from .log_spans import note, note_ends
from .log_times import begins
from .registry import Reader

BROKER_LOGGER: Final = re.compile(
    r"\bkafka\.(?!clients)(?:\w{1,60}\.){0,20}[A-Z]\w|org\.apache\.kafka\.(?!clients)|state\.change\.logger"
)
CLIENT_LOGGER: Final = re.compile(r"org\.apache\.kafka\.clients|o\.a\.k\.c|clientId=")
_PREFIX: Final = re.compile(r"\[[A-Z][A-Za-z]*(?: [^\[\]]*)?\]")
_OWN_ID: Final = re.compile(
    r"broker(?:Id)?=(?P<a>\d+)|replicaId=(?P<b>\d+)"
    r"|(?:Coordinator|KafkaServer|BrokerServer|Broker|State Manager)(?: id=| )(?P<c>\d+)\b"
)
_FETCHES_FROM: Final = re.compile(r"leaderId=(\d+)")
_NAMED: Final = {
    "client": re.compile(r"clientId=([^,\]]+)"),
    "group": re.compile(r"groupId=([^,\]]+)"),
    "transactional_id": re.compile(r"transactionalId=([^,\]]+)"),
}
_PARTITION: Final = re.compile(
    r"(?:Log|ProducerStateManager)\w{0,40} partition=([\w.-]+)|\[(?:Partition|LeaderEpochCache) ([\w.-]+)"
)
_CLIENTS: Final = (
    client_messages.TABLE,
    python_messages.TABLE,
    librdkafka_messages.TABLE,
    js_and_go_messages.TABLE,
    refusal_messages.TABLE,
    denial_messages.TABLE,
)
TABLES: Final = (broker_messages.TABLE, *_CLIENTS)
_FENCED: Final = re.compile(r"Partition (?P<tp>\S+) has an older epoch \(\d+\) than the current leader")
_FAILED: Final = re.compile(r"Partition (?P<tp>\S+) marked as failed")
_NO_EFFECT: Final = re.compile(r"Truncating to (\d+) has no effect as the largest offset in the log is")
STATE_TEXTS: Final = (
    *(" has an older epoch ", "marked as failed", "Truncating to ", "OffsetAndMetadata{"),
    follower_messages.TEXT,
)
"""What is in every entry that is looked at and is in no table."""
_SOON_MS: Final = 1_000
BROKER: Final = "broker-log"
CLIENT: Final = "client-log"
_OF_BROKERS: Final = frozenset({"broker"})
OF_CLIENTS: Final = frozenset({"client", "group"})
"""What all entries of a log may agree on."""


def _score(head: Head) -> tuple[int, int]:
    """How many lines are a broker's, and how many a client's; none if no line begins with a time."""
    lines = head.lines
    if not any(map(begins, lines)):
        return 0, 0
    broker = sum(bool(BROKER_LOGGER.search(each)) + 2 * broker_messages.TABLE.knows(each) for each in lines)
    client = sum(
        bool(CLIENT_LOGGER.search(each) or python_messages.LOGGER.search(each))
        + 2 * any(table.knows(each) for table in _CLIENTS)
        for each in lines
    )
    return broker, client


def recognises_broker(head: Head) -> bool:
    broker, client = _score(head)
    return broker > 0 and broker >= client


def recognises_client(head: Head) -> bool:
    broker, client = _score(head)
    return client > broker


@dataclass(slots=True)
class Said:
    """What one entry says, whatever the others say: the rows it makes, and what its prefixes tell about
    them. `shape` is that of a complaint, or of an `unknown` entry."""

    entry: Entry
    found: list[Values]
    about: Values
    shape: str = ""
    unknown: bool = False


def said(entry: Entry, judge: Judge) -> Said:
    whole = entry.whole
    words = set(whole.split())
    found = [rows for table in TABLES for rows in table.rows(entry, whole, words)]
    found += ([each] for each in (*client_messages.lists(entry), *follower_messages.unanswered(entry)))
    made = Said(entry, list(_without_repeats(found)), about(entry))
    if not made.found:
        made.shape, verdict = judge.judged(entry)
        made.unknown = verdict is Verdict.UNKNOWN
        if verdict is Verdict.COMPLAINT:
            made.found = [judge.row(entry)]
    return made


def about(entry: Entry) -> Values:
    """What the prefixes of an entry say."""
    about = python_messages.about(entry)
    if (client := librdkafka_messages.client(entry)) is not None:
        about["client"] = client
    for prefix in _PREFIX.findall(entry.message):
        if own := _OWN_ID.search(prefix):
            about["broker"] = int(next(filter(None, own.groups())))
        if leader := _FETCHES_FROM.search(prefix):
            about["fetches_from"] = int(leader[1])
        for name, pattern in _NAMED.items():
            if named := pattern.search(prefix):
                about[name] = None if named[1] == "null" else named[1]
        if place := _PARTITION.search(prefix):
            about.update(split(place[1] or place[2]))
    return about


class _Log:
    """What is known from earlier entries."""

    def __init__(self, source: str, file: str) -> None:
        self._source = source
        self._file = file
        self._usual: Values = {}
        self._refused: dict[tuple[Any, ...], int] = {}
        self._fenced: dict[str, int] = {}
        self._begun: dict[tuple[Any, ...], int] = {}
        self._joined: set[str | None] = set()

    def rows(self, said: Said) -> Iterator[Observation]:
        if self._awaits(said.entry):
            return
        about = self._usually(said.about)
        for values in said.found:
            yield self._row(said.entry, values, about)

    def _awaits(self, entry: Entry) -> bool:
        """Whether a follower only waits to be told of the next leader epoch: it marks the partition as failed
        until then (AbstractFetcherThread.onPartitionFenced)."""
        if fenced := _FENCED.search(entry.message):
            self._fenced[fenced["tp"]] = entry.time_ms
            return False
        if "marked as failed" not in entry.message or not (failed := _FAILED.search(entry.message)):
            return False
        return entry.time_ms - self._fenced.pop(failed["tp"], entry.time_ms - _SOON_MS) < _SOON_MS

    def _usually(self, about: Values) -> Values:
        """Adds what all earlier entries say; None means that they do not agree."""
        names = _OF_BROKERS if self._source == BROKER else OF_CLIENTS
        said = {name: about[name] for name in names if name in about}
        for name, value in said.items():
            if self._usual.setdefault(name, value) != value:
                self._usual[name] = None
        return about if said else self._usual | about

    def _row(self, entry: Entry, values: Values, about: Values) -> Observation:
        row = Observation(values["kind"], self._source, self._file, entry.number, time_ms=entry.time_ms)
        for name in ("client", "group", "transactional_id"):
            setattr(row, name, about.get(name))
        if "topic" not in values and "topic" in about:
            row.topic, row.partition = about["topic"], about.get("partition")
        if "tp" in values:
            row.topic, row.partition = split(values["tp"])["topic"], split(values["tp"]).get("partition")
        for name, value in values.items():
            if name in Observation.__slots__ and value is not None:
                setattr(row, name, value)
        if row.client is None and row.broker is None:
            row.broker = about.get("broker")
        if values.get("leads"):
            row.leader = row.broker
        if row.kind in ("truncation", "follower-failure", follower_messages.UNANSWERED):
            row.leader = about.get("fetches_from")
        row.text = entry.text
        self._complete(row, values.get("begins"))
        return row

    def _complete(self, row: Observation, begins: str | None) -> None:
        """A reset's old offset is the one that was refused to the same client before. kafka-go says with
        which group it `begins`, from where, and then where it does."""
        if begins == "with":
            self._joined.add(row.group)
        elif begins is not None and len(self._joined) == 1:
            (row.group,) = self._joined
        key = (row.client, row.group, row.topic, row.partition)
        if begins == "from":
            self._begun[key] = row.offset or 0
        elif begins == "there":
            before = self._begun.pop(key, row.offset)
            if before is not None and before != row.offset:
                row.kind, row.detail = "reset", None
                row.from_offset = before if before >= 0 else None
        if row.kind == "refused" and row.error == "OFFSET_OUT_OF_RANGE" and row.offset is not None:
            self._refused[key] = row.offset
        elif row.kind == "reset" and row.from_offset is None and row.offset is not None:
            row.from_offset = self._refused.pop(key, None)


class _Decided:
    """Holds a follower's decision to truncate to its high watermark back until the log says what that did,
    for a second."""

    def __init__(self) -> None:
        self._held: dict[tuple[str | None, int | None], Observation] = {}

    def passed_on(self, entry: Entry, rows: list[Observation]) -> Iterator[Observation]:
        nothing = _NO_EFFECT.search(entry.message)
        if not rows and not nothing:
            return
        for key, row in list(self._held.items()):
            if entry.time_ms - (row.time_ms or 0) > _SOON_MS:
                yield self._held.pop(key)
        if nothing and (place := _PARTITION.search(entry.message)):
            named = split(place[1] or place[2])
            decided = self._held.get((named["topic"], named.get("partition")))
            if decided is not None and decided.offset == int(nothing[1]):
                del self._held[decided.topic, decided.partition]
        cut = {(row.topic, row.partition) for row in rows if row.kind == "truncation"}
        for key in [key for key in self._held if key in cut]:
            yield self._held.pop(key)
        for row in rows:
            if row.kind == "truncation" and "local high watermark" in (row.detail or ""):
                self._held[row.topic, row.partition] = row
            else:
                yield row

    def rest(self) -> Iterator[Observation]:
        yield from self._held.values()


def _without_repeats(found: list[list[Values]]) -> Iterator[Values]:
    """A message may match two patterns, of which the first says more."""
    kinds: set[Any] = set()
    for rows in found:
        key = [(values["kind"], values.get("tp")) for values in rows]
        yield from (values for values, each in zip(rows, key, strict=True) if each not in kinds)
        kinds.update(key)


def _read(source: str, path: Path, reading: Reading) -> Iterator[Observation]:
    at_ends = note_ends(path, reading)

    def told() -> Iterator[Said | Observation]:
        judge = Judge(quiet=source == CLIENT)
        for each in entries(path, reading):
            if isinstance(each, Observation):
                yield each
                continue
            if not at_ends:
                note(reading.spans, str(path), each)
            yield said(each, judge)

    return joined(source, str(path), told(), reading)


def joined(
    source: str, file: str, told: Iterable[Said | Observation], reading: Reading
) -> Iterator[Observation]:
    """The rows of a log, of what its entries say; those that `pieces.py` leaves out change nothing."""
    log, decided, judge = _Log(source, file), _Decided(), Judge()
    for each in told:
        if isinstance(each, Observation):
            each.source = source
            yield each
            continue
        rows = list(log.rows(each))
        if each.unknown:
            reading.shapes.saw(each.shape, file, each.entry.number, each.entry.line)
        elif rows and each.shape and not judge.once_more(each.shape):
            rows = []
        if not rows:
            reading.unknown_lines[file] += 1 + len(each.entry.more)
        yield from decided.passed_on(each.entry, rows)
    yield from decided.rest()


READERS: Final = [
    Reader(BROKER, "log of a Kafka broker", recognises_broker, lambda *a: _read(BROKER, *a)),
    Reader(CLIENT, "log of a client", recognises_client, lambda *a: _read(CLIENT, *a)),
]
