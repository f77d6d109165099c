"""Entries of log4j files, and of any other file whose lines begin with a date and a time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Final

from ...dumps.files import Line
from ..observations import Observation
from .files import MOST_TEXT, Reading, log_lines
from .log_times import TIME

_CAUSE: Final = re.compile(r"(?:Caused by: )?(?:[\w.]+\.)(\w+(?:Exception|Error)): (.+)")
_LOGGER: Final = re.compile(r"\([\w.$]{1,199}\)")
MOST_MORE: Final = 50
"""How many further lines of an entry are searched: causes come early."""


@dataclass(slots=True)
class Entry:
    """One entry: its first line, from its time on, and the lines up to the next entry (a stack trace)."""

    number: int
    time_ms: int
    message: str
    line: str
    more: list[str] = field(default_factory=list)

    @property
    def whole(self) -> str:
        return "\n".join([self.message, *self.more])

    @property
    def text(self) -> str:
        return "\n".join([self.line, *self.more])[:MOST_TEXT]


def cause(entry: Entry) -> str | None:
    """The innermost exception of a stack trace that says why."""
    for line in reversed(entry.more):
        if found := _CAUSE.match(line.strip()):
            return f"{found[1]}: {found[2]}"
    return None


def entry(line: Line, reading: Reading) -> Entry | None:
    """The entry that begins at a line; None if none does, or if its date is invalid."""
    found = TIME.match(line.text)
    if found is None:
        return None
    try:
        time_ms = _time_ms(found, reading)
    except ValueError:
        return None
    return Entry(line.number, time_ms, _without_thread(line.text[found.end() :]), line.text)


def _without_thread(message: str) -> str:
    """Without the thread that Strimzi's layout has after the logger: `… (kafka.log.LogCleaner) [main]`."""
    if message.endswith("]"):
        end = message.rfind(") [")
        if end > 0 and _LOGGER.fullmatch(message, max(message.rfind("(", 0, end), end - 200), end + 1):
            return message[: end + 1]
    return message


def _time_ms(found: re.Match[str], reading: Reading) -> int:
    date, clock, zone = found["date"], found["time"], found["zone"]
    seconds = _seconds(date, clock, zone, None if zone else reading.timezone)
    reading.without_zone += zone is None
    return seconds * 1000 + int((found["part"] or "0").ljust(3, "0")[:3])


@lru_cache(maxsize=1 << 12)
def _seconds(date: str, clock: str, zone: str | None, otherwise: tzinfo | None) -> int:
    """Unix seconds; many lines in a row have the same. ValueError for a date that does not exist."""
    at = datetime.fromisoformat(f"{date.replace('/', '-')}T{clock}")
    if zone in ("Z", "UTC"):
        at = at.replace(tzinfo=UTC)
    elif zone:
        sign = -1 if zone[0] == "-" else 1
        at = at.replace(tzinfo=timezone(sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))))
    else:
        at = at.replace(tzinfo=otherwise)
    return int(at.timestamp())


def entries(path: Path, reading: Reading) -> Iterator[Entry | Observation]:
    """The entries of a file; lines before the first are unknown. Damaged compressed data becomes rows."""
    current: Entry | None = None
    for line in log_lines(path, reading):
        if isinstance(line, Observation):
            if current is not None:
                yield current
                current = None
            yield line
            continue
        started = entry(line, reading)
        if started is not None:
            if current is not None:
                yield current
            current = started
        elif current is None:
            reading.unknown_lines[str(path)] += 1
        elif len(current.more) < MOST_MORE:
            current.more.append(line.text)
        else:
            reading.unknown_lines[str(path)] += 1
    if current is not None:
        yield current
