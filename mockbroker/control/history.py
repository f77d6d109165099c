"""All that happened in a cluster, as lines of JSON in temporary files: the console goes back there further
than the trace is kept in memory. An event is written once, however many pages read it.

A block is what was written at once: at most so many lines of a trace file. Each keyframe begins one.
Beside them it keeps what a page needs that can't read everything: see `Latest`.
"""

import bisect
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import IO, TYPE_CHECKING, Final

import trio

from ..trace.as_json import as_json
from ..trace.events import Keyframe
from .latest import Latest

if TYPE_CHECKING:
    from ..trace import Event

MOST_BYTES: Final = 1024 * 1024 * 1024
"""The oldest events are forgotten where there is more."""
_FILES: Final = 8
"""In so many files, of which the oldest is forgotten as a whole."""
_LINES: Final = 1_000
_FIRST: Final = attrgetter("first")


@dataclass(slots=True)
class _Block:
    """`first` is the number of its first event, which happened at `time_ms`."""

    first: int
    time_ms: int
    keyframe: bool
    file: IO[bytes]
    at: int
    size: int


class History:
    """The events that a trace tells it as a listener. The files have no names: nothing is left of them once
    they are closed. To be used in the trio thread only."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._files: list[IO[bytes]] = []
        self._blocks: list[_Block] = []
        self._lines: list[bytes] = []
        self._head = (1, 0, False)
        """The first event of those that are not in a file yet, its time, and whether it is a keyframe."""
        self._at = self._size = 0
        self._latest = Latest()
        self._came = trio.Event()
        self._awaited = False

    def __call__(self, event: "Event") -> None:
        """OSError if it can't be written."""
        is_keyframe = event.kind == Keyframe.kind
        if self._lines and (is_keyframe or len(self._lines) >= _LINES):
            self._write()
        if not self._lines:
            self._head = event.number, event.time_ms, is_keyframe
        line = as_json(event).encode() + b"\n"
        self._lines.append(line)
        self._latest(event, line)
        if self._awaited:
            self._awaited = False
            self._came.set()
            self._came = trio.Event()

    def _write(self) -> None:
        data = b"".join(self._lines)
        if not self._files or self._at >= self._most_bytes // _FILES:
            self._files.append(tempfile.TemporaryFile())  # noqa: SIM115 - closed by `close`
            self._at = 0
        self._files[-1].write(data)
        self._files[-1].flush()
        self._blocks.append(_Block(*self._head, self._files[-1], self._at, len(data)))
        self._lines.clear()
        self._at += len(data)
        self._size += len(data)
        if self._size > self._most_bytes and len(self._files) > 1:
            oldest = self._files.pop(0)
            self._size -= sum(each.size for each in self._blocks if each.file is oldest)
            self._blocks = [each for each in self._blocks if each.file is not oldest]
            oldest.close()

    def close(self) -> None:
        for each in self._files:
            each.close()

    @property
    def first(self) -> int:
        """The number of the oldest event that is there."""
        return self._blocks[0].first if self._blocks else self._head[0]

    @property
    def last(self) -> int:
        return self._head[0] + len(self._lines) - 1

    @property
    def moments(self) -> list[tuple[int, int]]:
        """The numbers of some events, each with the time in ms at which it happened: the oldest of them, and
        at least one of a thousand."""
        head = [self._head[:2]] if self._lines else []
        return [(each.first, each.time_ms) for each in self._blocks] + head

    async def came(self) -> None:
        """Waits for the next event."""
        self._awaited = True
        await self._came.wait()

    def after(self, number: int) -> tuple[int, bytes]:
        """Lines of events after this one, or after those that are gone, and the number of the last of them;
        nothing if there are none yet."""
        if number >= self._head[0] - 1:
            return self.last, b"".join(self._lines[number + 1 - self._head[0] :])
        place = max(bisect.bisect_right(self._blocks, number + 1, key=_FIRST) - 1, 0)
        block = self._blocks[place]
        data = os.pread(block.file.fileno(), block.size, block.at)
        end = self._blocks[place + 1].first if place + 1 < len(self._blocks) else self._head[0]
        if (known := number + 1 - block.first) > 0:
            data = data.split(b"\n", known)[known]
        return end - 1, data

    def summary(self, number: int) -> tuple[int, bytes]:
        """As `after`, up to the newest event, without what was superseded meanwhile."""
        return self.last, self._latest.after(number)

    def keyframe(self, number: int) -> int:
        """From which event on the state at this one can be told: the last keyframe until then, or else the
        first event that is there."""
        if self._head[2] and self._lines and self._head[0] <= number:
            return self._head[0]
        until = self._blocks[: bisect.bisect_right(self._blocks, number, key=_FIRST)]
        return next((each.first for each in reversed(until) if each.keyframe), self.first)

    def between(self, first: int, last: int) -> Iterator[bytes]:
        """Lines, in parts, from the keyframe before an event up to another one."""
        number = self.keyframe(first) - 1
        while number < min(last, self.last):
            number, data = self.after(number)
            if number > last:
                data = b"".join(data.splitlines(keepends=True)[: last - number])
            yield data
