"""Dumps of the internal topics by the console consumer with a formatter: text up to 3.7, JSON since 3.8.

The JSON formatters write nothing between objects, so that many are in one line.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ...dumps.files import Head, Line
from ..observations import Observation
from .coordinator_json import row_of
from .files import MOST_TEXT, Reading, lines, unreadable
from .registry import Reader

SOURCE: Final = "console-consumer"
_JSON: Final = re.compile(r'\s*\{"key":\s*(null|\{"(version|type)":)')
_KEY: Final = re.compile(r"\[(?P<group>.*),(?P<topic>[\w.-]+),(?P<partition>\d+)\]::(?P<value>.*)")
_TRANSACTION: Final = re.compile(r"^(?P<id>.*?)::TransactionMetadata\((?P<value>.*)\)$")
_DELETED: Final = "NULL"
_VALUES: Final = (
    # 2.1 and later, and 1.x to 2.0 without the leader epoch
    re.compile(
        r"OffsetAndMetadata\(offset=(?P<offset>-?\d+), "
        r"(?:leaderEpoch=Optional(?:\[(?P<epoch>\d+)\]|\.empty), )?metadata=.*, "
        r"commitTimestamp=(?P<time>\d+), expireTimestamp=.*\)"
    ),
    # 0.9 to 1.0
    re.compile(r"\[OffsetMetadata\[(?P<offset>-?\d+),.*\],CommitTime (?P<time>-?\d+),ExpirationTime -?\d+\]"),
    # 0.8.2
    re.compile(r"OffsetAndMetadata\[(?P<offset>-?\d+),.*?(?:,(?P<time>\d{10,}))?\]"),
)
_STATE: Final = re.compile(
    r"producerId[=:](?P<id>\d+).*?producerEpoch[=:](?P<epoch>\d+).*?state[=:](?P<state>\w+).*?"
    r"(?:txnLastUpdateTimestamp|lastUpdateTimestamp)[=:](?P<time>\d+)"
)


def recognises(head: Head) -> bool:
    first = next((each for each in head.lines if each.strip()), head.text[:MOST_TEXT])
    if _JSON.match(first) or _JSON.match(head.text):
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
    decoder, at, text = json.JSONDecoder(), 0, line.text
    while at < len(text):
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            reason = f"no JSON from character {at}: {error}" if line.ended else "torn last line"
            yield unreadable(SOURCE, file, line.number, reason, text[at:])
            return
        blank = Observation("", SOURCE, file, line.number, text=text[at:end][:MOST_TEXT])
        yield from _json_row(found, blank)
        at = end
        while at < len(text) and text[at].isspace():
            at += 1


def _json_row(found: Any, blank: Observation) -> Iterator[Observation]:
    try:
        row = row_of(found["key"], found["value"], blank) if found["key"] else None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        yield unreadable(SOURCE, blank.file, blank.position, reason, blank.text)
        return
    if row is not None:
        yield row


def _text_row(line: Line, file: str) -> Observation | None:
    row = Observation("", SOURCE, file, line.number, text=line.text[:MOST_TEXT])
    if found := _KEY.fullmatch(line.text):
        row.group, row.topic, row.partition = found["group"], found["topic"], int(found["partition"])
        return _committed(found["value"], row, line)
    if (found := _TRANSACTION.match(line.text)) and (state := _STATE.search(found["value"])):
        row.kind, row.transactional_id, row.detail = "transaction", found["id"], state["state"]
        row.producer_id, row.producer_epoch = int(state["id"]), int(state["epoch"])
        row.time_ms = int(state["time"])
        return row
    return None


def _committed(value: str, row: Observation, line: Line) -> Observation | None:
    if value == _DELETED:
        row.kind, row.detail = "tombstone", "committed offset"
        return row
    for pattern in _VALUES:
        if found := pattern.fullmatch(value):
            named = found.groupdict()
            row.kind, row.offset = "commit", int(found["offset"])
            row.leader_epoch = int(named["epoch"]) if named.get("epoch") else None
            row.time_ms = int(found["time"]) if named["time"] and int(named["time"]) >= 0 else None
            return row
    if not line.ended:
        return unreadable(SOURCE, row.file, row.position, "torn last line", row.text)
    return None


READERS: Final = [Reader(SOURCE, "console consumer's dump of an internal topic", recognises, read)]
