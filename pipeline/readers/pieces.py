"""Logs of brokers and clients in pieces; of a broker's only those entries are parsed that may say something.

An entry belongs to the piece in which its first line begins. What pieces tell, one after the other, makes the
same rows as the whole file. Lines are searched as one Arrow array, by RE2: Python takes some 30 µs for each.
"""

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

from ...dumps.files import LONGEST_LINE, Head, Line
from ..observations import Observation
from .complaints import LOUD, Judge, Verdict, loud
from .files import LONGEST, Reading, readable
from .log_entries import MOST_MORE, Entry, entry
from .log_spans import Ends, ends, note_parts
from .log_times import begins
from .logs import BROKER, OF_CLIENTS, STATE_TEXTS, TABLES, Said, about, joined, said
from .shapes import Shapes

_WORDS: Final = "|".join(
    sorted(
        {re.escape(made.text) for table in TABLES for made in table.messages} | {*map(re.escape, STATE_TEXTS)}
    )
)
# It may match where `begins` doesn't: of characters that are not ASCII, RE2 sees bytes.
_START: Final = (
    r"^[^0-9A-Za-z_]{0,12}(?:(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)[^0-9A-Za-z_]+|[\w-]{1,30}[\]:] )?\[?"
    r"\d{4}(?:-\d\d-|/\d\d/)\d\d[T ]\d\d:\d\d:\d\d"
)
_LOUD: Final = "|".join((*LOUD, "%[0-4][|]"))
_ZONE: Final = _START + r"(?:[.,]\d{1,9})?\s?(?:Z|UTC|[+-]\d\d:?\d\d)\b"
# One pattern for each text with which it begins: these are searched for quickly.
_OWN_IDS: Final = (
    "broker(?:Id)?=",
    "replicaId=",
    *(
        f"{name}(?: id=| )"
        for name in ("Coordinator", "KafkaServer", "BrokerServer", "Broker", "State Manager")
    ),
)


@dataclass(slots=True)
class Told:
    """What a piece tells: the entries that may say something, numbered from the piece's first line, and the
    counts of `Reading`; `cut` and `shapes` count lines from 1. `ended` is false if the last line has no
    newline. `without_zone` includes dates that don't exist."""

    said: list[Said]
    lines: int
    unknown_lines: int
    without_zone: int
    ended: bool
    cut: list[int]
    shapes: Shapes
    ends: Ends


def can_cut(head: Head) -> bool:
    """Whether the entries of a log begin where its lines begin, uncompressed and not wrapped."""
    return not head.compressed and not head.wrapped and any(map(begins, head.lines))


def cuts(path: Path, size: int) -> list[int]:
    """Where the pieces of some `size` bytes begin, each at a line's start. PipelineError."""
    with readable(path), path.open("rb") as file:
        whole, starts = path.stat().st_size, [0]
        while starts[-1] + size < whole:
            file.seek(starts[-1] + size - 1)
            while (line := file.readline(LONGEST_LINE)) and not line.endswith(b"\n"):
                pass
            if file.tell() >= whole:
                break
            starts.append(file.tell())
    return starts


def told(path: Path, start: int, end: int, reading: Reading, source: str = BROKER) -> Told:
    """What the piece from `start` to before `end` tells; both are a line's start. PipelineError."""
    with readable(path), path.open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
        after = b"".join(_up_to_entry(file)) if data.endswith(b"\n") else b""
        at_ends = ends(path, data, start, end, reading.timezone)
    piece, shapes = _Piece(data + after, Reading(reading.timezone)), Shapes()
    lines = piece.line_at(len(data))
    kept = (_of_broker if source == BROKER else _of_client)(piece, shapes, str(path))
    of_entries = sum(1 + len(each.entry.more) for each in kept.values())
    return Told(
        [kept[number] for number in sorted(kept)],
        lines,
        lines - of_entries,
        len(piece.starts) - len(piece.matching(_ZONE)),
        not data or data.endswith(b"\n"),
        [number + 1 for number in piece.long(lines)],
        shapes,
        at_ends,
    )


