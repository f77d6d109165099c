"""librdkafka's own log: `%LEVEL|SECONDS|FACILITY|CLIENT| text`, as it prints to stderr; the thread, which
begins the text, may be missing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...dumps.files import Head
from ..observations import Observation
from .complaints import Judge, Verdict
from .files import Reading, log_lines
from .librdkafka_messages import TABLE, client
from .log_entries import Entry
from .registry import Reader

SOURCE: Final = "librdkafka-log"
_LINE: Final = re.compile(r"%[0-7]\|(?P<s>\d{9,11})\.(?P<ms>\d{3})\|[A-Z0-9_]+\|[^|]*\|:? ")


def recognises(head: Head) -> bool:
    return any(map(_LINE.match, head.lines))


def read(path: Path, reading: Reading) -> Iterator[Observation]:
    file, judge = str(path), Judge()
    for line in log_lines(path, reading):
        if isinstance(line, Observation):
            line.source = SOURCE
            yield line
            continue
        found = _LINE.match(line.text)
        if found is None:
            reading.unknown_lines[file] += 1
            continue
        entry = Entry(line.number, int(found["s"]) * 1000 + int(found["ms"]), line.text, line.text)
        words = set(entry.message.split())
        rows = [values for each in TABLE.rows(entry, entry.message, words) for values in each]
        if not rows:
            shape, verdict = judge.judged(entry)
            if verdict is Verdict.UNKNOWN:
                reading.shapes.saw(shape, file, line.number, entry.line)
            elif verdict is Verdict.COMPLAINT and judge.once_more(shape):
                rows = [judge.row(entry)]
        if not rows:
            reading.unknown_lines[file] += 1
        for values in rows:
            row = Observation(values.pop("kind"), SOURCE, file, line.number, entry.time_ms, text=entry.text)
            row.client = client(entry)
            for name, value in values.items():
                if name in Observation.__slots__:
                    setattr(row, name, value)
            yield row


READERS: Final = [Reader(SOURCE, "log of librdkafka", recognises, read)]
