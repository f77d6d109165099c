"""All that happened in a cluster, in temporary files: the console goes back there further than the trace is
kept in memory. Events are written as the values that they are made of, which costs a fraction of lines of
JSON; those are made of what pages read, once however many pages there are.

A block is what was written at once: at most so many events. Each keyframe begins one.
Of the last events there is a summary for a page that can't read everything: see `Latest`.
"""

import bisect
import io
import os
import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import IO, Any, Final

import trio

from ..trace.events import Keyframe
from ..trace.kept import Entry, Unread, values_of
from ..trace.looks import Snapshot
from .latest import AT_ONCE, Latest, Summary, line_of, parts_of

MOST_BYTES: Final = 1024 * 1024 * 1024
"""The oldest events are forgotten where there is more."""
_FILES: Final = 8
"""In so many files, of which the oldest is forgotten as a whole."""
_EVENTS: Final = 1_000
_PARTITIONS_AT_ONCE: Final = 150
"""Those whose state is pickled in about a millisecond."""
_PARTS_AT_ONCE: Final = 2
"""So many parts of blocks are written each time that events come, and more if many blocks wait."""
_MANY: Final = 8
_AT_HAND: Final = 64
"""So many blocks stay in memory, those written or read last: the trace keeps as many events, too."""
_MOST_DIGESTED: Final = 40_000
_FIRST: Final = attrgetter("first")
_KIND: Final = itemgetter(1)


@dataclass(slots=True)
class _Block:
    """`first` is the number of its first event, which happened at `time_ms`. `entries` are in memory, or else
    `size` bytes of `file`; of those that were read there are lines, by their place."""

    first: int
    time_ms: int
    keyframe: bool
    entries: list[Unread] | None
    lines: dict[int, bytes] = field(default_factory=dict)
    file: IO[bytes] | None = None
    at: int = 0
    size: int = 0


