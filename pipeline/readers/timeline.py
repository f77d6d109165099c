"""Timelines that people write about an incident: a date, then lines that begin with a time of day.

Examples are bullets (`- **15:47:29.777Z**: …`) or a table (`15:47:29.777Z | …`). Facts beside them without a
time are read too. Times are on the first date in the text; when they go back, a new day begins. If the text
calls a number an epoch, but its own ISR lists have it as a broker, the row has it as a broker.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final

from ...dumps.files import Head
from ..observations import Observation
from .files import MOST_TEXT, Reading, log_lines
from .log_times import begins
from .registry import Reader

SOURCE: Final = "timeline"
_TIMED: Final = re.compile(
    r"^[\s>*|-]*(?P<time>\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)(?P<zone>Z|\s?UTC)?\**\s*(?:[:|–-]|\s)\s*(?P<rest>.*)$"
)
_MORE: Final = re.compile(r"^\s*\|\s*\S|^\s{4,}\S")
_DATE: Final = re.compile(r"\b(\d{4}-\d\d-\d\d)\b")
_UTC: Final = re.compile(r"\d{4}-\d\d-\d\d\W+UTC|\bUTC\b")
_LIST: Final = r"\[(\d+(?:, ?\d+)*)\]"
_ISR: Final = re.compile(rf"ISR\b.{{0,300}}?{_LIST}\s*(?:to|→|->)\s*{_LIST}", re.IGNORECASE)
_POSITION: Final = re.compile(
    r"\{offset=(?P<offset>\d+),\s*offsetEpoch=(?P<epoch>[\w.\[\]]+),\s*currentLeader=.{0,300}?epoch=(?P<current>\w+)\}"
)
_AT_ERROR: Final = re.compile(r"position at error time", re.IGNORECASE)
_TRUNCATED: Final = re.compile(
    r"truncat\w{1,9} (?:partition )?(?:\S{1,300} )?to (?:offset )?(\d+)", re.IGNORECASE
)
_EPOCHS: Final = re.compile(r"\bepochs?\W+(\d+(?:\W{1,9}(?:(?:and|or)\W{0,9})?\d+)*)", re.IGNORECASE)
_LEADER_EPOCH: Final = re.compile(r"starts at leader epoch (\d+)", re.IGNORECASE)
_LEADER: Final = re.compile(r"current leader is (\d+)", re.IGNORECASE)
_MARKS: Final = re.compile(r"highWatermark[=:]\s?(\d+)(?:.{0,300}?endOffset[=:]\s?(\d+))?", re.IGNORECASE)
_GENERATION: Final = re.compile(r"(?:stabili[sz]ed|stable)\b.{0,300}?generation (\d+)", re.IGNORECASE)
_REBALANCE: Final = re.compile(r"rebalanc\w+", re.IGNORECASE)
_OUT_OF_RANGE: Final = re.compile(r"out of range|OFFSET_OUT_OF_RANGE", re.IGNORECASE)
_LEAST: Final = 2


@dataclass(slots=True)
class _Fact:
    """A line and those that continue it; `time_ms` is None if the text gives no time."""

    number: int
    time_ms: int | None
    text: str
    lines: list[str] = field(default_factory=list)


def recognises(head: Head) -> bool:
    """Two lines with a time of day and without a date, and a date elsewhere."""
    timed = [each for each in head.lines if _TIMED.match(each)]
    return len(timed) >= _LEAST and bool(_DATE.search(head.text)) and not any(map(begins, head.lines))


def read(path: Path, reading: Reading) -> Iterator[Observation]:
    """`position` is the line at which a fact begins; lines without one are counted as unknown."""
    file = str(path)
    texts = []
    for line in log_lines(path, reading):
        if isinstance(line, Observation):
            yield replace(line, source=SOURCE)
        else:
            texts.append(line.text)
    facts = list(_facts(texts, reading))
    brokers = {int(each) for fact in facts for found in _ISR.findall(fact.text) for each in _numbers(found)}
    rows = []
    for fact in facts:
        made = list(_rows(fact, file, brokers))
        reading.unknown_lines[file] += 0 if made else len(fact.lines)
        rows += made
    yield from _joined(rows)


def _numbers(found: tuple[str, ...]) -> list[str]:
    return re.findall(r"\d+", " ".join(found))


def _facts(texts: list[str], reading: Reading) -> Iterator[_Fact]:
    day = _first_day(texts)
    utc = any(_UTC.search(each) for each in texts)
    last: datetime | None = None
    current: _Fact | None = None
    for number, text in enumerate(texts, 1):
        if found := _TIMED.match(text):
            if current:
                yield current
            at = datetime.combine(
                day, _time(found["time"]), UTC if found["zone"] or utc else reading.timezone
            )
            reading.without_zone += not (found["zone"] or utc)
            while last is not None and at < last - timedelta(hours=12):
                at, day = at + timedelta(days=1), day + timedelta(days=1)
            last = at
            current = _Fact(number, _ms(at), found["rest"], [text])
        elif not text.strip() and current is not None and current.time_ms is not None:
            yield current
            current = None
        elif current is not None and (_MORE.match(text) or current.time_ms is None):
            if text.startswith(("**", "#", "- ")) and current.time_ms is None:
                yield current
                current = _Fact(number, None, text, [text])
            else:
                current.text += " " + text.strip(" |`")
                current.lines.append(text)
        else:
            if current:
                yield current
            current = _Fact(number, None, text, [text])
    if current:
        yield current


def _first_day(texts: list[str]) -> date:
    for text in texts:
        for found in _DATE.findall(text):
            try:
                return date.fromisoformat(found)
            except ValueError:
                continue
    return date(1970, 1, 1)


def _time(text: str) -> time:
    try:
        return time.fromisoformat(text.replace(",", "."))
    except ValueError:
        return time()


def _ms(at: datetime) -> int:
    return int(at.timestamp()) * 1000 + at.microsecond // 1000


def _rows(fact: _Fact, file: str, brokers: set[int]) -> Iterator[Observation]:
    blank = Observation("", SOURCE, file, fact.number, fact.time_ms, text="\n".join(fact.lines)[:MOST_TEXT])
    text = fact.text
    if found := _ISR.search(text):
        replicas = [int(each) for each in re.findall(r"\d+", found[2])]
        yield replace(blank, kind="in-sync-replicas", replicas=replicas, detail=f"shrank from {found[1]}")
    if found := _MARKS.search(text):
        end = int(found[2]) if found[2] else None
        yield replace(blank, kind="high-watermark", offset=int(found[1]), end_offset=end)
    position = _POSITION.search(text)
    if position:
        yield _position(blank, position, text)
    if fact.time_ms is None:
        if not position:
            yield from _named_epochs(blank, text, brokers)
        return
    if _OUT_OF_RANGE.search(text):
        error = "OFFSET_OUT_OF_RANGE"
        row = replace(blank, kind="refused", api="Fetch", error=error)
        yield _with(row, _position(blank, position, text)) if position else row
    if found := _TRUNCATED.search(text):
        yield replace(blank, kind="truncation", offset=int(found[1]))
    yield from _leader(blank, text)
    if found := _GENERATION.search(text):
        yield replace(blank, kind="group", generation=int(found[1]), detail="Stable")
    elif found := _REBALANCE.search(text):
        yield replace(blank, kind="group", detail=f"PreparingRebalance: {text.strip()}")


def _position(blank: Observation, found: re.Match[str], text: str) -> Observation:
    epoch, current = (re.search(r"\d+", found[name]) for name in ("epoch", "current"))
    return replace(
        blank,
        kind="position",
        offset=int(found["offset"]),
        leader_epoch=int(epoch[0]) if epoch else None,
        current_epoch=int(current[0]) if current else None,
        detail="at error time" if _AT_ERROR.search(text) else None,
    )


def _leader(blank: Observation, text: str) -> Iterator[Observation]:
    epoch, leader = _LEADER_EPOCH.search(text), _LEADER.search(text)
    if epoch or leader:
        yield replace(
            blank,
            kind="leader",
            leader_epoch=int(epoch[1]) if epoch else None,
            leader=int(leader[1]) if leader else None,
        )


def _named_epochs(blank: Observation, text: str, brokers: set[int]) -> Iterator[Observation]:
    """Epochs that the text takes from brokers' logs; those of clients are in positions."""
    said = re.search(r"broker logs?\b(?P<of>[^,;.]*)", text, re.IGNORECASE)
    found = _EPOCHS.search(said["of"]) if said else None
    for number in map(int, re.findall(r"\d+", found[1]) if found else ()):
        if number in brokers:
            listed = ",".join(map(str, sorted(brokers)))
            detail = f"broker {number} of the ISR {listed}: no epoch, though the text calls it one"
            yield replace(blank, kind="leader", leader=number, detail=detail)
        else:
            yield replace(blank, kind="leader", leader_epoch=number, detail="named in broker logs")


def _joined(rows: list[Observation]) -> Iterator[Observation]:
    """A position "at error time" and the error belong together: each gets what the other says."""
    at_error = [each for each in rows if each.kind == "position" and each.detail == "at error time"]
    refused = [each for each in rows if each.kind == "refused" and each.offset is None]
    if len(at_error) == 1 and len(refused) == 1:
        position, error = at_error[0], refused[0]
        position.time_ms = error.time_ms
        merged = _with(error, position)
        rows = [merged if each is error else each for each in rows]
    yield from rows


def _with(error: Observation, position: Observation) -> Observation:
    return replace(
        error,
        offset=position.offset,
        leader_epoch=position.leader_epoch,
        current_epoch=position.current_epoch,
    )


READERS: Final = [Reader(SOURCE, "timeline of an incident", recognises, read)]
