"""Checkpoint files of a broker's data folder: leader epochs of a log, offsets of all partitions, and the id
of a partition's topic.

`leader-epoch-checkpoint` is recognised by its lines, the others also by their names, because their lines look
the same.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...dumps.files import Head, Line
from ...dumps.segments import place_of
from ..observations import Observation
from .files import Reading, lines, readable, unreadable
from .registry import Reader

SOURCE: Final = "checkpoint"
_EPOCHS: Final = re.compile(r"0\n(?P<count>\d+)\n(?:\d+ \d+\n)*(?:\d+ ?\d*)?")
_OFFSETS: Final = re.compile(r"0\n(?P<count>\d+)\n(?:[\w.-]+ \d+ -?\d+\n)*(?:[\w.-]+ ?\d* ?-?\d*)?")
_KINDS: Final = {
    "replication-offset-checkpoint": "high-watermark",
    "log-start-offset-checkpoint": "log-start",
}
_FIRST_ENTRY: Final = 3
_METADATA: Final = "partition.metadata"
_ID_AT: Final = 2
"""The line of the id."""
_ID: Final = re.compile(r"version: 0\ntopic_id: (?P<id>[\w-]{22})\n?")


def recognises(head: Head) -> bool:
    if head.path.name == _METADATA:
        return bool(_ID.fullmatch(head.text))
    if head.path.name in _KINDS:
        return bool(_OFFSETS.fullmatch(head.text))
    return "epoch" in head.path.name and bool(_EPOCHS.fullmatch(head.text))


def read(path: Path, reading: Reading) -> Iterator[Observation]:
    """Kafka writes the number of entries: a file that has fewer is torn."""
    if path.name == _METADATA:
        yield from _topic_id(path)
        return
    kind = _KINDS.get(path.name, "leader")
    said, found, last = 0, 0, 0
    for line in lines(path, reading):
        if isinstance(line, Observation):
            yield line
            return
        last = line.number
        if line.number == _FIRST_ENTRY - 1:
            said = int(line.text) if line.text.isdecimal() else -1
        elif line.number >= _FIRST_ENTRY:
            found += 1
            yield _entry(line, kind, path)
    if found != said:
        yield unreadable(SOURCE, str(path), last, f"torn: {found} entries of {max(said, 0)}")


def _topic_id(path: Path) -> Iterator[Observation]:
    with readable(path):
        said = _ID.fullmatch(path.read_text(encoding="utf-8"))
    topic, partition = place_of(path)
    # A folder that waits for its deletion has another name.
    if said is not None and topic is not None and path.absolute().parent.name == f"{topic}-{partition}":
        yield Observation("topic-id", SOURCE, str(path), _ID_AT, topic=topic, detail=said["id"])


def _entry(line: Line, kind: str, path: Path) -> Observation:
    row = Observation(kind, SOURCE, str(path), line.number, text=line.text)
    parts = line.text.split()
    try:
        if kind == "leader":
            row.topic, row.partition = place_of(path)
            row.leader_epoch, row.offset = map(int, parts)
            row.detail = "the epoch's first offset"
        else:
            row.topic, row.partition, row.offset = parts[0], int(parts[1]), int(parts[2])
    except (ValueError, IndexError):
        return unreadable(SOURCE, str(path), line.number, "torn line", line.text)
    return row


READERS: Final = [Reader(SOURCE, "checkpoint of a broker's data folder", recognises, read)]
