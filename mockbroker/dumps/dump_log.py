"""Output of `kafka-dump-log`, from 0.11 to 4.x: batches, records, and decoded records."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from .files import Head
from .segments import Place, place_of

_DUMPING: Final = re.compile(r"Dumping (?P<path>.+)")
_STARTING: Final = re.compile(r"(?:Log s|S)tarting offset: (?P<offset>\d+)")
_BATCH: Final = re.compile(r"baseOffset: \d+ lastOffset: \d+ ")
_OLD: Final = re.compile(r"offset: \d+ position: \d+ ")
_RECORD: Final = re.compile(r"(?:\| |baseOffset: \d+ lastOffset: \d+ .*? )?offset: (?P<offset>\d+) ")
_CUT_OFF: Final = re.compile(r"Found (?P<size>\d+) invalid bytes at the end of (?P<name>\S+)")
_PAIR: Final = re.compile(r"\b(\w+): (\S+)")
_TIME: Final = re.compile(r"(?:CreateTime|LogAppendTime): (-?\d+)")
_MARKER: Final = re.compile(r"endTxnMarker: (?P<end>\w+)(?: coordinatorEpoch: (?P<epoch>\d+))?")
_DECODED: Final = re.compile(r" key: (?P<key>.*?)(?: payload: (?P<value>.*))?$")
_KEY_SIZE: Final = "keysize"
_NONE: Final = -1


class Dumping(NamedTuple):
    """The name of the segment that the following lines are about."""

    place: Place


class Starting(NamedTuple):
    """The first offset of the segment, by its name."""

    offset: int


class DumpedBatch(NamedTuple):
    """A batch, or a message of an old format: `time_ms`, epochs, producer and sequence are -1 if there are
    none, and `codec` is empty."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    time_ms: int
    transactional: bool
    control: bool
    codec: str


class DumpedRecord(NamedTuple):
    """A record of the batch before it: key and value as the tool prints them, or the end of a transaction, of
    which old tools don't say the coordinator's epoch."""

    offset: int
    time_ms: int
    key: str | None
    value: str | None
    committed: bool | None
    coordinator_epoch: int


class Damage(NamedTuple):
    """What the tool found wrong with the segment."""

    reason: str
    time_ms: int


Item = Dumping | Starting | DumpedBatch | DumpedRecord | Damage


def recognises(head: Head) -> bool:
    return any(_BATCH.match(each) or _OLD.match(each) for each in head.lines[:50]) or any(
        _DUMPING.match(each) for each in head.lines[:3]
    )


def is_of_other(head: Head, topic: str) -> bool:
    """Whether the first segment of a dump is of another topic than this."""
    found = next(filter(None, map(_DUMPING.match, head.lines)), None)
    return found is not None and _place(found["path"]).topic not in (None, topic)


def _place(path: str) -> Place:
    """Topic and partition, if the tool was given the name of the folder."""
    return place_of(Path("/", path))


class DumpParser:
    """Reads one dump, line by line."""

    def __init__(self) -> None:
        self._within = False

    def items(self, text: str) -> list[Item]:
        """What a line says; nothing if the tool does not write such a line. KeyError or ValueError."""
        if found := _DUMPING.match(text):
            return [Dumping(_place(found["path"]))]
        if _BATCH.match(text) or _OLD.match(text):
            return self._batch(text)
        if self._within and (found := _RECORD.match(text)):
            return [_record(text, int(found["offset"]))]
        if found := _CUT_OFF.match(text):
            self._within = False
            reason = f"truncated tail: {found['size']} invalid bytes at the end of {found['name']}"
            return [Damage(reason, _NONE)]
        if found := _STARTING.match(text):
            return [Starting(int(found["offset"]))]
        return []

    def _batch(self, text: str) -> list[Item]:
        self._within = False
        said = dict(_PAIR.findall(text))
        time_ms = _time(text)
        if said.get("isvalid", "true") != "true":
            reason = f"wrong CRC {said.get('crc', '?')} at byte {said.get('position', '?')}"
            return [Damage(reason, time_ms)]
        first = int(said["baseOffset"] if "baseOffset" in said else said["offset"])
        codec = said.get("compresscodec", "none").lower()
        batch = DumpedBatch(
            first,
            int(said.get("lastOffset", first)),
            int(said.get("partitionLeaderEpoch", _NONE)),
            int(said.get("producerId", _NONE)),
            int(said.get("producerEpoch", _NONE)),
            int(said.get("baseSequence") or said.get("sequence", _NONE)),
            time_ms,
            said.get("isTransactional") == "true",
            said.get("isControl") == "true" or _MARKER.search(text) is not None,
            "" if codec in ("none", "nocompressioncodec") else codec,
        )
        self._within = True
        # Before 2.0 a line is about a record and its batch.
        return [batch, _record(text, first)] if _KEY_SIZE in said else [batch]


def _record(text: str, offset: int) -> DumpedRecord:
    time_ms = _time(text)
    if marker := _MARKER.search(text):
        epoch = int(marker["epoch"] or _NONE)
        return DumpedRecord(offset, time_ms, None, None, marker["end"] == "COMMIT", epoch)
    found = _DECODED.search(text)
    if found is None:
        return DumpedRecord(offset, time_ms, None, None, None, _NONE)
    return DumpedRecord(offset, time_ms, found["key"], found["value"], None, _NONE)


def _time(text: str) -> int:
    found = _TIME.search(text)
    return int(found[1]) if found else _NONE
