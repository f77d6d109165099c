"""From when until when a log goes, and whose it is, whatever it says."""

import mmap
from collections.abc import Iterable
from datetime import tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from ...dumps.files import Line, mapped
from .files import LogSpan, Reading, head, readable
from .log_entries import Entry, entry

CONTROLLER: Final = "controller"
BROKER: Final = "broker"
JAVA: Final = "java"
_WORDS: Final = {
    # What tells of elections and topics: neither a broker's own log, nor a client's.
    CONTROLLER: ("[QuorumController id=", "[Controller id=", "kafka.controller."),
    # The log of its partitions and groups: not log-cleaner.log, nor state-change.log.
    BROKER: ("[Partition ", "[ReplicaManager", "[UnifiedLog partition=", "[Log partition="),
    # The only clients that tell of leader epochs.
    JAVA: ("org.apache.kafka.clients.", "[Consumer clientId="),
}
TAIL: Final = 1 << 16
"""Bytes."""


def note(spans: dict[str, LogSpan], file: str, found: Entry) -> None:
    """Adds an entry to what is known of its file."""
    span = spans.get(file)
    if span is None:
        span = spans[file] = LogSpan(found.time_ms, found.time_ms)
    span.from_ms, span.to_ms = min(span.from_ms, found.time_ms), max(span.to_ms, found.time_ms)
    for name, words in _WORDS.items():
        if name not in span.of and any(word in found.line for word in words):
            span.of.add(name)


def note_ends(path: Path, reading: Reading) -> bool:
    """Notes the span of a log by its first and last lines; False if it is compressed, or wrapped.

    PipelineError.
    """
    first = head(path)
    if first.compressed or first.wrapped:
        return False
    with readable(path), mapped(path) as data:
        part = ends(path, data, 0, len(data), reading.timezone)
    note_parts(str(path), [part], reading)
    return True


class Ends(NamedTuple):
    """The times of the first and last lines of a log that are in a part of it, and whose log that says it
    is."""

    times_ms: list[int]
    of: set[str]


def ends(path: Path, data: mmap.mmap | bytes, start: int, end: int, timezone: tzinfo) -> Ends:
    """Of the part from `start` to before `end`, which is `data`. PipelineError."""
    lines = list(head(path).lines) if start == 0 else []
    size = path.stat().st_size
    if end >= size > 0:
        with path.open("rb") as file:
            file.seek(max(size - TAIL, 0))
            lines += file.read().decode(errors="replace").splitlines()
    own = Reading(timezone)
    times_ms = [found.time_ms for line in lines if (found := entry(Line(0, line, True), own))]
    of = {name for name, words in _WORDS.items() if any(data.find(each.encode()) >= 0 for each in words)}
    return Ends(times_ms, of)


def note_parts(file: str, parts: Iterable[Ends], reading: Reading) -> None:
    """Notes the span of a log, of what its parts say."""
    times_ms, of = list[int](), set[str]()
    for part in parts:
        times_ms += part.times_ms
        of |= part.of
    if times_ms:
        reading.spans[file] = LogSpan(min(times_ms), max(times_ms), of)
