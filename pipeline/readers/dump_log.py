"""Output of `kafka-dump-log`, from 0.11 to 4.x: batches, records, and decoded records.

`position` is the line. Topic and partition are those of the folder that the tool names first.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from ...dumps.decoded import of_dump
from ...dumps.dump_log import Damage, DumpedBatch, DumpedRecord, Dumping, DumpParser, recognises
from ...dumps.files import Line
from ...dumps.segments import Place
from ...json_texts import read_json
from ..observations import Observation
from .coordinator_json import rows_of
from .files import MOST_TEXT, Reading, lines, unreadable
from .internal_topics import TOPICS, of_entry
from .registry import Reader

SOURCE: Final = "dump-log"
_DELETED: Final = "<DELETE>"
_TRANSACTION: Final = re.compile(r"transaction_metadata::transactionalId=(?P<id>.*)")
_STATE: Final = re.compile(
    r"producerId:(?P<id>\d+),producerEpoch:(?P<epoch>\d+),state=(?P<state>\w+),"
    r"partitions=\[(?P<partitions>[^\[\]]*)\],txnLastUpdateTimestamp=(?P<time>\d+)"
)


class _Dump:
    """A batch's row, and the lines of its records, which may say more about it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.place = Place(None, None)
        self._parser = DumpParser()
        self._batch: Observation | None = None

    def rows(self, line: Line) -> list[Observation] | None:
        """None for a line that the tool does not write, or that gives no row."""
        found = self._parser.items(line.text)
        rows: list[Observation] = []
        known = False
        for item in found:
            match item:
                case Dumping(place):
                    self.place = place
                    rows += self.flush()
                case DumpedBatch():
                    rows += self.flush()
                    self._batch = self._begun(item, line)
                case DumpedRecord():
                    rows += self._record(item, line)
                case Damage(reason, time_ms):
                    rows += self.flush()
                    row = self._blank(line, time_ms)
                    rows.append(replace(row, kind="unreadable", detail=reason))
                case _:
                    continue
            known = True
        return rows if known else None

    def flush(self) -> list[Observation]:
        done = [] if self._batch is None else [self._batch]
        self._batch = None
        return done

    def _begun(self, batch: DumpedBatch, line: Line) -> Observation:
        row = self._blank(line, batch.time_ms)
        row.offset, row.end_offset = batch.base_offset, batch.last_offset + 1
        row.leader_epoch = _known(batch.leader_epoch)
        row.producer_id = _known(batch.producer_id)
        row.producer_epoch = _known(batch.producer_epoch)
        row.sequence = _known(batch.base_sequence)
        words = ["transactional" * batch.transactional, "control" * batch.control, batch.codec]
        row.detail = ", ".join(filter(None, words)) or None
        return row

    def _record(self, record: DumpedRecord, line: Line) -> list[Observation]:
        if record.committed is not None and self._batch is not None:
            detail = self._batch.detail or "control"
            end = "control commit" if record.committed else "control abort"
            self._batch.detail = detail.replace("control", end)
        rows = self.flush()
        if record.key is None or self.place.topic not in (None, *TOPICS):
            return rows
        blank = replace(self._blank(line, record.time_ms), topic=None, partition=None)
        try:
            rows += _decoded_rows(record.key, record.value, blank)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"{type(error).__name__}: {error}" if line.ended else "torn last line"
            rows.append(unreadable(SOURCE, self.file, line.number, reason, line.text))
        return rows

    def _blank(self, line: Line, time_ms: int) -> Observation:
        return Observation(
            "append",
            SOURCE,
            self.file,
            line.number,
            time_ms=_known(time_ms),
            topic=self.place.topic,
            partition=self.place.partition,
            text=line.text[:MOST_TEXT],
        )


def _decoded_rows(key: str, value: str | None, blank: Observation) -> list[Observation]:
    """The rows of a decoded record; none if it is not a record of an internal topic."""
    if key.startswith('{"type":'):
        return rows_of(read_json(key), None if value in (None, _DELETED) else read_json(value or ""), blank)
    if (entry := of_dump(key, value)) is not None:
        row = of_entry(entry, blank)
        return [] if row is None else [row]
    if transaction := _TRANSACTION.fullmatch(key):
        row = replace(blank, transactional_id=transaction["id"])
        state = _STATE.search(value or "")
        if state is None:
            return [replace(row, kind="tombstone", detail="transactional id")]
        row.kind, row.time_ms = "transaction", int(state["time"])
        row.producer_id, row.producer_epoch = int(state["id"]), int(state["epoch"])
        row.detail = " ".join([state["state"], *filter(None, state["partitions"].split(","))])
        return [row]
    return []


def _known(value: int) -> int | None:
    return None if value < 0 else value


def read(path: Path, reading: Reading) -> Iterator[Observation]:
    """Lines that the tool does not write are counted as unknown."""
    file = str(path)
    dump = _Dump(file)
    for line in lines(path, reading):
        if isinstance(line, Observation):
            yield replace(line, source=SOURCE)
            continue
        try:
            rows = dump.rows(line)
        except (KeyError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}" if line.ended else "torn last line"
            rows = [unreadable(SOURCE, file, line.number, reason, line.text)]
        if rows is None:
            reading.unknown_lines[file] += 1
        else:
            yield from rows
    yield from dump.flush()


READERS: Final = [Reader(SOURCE, "output of kafka-dump-log", recognises, read)]
