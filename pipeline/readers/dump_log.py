"""Output of `kafka-dump-log`, from 0.11 to 4.x: batches, records, and decoded records.

`position` is the line. Topic and partition are those of the folder that the tool names first.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ...dumps.files import Head, Line
from ...dumps.segments import Place, place_of
from ..observations import Observation
from .coordinator_json import row_of
from .files import MOST_TEXT, Reading, lines, unreadable
from .internal_topics import TOPICS
from .registry import Reader

SOURCE: Final = "dump-log"
_DUMPING: Final = re.compile(r"Dumping (?P<path>.+)")
_BATCH: Final = re.compile(r"baseOffset: \d+ lastOffset: \d+ ")
_OLD: Final = re.compile(r"offset: \d+ position: \d+ ")
_RECORD: Final = re.compile(r"(?:\| |baseOffset: \d+ lastOffset: \d+ .*? )?offset: \d+ ")
_CUT_OFF: Final = re.compile(r"Found (?P<size>\d+) invalid bytes at the end of (?P<name>\S+)")
_PAIR: Final = re.compile(r"(\w+): (\S+)")
_TIME: Final = re.compile(r"(?:CreateTime|LogAppendTime): (-?\d+)")
_MARKER: Final = re.compile(r"endTxnMarker: (\w+)")
_DECODED: Final = re.compile(r" key: (?P<key>.*?)(?: payload: (?P<value>.*))?$")
_DELETED: Final = "<DELETE>"
_COMMIT: Final = re.compile(r"offset_commit::group=(?P<group>.*),partition=(?P<topic>.+)-(?P<partition>\d+)")
_OLD_COMMIT: Final = re.compile(r"offset::(?P<group>.*):(?P<topic>.+):(?P<partition>\d+)")
_OFFSET: Final = re.compile(r"(?:offset=)?(?P<offset>\d+)")
_GROUP: Final = re.compile(r'group_metadata::group=(?P<group>.*)|\{"metadata":"(?P<old>.*)"\}')
_TRANSACTION: Final = re.compile(r"transaction_metadata::transactionalId=(?P<id>.*)")
_STATE: Final = re.compile(
    r"producerId:(?P<id>\d+),producerEpoch:(?P<epoch>\d+),state=(?P<state>\w+),"
    r"partitions=\[(?P<partitions>.*)\],txnLastUpdateTimestamp=(?P<time>\d+)"
)


def recognises(head: Head) -> bool:
    return any(_BATCH.match(each) or _OLD.match(each) for each in head.lines[:50]) or any(
        _DUMPING.match(each) for each in head.lines[:3]
    )


class _Dump:
    """A batch's line, and the lines of its records, which may say more about it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.place = Place(None, None)
        self._batch: Observation | None = None
        self._within = False

    def rows(self, line: Line) -> Iterator[Observation] | None:
        """None for a line that the tool does not write, or that gives no row."""
        text = line.text
        if found := _DUMPING.match(text):
            self.place = place_of(Path(found["path"]))
            return self.flush()
        if _BATCH.match(text) or _OLD.match(text):
            return self._begin(line)
        if self._within and _RECORD.match(text):
            return self._record(line)
        if found := _CUT_OFF.match(text):
            return self._cut_off(line, found)
        return None

    def flush(self) -> Iterator[Observation]:
        if self._batch is not None:
            yield self._batch
            self._batch = None

    def _begin(self, line: Line) -> Iterator[Observation]:
        yield from self.flush()
        self._within = False
        said = dict(_PAIR.findall(line.text))
        row = self._blank(line)
        if said.get("isvalid", "true") != "true":
            reason = f"wrong CRC {said.get('crc', '?')} at byte {said.get('position', '?')}"
            yield replace(row, kind="unreadable", detail=reason)
            return
        first = int(said["baseOffset"] if "baseOffset" in said else said["offset"])
        row.offset, row.end_offset = first, int(said.get("lastOffset", first)) + 1
        row.leader_epoch = _known(said.get("partitionLeaderEpoch"))
        row.producer_id = _known(said.get("producerId"))
        row.producer_epoch = _known(said.get("producerEpoch"))
        row.sequence = _known(said.get("baseSequence", said.get("sequence")))
        codec = said.get("compresscodec", "none").lower()
        words = [
            "transactional" * (said.get("isTransactional") == "true"),
            "control" * (said.get("isControl") == "true"),
            codec if codec not in ("none", "nocompressioncodec") else "",
        ]
        row.detail = ", ".join(filter(None, words)) or None
        self._batch, self._within = row, True
        if "payload:" in line.text:
            yield from self._decoded(line)

    def _record(self, line: Line) -> Iterator[Observation]:
        if (marker := _MARKER.search(line.text)) and self._batch is not None:
            detail = self._batch.detail or "control"
            self._batch.detail = detail.replace("control", f"control {marker[1].lower()}")
        yield from self.flush()
        yield from self._decoded(line)

    def _decoded(self, line: Line) -> Iterator[Observation]:
        found = _DECODED.search(line.text)
        if found is None or self.place.topic not in (None, *TOPICS):
            return
        blank = replace(self._blank(line), topic=None, partition=None)
        try:
            row = _decoded_row(found["key"], found["value"], blank)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"{type(error).__name__}: {error}" if line.ended else "torn last line"
            row = unreadable(SOURCE, self.file, line.number, reason, line.text)
        if row is not None:
            yield row

    def _cut_off(self, line: Line, found: re.Match[str]) -> Iterator[Observation]:
        yield from self.flush()
        reason = f"truncated tail: {found['size']} invalid bytes at the end of {found['name']}"
        yield replace(self._blank(line), kind="unreadable", detail=reason)

    def _blank(self, line: Line) -> Observation:
        time = _TIME.search(line.text)
        return Observation(
            "append",
            SOURCE,
            self.file,
            line.number,
            time_ms=_known(time[1]) if time else None,
            topic=self.place.topic,
            partition=self.place.partition,
            text=line.text[:MOST_TEXT],
        )


