"""Layouts in which the date is told in another way: by java.util.logging, without a year, or twice.

Lines become such as begin with a date; all others stay as they are.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from .log_times import begins

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH: Final = f"(?P<month>{'|'.join(_MONTHS)})"
_UTIL: Final = re.compile(
    rf"{_MONTH} (?P<day>\d{{1,2}}), (?P<year>\d{{4}}) (?P<hour>\d{{1,2}}):(?P<rest>\d\d:\d\d)[ \u202f]"
    r"(?P<half>AM|PM) (?P<logger>[\w.$]{1,300})(?: \S{1,300})?"
)
"""java.util.logging.SimpleFormatter: date, class and method, and the message on the next line."""
_LEVELLED: Final = re.compile(
    r"(?P<level>SEVERE|WARNING|INFO|CONFIG|FINE|FINER|FINEST): (?P<message>.*)", re.DOTALL
)
_YEARLESS: Final = re.compile(
    rf"{_MONTH} (?P<day>[ \d]\d) (?P<time>\d\d:\d\d:\d\d)(?P<part>[.,]\d{{1,9}})?\s{{0,3}}"
    r"(?P<line>\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b.*)",
    re.DOTALL,
)
_BAR: Final = re.compile(r"(?P<before>[^|]{8,60})\|\s{1,4}(?P<line>.*)", re.DOTALL)
_CLOCK: Final = re.compile(r"\b\d\d:\d\d:\d\d\b")
_ENOUGH: Final = 0.5
"""The part of the first lines that has to be so."""
_LATER: Final = timedelta(days=1)
"""By how much a clock, or its zone, may be ahead of the file system's."""


def layout(first: Sequence[str], changed: datetime) -> Callable[[str], list[str]] | None:
    """What makes lines begin with a date, by the first lines of a file; `changed` is when it was changed
    last."""
    if any(_UTIL.fullmatch(line) and _LEVELLED.match(after) for line, after in pairwise(first)):
        return _Util()
    if _enough(_second(line) is not None for line in first):
        return _after_bar
    if _enough(_YEARLESS.match(line) is not None for line in first):
        return lambda line: [_with_year(line, changed)]
    return None


def _enough(those: Iterable[bool]) -> bool:
    found = list(those)
    return bool(found) and sum(found) >= _ENOUGH * len(found)


class _Util:
    """Of two lines of java.util.logging, the second waits for the first."""

    def __init__(self) -> None:
        self._begun: re.Match[str] | None = None

    def __call__(self, line: str) -> list[str]:
        begun, self._begun = self._begun, _UTIL.fullmatch(line)
        if self._begun is not None:
            return []
        told = _LEVELLED.match(line)
        if begun is None or told is None:
            return [line]
        hour = int(begun["hour"]) % 12 + 12 * (begun["half"] == "PM")
        day = f"{begun['year']}-{_number(begun)}-{int(begun['day']):02}"
        at = f"{day} {hour:02}:{begun['rest']}"
        return [f"[{at}] {told['level']} {told['message']} ({begun['logger']})"]


def _number(found: re.Match[str]) -> str:
    return f"{_MONTHS.index(found['month']) + 1:02}"


def _second(line: str) -> str | None:
    """What stands behind another time and a bar, if it begins with a time of its own."""
    found = _BAR.match(line)
    if found is None or begins(line) or not _CLOCK.search(found["before"]):
        return None
    return found["line"] if begins(found["line"]) else None


def _after_bar(line: str) -> list[str]:
    found = _BAR.match(line)
    return [found["line"] if found and _CLOCK.search(found["before"]) and not begins(line) else line]


def _with_year(line: str, changed: datetime) -> str:
    """The last year in which that day came before the file was changed."""
    found = _YEARLESS.match(line)
    if found is None:
        return line
    day = f"{_number(found)}-{found['day'].strip().zfill(2)}"
    year = changed.year if day <= f"{changed + _LATER:%m-%d}" else changed.year - 1
    return f"[{year}-{day} {found['time']}{found['part'] or ''}] {found['line']}"