def _of_broker(piece: "_Piece", shapes: Shapes, file: str) -> dict[int, Said]:
    """By the number of their first line, from 0."""
    judge = Judge()
    kept = {number: said(found, judge) for number, found in piece.entries(piece.telling())}
    for number, begun in piece.loud():
        if number not in kept:
            shape, verdict = judge.judged(begun, is_loud=True)
            if verdict is Verdict.UNKNOWN:
                shape, verdict = judge.judged(begun := piece.whole(begun), is_loud=True)
            if verdict is Verdict.UNKNOWN:
                shapes.saw(shape, file, number + 1, begun.line)
            elif verdict is Verdict.COMPLAINT and judge.once_more(shape):
                kept[number] = said(piece.whole(begun), judge)
    return kept | {
        number: each if (each := kept.get(number)) else Said(found, [], about(found))
        for number, found in piece.own_ids()
    }


def _of_client(piece: "_Piece", shapes: Shapes, file: str) -> dict[int, Said]:
    """The same, of all entries: what clients complain of they also tell at INFO."""
    judge, kept, named = Judge(quiet=True), dict[int, Said](), dict[str, set[Any]]()
    for number, found in piece.entries(piece.starts):
        made = said(found, judge)
        if made.unknown:
            shapes.saw(made.shape, file, found.number, found.line)
            made.unknown = False
        says = made.found or any(text in found.message for text in STATE_TEXTS)
        if _names(made, named) or says:
            kept[number] = made
    return kept


def _names(made: Said, named: dict[str, set[Any]]) -> bool:
    """Whether an entry is the first one that names a client or a group, or the first that names another
    one."""
    is_new = False
    for name in OF_CLIENTS & made.about.keys():
        values = named.setdefault(name, set())
        if len(values) < 2 and made.about[name] not in values:
            values.add(made.about[name])
            is_new = True
    return is_new


def _up_to_entry(file: IO[bytes]) -> Iterator[bytes]:
    """The lines that continue the entry before them, as many as are searched."""
    for _ in range(MOST_MORE):
        data = file.readline(LONGEST_LINE)
        if entry(Line(0, data.decode(errors="replace"), True), Reading()) is not None:
            return
        yield data


