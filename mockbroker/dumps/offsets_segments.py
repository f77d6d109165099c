"""The offsets topic from log segments, whose batches stay as they are."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from ..errors import OptionError
from ..protocol.record_batch import CONTROL, header_of, pairs
from .files import mapped
from .offsets_topic import OFFSETS, OffsetsTopic, Segment
from .rebuilding import Bounds, rebuilt
from .scanning import Span, scan
from .segments import place_of, records_of

_NAME: Final = re.compile(r"(\d{20})\.log.*")
_SET_ASIDE: Final = "zeros"


def read(path: Path, topic: OffsetsTopic, progress: Callable[[int], None]) -> None:
    """Adds what a file shows. OptionError, OSError."""
    place = place_of(path)
    if place.partition is None:
        raise OptionError(
            f"{path}: the name of its folder does not say which partition it is of: put it into a folder "
            f"{OFFSETS}-N"
        )
    if place.topic != OFFSETS:
        raise OptionError(f"{path} is of {place.topic}-{place.partition}, not of {OFFSETS}")
    batches: list[bytearray] = []
    with mapped(path) as data:
        for span in scan(data):
            if span.reason.startswith(_SET_ASIDE) and span.position + span.size == len(data):
                break
            if span.reason:
                raise OptionError(_damage(path, span))
            try:
                made = list(_batches(span))
                for batch in made:
                    _look(batch, topic, place.partition)
            except (ValueError, IndexError) as error:
                raise OptionError(
                    f"{path}: the batch at byte {span.position} can't be read: {error}"
                ) from None
            batches += made
            progress(span.position + span.size)
    named = _NAME.fullmatch(path.name)
    first = header_of(batches[0]).base_offset if batches else 0
    topic.add(place.partition, Segment(int(named[1]) if named else first, batches, str(path)))


def _batches(span: Span) -> Iterator[bytearray]:
    """The batch as it is; messages of the old formats become batches of one record each."""
    if span.magic == 2:
        yield bytearray(span.data)
        return
    for record in records_of(span):
        yield rebuilt(Bounds(record.offset, record.offset), [record])


def _look(batch: bytearray, topic: OffsetsTopic, partition: int) -> None:
    header = header_of(batch)
    topic.last_ms = max(topic.last_ms, header.max_timestamp)
    if not header.attributes & CONTROL:
        for _, key, value in pairs(header, batch):
            topic.saw(key, value, partition)


def _damage(path: Path, span: Span) -> str:
    return (
        f"{path}: {span.reason}, at byte {span.position}: copy it again, from a broker that is stopped, or "
        f"leave out what follows (`truncate -s {span.position} FILE`, on a copy)"
    )