class History:
    """The events that a trace hands to it; `hand_over` has it do so at once, and with True also as soon as
    the next one comes. The files have no names: nothing is left of them once they are closed. To be used in
    the trio thread only."""

    def __init__(
        self, most_bytes: int = MOST_BYTES, hand_over: Callable[[bool], None] = lambda eagerly: None
    ) -> None:
        self._hand_over = hand_over
        self._most_bytes = most_bytes
        self._files: list[IO[bytes]] = []
        self._blocks: list[_Block] = []
        """The last one is not in a file yet."""
        self._entries: list[Unread] = []
        """Those of the last one."""
        self._at_hand: deque[_Block] = deque()
        self._at = self._size = 0
        self._unwritten: deque[_Block] = deque()
        self._writing: Iterator[None] = iter(())
        """Parts of the first of these."""
        self._latest = Latest()
        self._came = trio.Event()

    def __call__(self, entries: list[Entry]) -> None:
        """OSError if they can't be written."""
        given = values_of(entries)
        # Which are many only at the beginning.
        starts = []
        if Keyframe in map(_KIND, given[1:]):
            starts = [place for place, each in enumerate(given) if place and each[1] is Keyframe]
        for begin, end in pairwise([0, *starts, len(given)]):
            self._take(given[begin:end])
        for _ in range(_PARTS_AT_ONCE + len(self._unwritten) // _MANY):
            self._go_on_writing()
        came, self._came = self._came, trio.Event()
        came.set()

    def _take(self, entries: list[Unread]) -> None:
        """Of which at most the first is a keyframe."""
        while entries:
            room = _EVENTS - len(self._entries)
            first = entries[0]
            if not self._entries or not room or first[1] is Keyframe:
                if self._entries:
                    self._unwritten.append(self._blocks[-1])
                self._entries, room = [], _EVENTS
                self._blocks.append(_Block(first[0], first[2], first[1] is Keyframe, self._entries))
            self._entries += entries[:room]
            entries = entries[room:]

    def _go_on_writing(self) -> None:
        try:
            next(self._writing)
        except StopIteration:
            if self._unwritten:
                self._writing = self._write(self._unwritten.popleft())

    def _write(self, block: _Block) -> Iterator[None]:
        """In parts: the whole state of a large cluster takes longer than its clients like to wait."""
        assert block.entries is not None
        entries = block.entries
        last = entries[0][-1]
        if type(last) is Snapshot:
            found = [_pickled([(*entries[0][:-1], None), *entries[1:]])]
            for part in last.parts(_PARTITIONS_AT_ONCE):
                yield
                found.append(_pickled(part))
            data = b"".join(found)
        else:
            data = _pickled(entries)
        if not self._files or self._at >= self._most_bytes // _FILES:
            self._files.append(tempfile.TemporaryFile())  # noqa: SIM115 - closed by `close`
            self._at = 0
        file = self._files[-1]
        file.write(data)
        file.flush()
        block.file, block.at, block.size = file, self._at, len(data)
        self._keep_at_hand(block)
        self._at += len(data)
        self._size += len(data)
        if self._size > self._most_bytes and len(self._files) > 1:
            oldest = self._files.pop(0)
            self._size -= sum(each.size for each in self._blocks if each.file is oldest)
            self._blocks = [each for each in self._blocks if each.file is not oldest]
            oldest.close()

    def _keep_at_hand(self, block: _Block) -> None:
        self._at_hand.append(block)
        if len(self._at_hand) > _AT_HAND:
            other = self._at_hand.popleft()
            other.entries, other.lines = None, {}

    def _entries_of(self, block: _Block) -> list[Unread]:
        if block.entries is None:
            assert block.file is not None
            block.entries = _read(os.pread(block.file.fileno(), block.size, block.at))
            self._keep_at_hand(block)
        return block.entries

    def close(self) -> None:
        for each in self._files:
            each.close()

    @property
    def first(self) -> int:
        """The number of the oldest event that is there."""
        return self._blocks[0].first if self._blocks else 1

    @property
    def last(self) -> int:
        return self._entries[-1][0] if self._entries else 0

    @property
    def moments(self) -> list[tuple[int, int]]:
        """The numbers of some events, each with the time in ms at which it happened: the oldest of them, and
        at least one of a thousand."""
        return [(each.first, each.time_ms) for each in self._blocks]

    async def came(self) -> None:
        """Waits for the next event."""
        last = self.last
        self._hand_over(True)
        if self.last == last:
            await self._came.wait()

    def catch_up(self) -> None:
        """Has the events that came since."""
        self._hand_over(False)

    def after(self, number: int) -> tuple[int, Iterator[bytes]]:
        """Lines of the next events after this one, or after those that are gone, and the number of the last
        of them. They are made in parts, each in some milliseconds."""
        if not self._blocks:
            return self.last, iter(())
        block = self._block_of(number + 1)
        entries = self._entries_of(block)
        begin = max(number + 1 - block.first, 0)
        if block.keyframe and not begin:
            return block.first, _keyframe_of(block, entries[0])
        end = min(begin + AT_ONCE, len(entries))
        return entries[end - 1][0], _lines_of(block, entries, begin, end)

    def _block_of(self, number: int) -> _Block:
        """The one that has this event, or else the first."""
        return self._blocks[max(bisect.bisect_right(self._blocks, number, key=_FIRST) - 1, 0)]

    def digest(self, until: int) -> Iterator[None]:
        """Makes ready for a summary up to event `until`, in parts; several may be under way."""
        latest = self._latest
        while latest.last < until:
            begin = latest.last + 1
            if until - begin > _MOST_DIGESTED:
                # Nobody has asked for long: what came before does not matter any more.
                begin = max(begin, self.keyframe(until))
            block = self._block_of(begin)
            if block.first > until:
                return
            latest(self._entries_of(block)[max(begin - block.first, 0) : until + 1 - block.first])
            yield

    def rate(self, number: int) -> float:
        """How many events a second came from this one on."""
        if not self._entries:
            return 0.0
        took_ms: int = self._entries[-1][2] - self._block_of(number).time_ms
        return 1_000 * (self.last - number) / max(took_ms, 1)

    @property
    def begin(self) -> int:
        """From which event on a summary tells the whole state, as far as that is digested; 0 if from none."""
        return self._latest.begin

    def summary(self, number: int) -> Summary:
        """Of what came after event `number`, as far as that is digested: without what was superseded
        meanwhile."""
        return self._latest.after(number)

    def keyframe(self, number: int) -> int:
        """From which event on the state at this one can be told: the last keyframe until then, or else the
        first event that is there."""
        until = self._blocks[: bisect.bisect_right(self._blocks, number, key=_FIRST)]
        return next((each.first for each in reversed(until) if each.keyframe), self.first)

    def recent(self, count: int) -> int:
        """From which event on about so many of the last are told, as `keyframe`: rather fewer, since more
        keep a page and the cluster busy for long."""
        number = self.last - count
        if number <= self.first:
            return self.keyframe(self.first)
        later = self._blocks[bisect.bisect_right(self._blocks, number, key=_FIRST) :]
        return next((each.first for each in later if each.keyframe), self.keyframe(number))

    def between(self, first: int, last: int) -> Iterator[bytes]:
        """Lines, in parts, from the keyframe before an event up to another one."""
        number = self.keyframe(first) - 1
        while number < min(last, self.last):
            number, parts = self.after(number)
            if number > last:
                yield b"".join(b"".join(parts).splitlines(keepends=True)[: last - number])
            else:
                yield from parts


def _pickled(what: Any) -> bytes:
    return pickle.dumps(what, pickle.HIGHEST_PROTOCOL)


def _read(data: bytes) -> list[Unread]:
    """Entries; if more follows, the parts of the state that the first one has. Nobody else can have written
    them."""
    file = io.BytesIO(data)
    entries: list[Unread] = pickle.load(file)
    parts = []
    while file.tell() < len(data):
        parts.append(pickle.load(file))
    if parts:
        number, kind, time_ms, _ = entries[0]
        entries[0] = number, kind, time_ms, Snapshot.joined(parts)
    return entries


def _lines_of(block: _Block, entries: list[Unread], begin: int, end: int) -> Iterator[bytes]:
    for place in range(begin, end):
        if place not in block.lines:
            block.lines[place] = line_of(entries[place])
    yield b"".join([block.lines[place] for place in range(begin, end)])


def _keyframe_of(block: _Block, keyframe: Unread) -> Iterator[bytes]:
    if 0 in block.lines:
        yield block.lines[0]
        return
    parts = []
    for part in parts_of(keyframe):
        parts.append(part)
        yield part
    block.lines[0] = b"".join(parts)
