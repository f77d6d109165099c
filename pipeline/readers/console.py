"""Dumps of the internal topics by the console consumer with a formatter: text up to 3.7, JSON since 3.8.

The JSON formatters write nothing between objects, so that many are in one line.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ...dumps.console import JSON, TornError, json_objects, of_line
from ...dumps.files import Head, Line
from ..observations import Observation
from .coordinator_json import rows_of
from .files import MOST_TEXT, Reading, lines, unreadable
from .internal_topics import of_entry
from .registry import Reader

SOURCE: Final = "console-consumer"
_TRANSACTION: Final = "::TransactionMetadata("
_STATE: Final = re.compile(
    r"(?>.{0,400}?producerId[=:](?P<id>\d+))(?>.{0,300}?producerEpoch[=:](?P<epoch>\d+))"
    r"(?>.{0,300}?state[=:](?P<state>\w++)).*?(?:txnLastUpdateTimestamp|lastUpdateTimestamp)[=:](?P<time>\d+)"
)


def recognises(head: Head) -> bool:
    first = next((each for each in head.lines if each.strip()), head.text[:MOST_TEXT])
    if JSON.match(first) or JSON.match(head.text):
        return True
    return any(_text_row(Line(1, each, True), "") is not None for each in head.lines[:50])


def read(path: Path, reading: Reading) -> Iterator[Observation]:
    """`position` is the line; lines that no formatter writes are counted as unknown."""
    file = str(path)
    for line in lines(path, reading):
        if isinstance(line, Observation):
            yield line
        elif line.text.lstrip().startswith("{"):
            yield from _json_rows(line, file)
        elif (row := _text_row(line, file)) is not None:
            yield row
        elif line.text.strip():
            reading.unknown_lines[file] += 1


def _json_rows(line: Line, file: str) -> Iterator[Observation]:
    try:
        for found, text in json_objects(line):
            yield from _json_row(found, Observation("", SOURCE, file, line.number, text=text[:MOST_TEXT]))
    except TornError as error:
        yield unreadable(SOURCE, file, line.number, str(error), error.rest)


def _json_row(found: Any, blank: Observation) -> Iterator[Observation]:
    try:
        rows = rows_of(found["key"], found["value"], blank) if found["key"] else []
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        yield unreadable(SOURCE, blank.file, blank.position, reason, blank.text)
        return
    yield from rows


def _text_row(line: Line, file: str) -> Observation | None:
    row = Observation("", SOURCE, file, line.number, text=line.text[:MOST_TEXT])
    try:
        entry = of_line(line.text)
    except ValueError:
        return None if line.ended else unreadable(SOURCE, file, line.number, "torn last line", row.text)
    if entry is not None:
        return of_entry(entry, row)
    name, _, value = line.text.partition(_TRANSACTION)
    if value.endswith(")") and (state := _STATE.match(value)):
        row.kind, row.transactional_id, row.detail = "transaction", name, state["state"]
        row.producer_id, row.producer_epoch = int(state["id"]), int(state["epoch"])
        row.time_ms = int(state["time"])
        return row
    return None


READERS: Final = [Reader(SOURCE, "console consumer's dump of an internal topic", recognises, read)]
