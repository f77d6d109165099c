"""The offsets topic from output of `kafka-dump-log --offsets-decoder`: batches are written anew."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from ..errors import OptionError
from ..protocol.batch_writing import Marker, marker_batch
from ..protocol.offsets_log import CommitKey, GroupKey
from ..protocol.record_batch import TRANSACTIONAL, Record, header_of, place
from .decoded import of_dump
from .dump_log import Damage, DumpedBatch, DumpedRecord, Dumping, DumpParser, Starting
from .files import DamagedError, lines
from .offsets_topic import OFFSETS, OffsetsTopic, Segment
from .rebuilding import Bounds, key_and_value, rebuilt
from .segments import Place

_MALFORMED: Final = (KeyError, TypeError, ValueError, AttributeError)


def read(path: Path, topic: OffsetsTopic, progress: Callable[[int], None]) -> None:
    """Adds what a file shows. OptionError, OSError."""
    dump, parser, done, number = _Dump(topic), DumpParser(), 0, 0
    try:
        for line in lines(path):
            number, text, ended = line
            try:
                for item in parser.items(text):
                    dump.take(item)
            except OptionError:
                raise
            except _MALFORMED as error:
                reason = (
                    f"it can't be read: {error}" if ended else "it is cut short: dump again, or remove it"
                )
                raise OptionError(reason) from None
            done += len(text) + 1
            progress(done)
    except DamagedError as error:
        raise OptionError(f"{path}: {error}") from None
    except OptionError as error:
        raise OptionError(f"{path}, line {number}: {error}") from None
    dump.end()
    if not dump.decoded:
        raise OptionError(
            f"{path} shows no decoded records: dump the segments with `kafka-dump-log --offsets-decoder`"
        )


class _Dump:
    def __init__(self, topic: OffsetsTopic) -> None:
        self.decoded = 0
        self._topic = topic
        self._place = Place(None, None)
        self._base_offset: int | None = None
        self._group: str | None = None
        self._batch: DumpedBatch | None = None
        self._records: list[Record] = []
        self._marker: DumpedRecord | None = None
        self._batches: list[bytearray] = []

    def take(self, item: Dumping | Starting | DumpedBatch | DumpedRecord | Damage) -> None:
        match item:
            case Dumping(found):
                if found.topic not in (None, OFFSETS):
                    raise OptionError(f"this is of {found.topic}-{found.partition}, not of {OFFSETS}")
                self.end()
                self._place = found
            case Starting(offset):
                self._base_offset = offset
            case DumpedBatch():
                self._end_batch()
                self._batch = item
            case DumpedRecord():
                self._take_record(item)
            case Damage(reason):
                raise OptionError(f"{reason}: dump it again, from a segment that is whole")

    def _take_record(self, item: DumpedRecord) -> None:
        if item.committed is not None:
            self._marker = item
            return
        entry = None if item.key is None else of_dump(item.key, item.value)
        if entry is None:
            self._topic.left_out += 1
            return
        self.decoded += 1
        if self._group is None and isinstance(entry.key, CommitKey | GroupKey):
            self._group = entry.key.group
        made = key_and_value(entry, item.time_ms)
        if made is None:
            self._topic.left_out += 1
            return
        record = Record(item.offset, item.time_ms, *made)
        self._records.append(record)
        self._topic.saw(*made, self._place.partition)

    def _end_batch(self) -> None:
        batch, self._batch = self._batch, None
        if batch is None:
            return
        if batch.control and self._marker is not None and batch.transactional:
            marker = Marker(
                batch.producer_id,
                batch.producer_epoch,
                bool(self._marker.committed),
                max(0, self._marker.coordinator_epoch),
            )
            made = marker_batch(marker, batch.time_ms)
            place(made, batch.base_offset, batch.leader_epoch)
        else:
            made = rebuilt(_bounds(batch), self._records)
        self._batches.append(made)
        self._topic.last_ms = max(self._topic.last_ms, header_of(made).max_timestamp)
        self._records, self._marker = [], None

    def end(self) -> None:
        """The dump of a segment is over."""
        self._end_batch()
        batches, self._batches = self._batches, []
        base_offset, self._base_offset = self._base_offset, None
        group, self._group = self._group, None
        if not batches:
            return
        if base_offset is None:
            base_offset = int.from_bytes(batches[0][:8])
        segment = Segment(base_offset, batches, "the dump")
        if self._place.partition is not None:
            self._topic.add(self._place.partition, segment)
        elif group is not None:
            self._topic.unplaced.append((group, segment))


def _bounds(batch: DumpedBatch) -> Bounds:
    return Bounds(
        batch.base_offset,
        batch.last_offset,
        batch.leader_epoch,
        TRANSACTIONAL * batch.transactional,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.time_ms,
    )