@dataclass
class _Piece:
    """Bytes of whole lines."""

    data: bytes
    reading: Reading
    _begun: dict[int, Entry | None] = field(default_factory=dict)

    @cached_property
    def _offsets(self) -> Any:
        """Where lines begin, and where the last one ends; numbers of NumPy."""
        import numpy as np

        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n")) + 1
        if self.data and not self.data.endswith(b"\n"):
            ends = np.append(ends, len(self.data))
        offsets = np.concatenate(([0], ends))
        for line in np.flatnonzero(np.diff(offsets) > LONGEST_LINE):
            parts = np.arange(offsets[line], offsets[line + 1], LONGEST_LINE)
            offsets = np.union1d(offsets, parts)
        return offsets

    def line_at(self, place: int) -> int:
        """The number of the line to which a byte belongs; for the place after the last byte, of all lines."""
        import numpy as np

        return int(np.searchsorted(self._offsets, place, side="right")) - 1

    @cached_property
    def _array(self) -> Any:
        import numpy as np
        import pyarrow as pa

        offsets = pa.py_buffer(self._offsets.astype(np.int64))
        count = len(self._offsets) - 1
        return pa.Array.from_buffers(pa.large_binary(), count, [None, offsets, pa.py_buffer(self.data)])

    def matching(self, pattern: str) -> Any:
        """The numbers of the lines, from 0, that match a pattern of RE2's."""
        import numpy as np
        import pyarrow.compute as pc

        return np.flatnonzero(pc.match_substring_regex(self._array, pattern).to_numpy(zero_copy_only=False))

    @cached_property
    def starts(self) -> Any:
        """The numbers of the lines with which entries may begin."""
        return self.matching(_START)

    def entries(self, lines: Any) -> Iterator[tuple[int, Entry]]:
        """The entries to which lines belong, by the number of their first line."""
        import numpy as np

        before = np.searchsorted(self.starts, lines, side="right") - 1
        done = -1
        for line, index in zip(lines.tolist(), before.tolist(), strict=True):
            begun = None
            while index >= 0 and (begun := self._begin(int(self.starts[index]))) is None:
                index -= 1
            if begun is not None and done < begun.number and line < begun.number + MOST_MORE:
                done = begun.number
                yield begun.number - 1, replace(begun, more=list(self._more(begun, index)))

    def telling(self) -> Any:
        """The numbers of the lines that may tell something, by their words."""
        return self.matching(_WORDS)

    def loud(self) -> Iterator[tuple[int, Entry]]:
        """The entries at WARN and above, without the lines that continue them, by the number of their first
        line."""
        for number in self.matching(_LOUD).tolist():
            if (begun := self._begin(number)) is not None and loud(begun):
                yield number, begun

    def whole(self, begun: Entry) -> Entry:
        """An entry with the lines that continue it."""
        import numpy as np

        index = int(np.searchsorted(self.starts, begun.number - 1))
        return replace(begun, more=list(self._more(begun, index)))

    def _begin(self, number: int) -> Entry | None:
        """The entry that begins at a line, without those that continue it."""
        if number not in self._begun:
            self._begun[number] = entry(Line(number + 1, self._line(number), True), self.reading)
        return self._begun[number]

    def _more(self, begun: Entry, index: int) -> Iterator[str]:
        for number in range(begun.number, min(begun.number + MOST_MORE, len(self._offsets) - 1)):
            if index + 1 < len(self.starts) and number == self.starts[index + 1]:
                index += 1
                if self._begin(number) is not None:
                    return
            yield self._line(number)

    def long(self, lines: int) -> list[int]:
        """The numbers of those of the first `lines` lines that are cut."""
        import numpy as np

        long = np.flatnonzero(np.diff(self._offsets[: lines + 1]) > LONGEST)
        return [number for number in long.tolist() if len(self._whole(number)) > LONGEST]

    def _line(self, number: int) -> str:
        return self._whole(number)[:LONGEST]

    def _whole(self, number: int) -> str:
        data = self.data[self._offsets[number] : self._offsets[number + 1]]
        return data.decode(errors="replace").rstrip("\r\n")

    def own_ids(self) -> Iterator[tuple[int, Entry]]:
        """The first entry that names the broker whose log it is, and the first that names another one."""
        import numpy as np

        known: int | None = None
        number = -1
        while True:
            other = "" if known is None else rf"(?!{known}\b)"
            places = (self._places(f"{each}{other}[0-9]".encode(), number + 1) for each in _OWN_IDS)
            for place in heapq.merge(*places):
                number = self.line_at(place)
                found = next(self.entries(np.array([number])), None)
                if found is None or found[0] != number:
                    continue
                named = about(found[1]).get("broker")
                if named is not None and named != known:
                    yield found
                    break
            else:
                return
            if known is not None:
                return
            known = named

    def _places(self, pattern: bytes, line: int) -> Iterator[int]:
        return (each.start() for each in re.compile(pattern).finditer(self.data, int(self._offsets[line])))


def rows(source: str, file: str, pieces: Iterable[Told], reading: Reading) -> Iterator[Observation]:
    """The rows of a log, of all its pieces in their order."""
    parts: list[Ends] = []
    yield from joined(source, file, _numbered(file, pieces, parts, reading), reading)
    note_parts(file, parts, reading)


def _numbered(file: str, pieces: Iterable[Told], parts: list[Ends], reading: Reading) -> Iterator[Said]:
    before = 0
    for piece in pieces:
        parts.append(piece.ends)
        for each in piece.said:
            each.entry.number += before
            yield each
        for shape, found in piece.shapes.known.items():
            found.file = file
            found.position += before
            reading.shapes.add(shape, found)
        if piece.cut:
            reading.cut.setdefault(file, []).extend(before + number for number in piece.cut)
        before += piece.lines
        reading.unknown_lines[file] += piece.unknown_lines
        reading.without_zone += piece.without_zone
        if not piece.ended:
            reading.unfinished.append(file)
    reading.lines[file] += before
