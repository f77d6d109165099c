"""From when until when a log goes, and whose it is, whatever it says."""

import mmap
from pathlib import Path
from typing import Final

from ...dumps.files import Line
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
_TAIL: Final = 1 << 16


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
    with readable(path), path.open("rb") as file:
        if not path.stat().st_size:
            return True
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            own = Reading(reading.timezone)
            lines = [*first.lines, *data[-_TAIL:].decode(errors="replace").splitlines()]
            times = [found.time_ms for line in lines if (found := entry(Line(0, line, True), own))]
            of = {
                name for name, words in _WORDS.items() if any(data.find(each.encode()) >= 0 for each in words)
            }
    if times:
        reading.spans[str(path)] = LogSpan(min(times), max(times), of)
    return True