def _decoded_row(key: str, value: str | None, blank: Observation) -> Observation | None:
    """The row of a decoded record; None if it is not a record of an internal topic."""
    deleted = value in (None, _DELETED)
    if key.startswith('{"type":'):
        return row_of(json.loads(key), None if deleted else json.loads(value or ""), blank)
    if found := _COMMIT.fullmatch(key) or _OLD_COMMIT.fullmatch(key):
        row = replace(blank, group=found["group"], topic=found["topic"], partition=int(found["partition"]))
        offset = _OFFSET.match(value or "")
        if deleted or offset is None:
            return replace(row, kind="tombstone", detail="committed offset")
        return replace(row, kind="commit", offset=int(offset["offset"]))
    if found := _GROUP.fullmatch(key):
        row = replace(blank, group=found["group"] or found["old"])
        if deleted:
            return replace(row, kind="tombstone", detail="classic group")
        return _group(row, json.loads(value or ""))
    if found := _TRANSACTION.fullmatch(key):
        row = replace(blank, transactional_id=found["id"])
        state = _STATE.search(value or "")
        if state is None:
            return replace(row, kind="tombstone", detail="transactional id")
        return replace(
            row,
            kind="transaction",
            producer_id=int(state["id"]),
            producer_epoch=int(state["epoch"]),
            time_ms=int(state["time"]),
            detail=" ".join([state["state"], *filter(None, state["partitions"].split(","))]),
        )
    return None


def _group(row: Observation, said: dict[str, Any]) -> Observation:
    state = "Empty" if said.get("assignment") in ("{}", None) else "Stable"
    return replace(row, kind="group", generation=int(said["generationId"]), detail=state)


def _known(value: str | None) -> int | None:
    return None if value is None or int(value) < 0 else int(value)


def read(path: Path, reading: Reading) -> Iterator[Observation]:
    """Lines that the tool does not write are counted as unknown."""
    file = str(path)
    dump = _Dump(file)
    for line in lines(path, reading):
        if isinstance(line, Observation):
            yield replace(line, source=SOURCE)
            continue
        try:
            found = dump.rows(line)
            rows = None if found is None else list(found)
        except (KeyError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}" if line.ended else "torn last line"
            rows = [unreadable(SOURCE, file, line.number, reason, line.text)]
        if rows is None:
            reading.unknown_lines[file] += 1
        else:
            yield from rows
    yield from dump.flush()


READERS: Final = [Reader(SOURCE, "output of kafka-dump-log", recognises, read)]
