"""Frames from the bytes that come in on one connection: assembles them, and answers them slice by slice."""

import struct
from abc import ABC, abstractmethod
from collections import deque
from typing import Any, Final

from ..cluster.call import Call
from ..protocol.codecs import Codec
from ..protocol.headers import MAX_FRAME_BYTES, MalformedRequestError
from .slices import Slice

_INT32: Final = struct.Struct(">i").unpack_from
_API: Final = struct.Struct(">hh").unpack_from
UNSENT_BYTES: Final = 1024 * 1024
"""With this much unsent, no further request of the connection is answered."""

OWNED_BYTES: Final = 64 * 1024
"""Larger frames are handed over together with their buffer, so that records need not be copied."""
LEAST_STORE_BYTES: Final = 16 * 1024
"""This much is reserved for a frame of which only the size has come."""
MOST_FORESEEN_BYTES: Final = 2 * 1024 * 1024
"""At most this much is reserved for a frame if the connection has sent one as large before."""
_GROWTH: Final = 4
"""Otherwise, this many times as much as has come of the frame."""
BACKLOG_BYTES: Final = 256 * 1024
"""With this much waiting after a parked request, no more is read from the connection."""


class Frames(ABC):
    """`receive` takes what was read; while `target` is set, the next bytes should be read into it (`filled`),
    which saves a copy of large requests. Bytes of requests that have no time left in the slice, or that come
    after a parked request, are `waiting`; `behind` says that `resume` would continue with them.
    """

    __slots__ = (
        "_backlog",
        "_foreseen",
        "_have",
        "_held",
        "_store",
        "_taken",
        "_total",
        "out_bytes",
        "owes_nothing",
        "parked",
        "slice",
        "target",
        "waiting",
        "wants_close",
    )

    def __init__(self, slice_: Slice) -> None:
        self.slice = slice_
        self.parked: tuple[Call, Codec, int, Any] | None = None
        """The request that is parked: its call, codec, correlation id and values."""
        self.wants_close = False
        """Whether nothing more will be answered."""
        self.owes_nothing = False
        """Whether the request that is parked will never be answered."""
        self.out_bytes = 0
        """How much of the answers is unsent."""
        self._backlog: deque[bytearray] = deque()
        """What waits after a parked request, or for the next slice, as it came; `_taken` bytes of the first
        are being answered."""
        self._taken = 0
        self.waiting = 0
        self._held = False
        """Whether whole requests were left for a later slice."""
        self._store = bytearray()
        """Where a frame that comes in parts is assembled; kept, because its pages are allocated then."""
        self._total = 0
        self._have = 0
        self._foreseen = LEAST_STORE_BYTES
        self.target: memoryview | None = None

    @abstractmethod
    def _answer_frame(self, frame: memoryview) -> None:
        """Answers a request, or parks it. Raises MalformedRequestError."""

    @abstractmethod
    def _no_frame(self, beginning: bytes, size: int) -> str:
        """Why four bytes that are no frame size are refused."""

    @abstractmethod
    def _malformed(self, reason: str) -> None:
        """The client sent bytes that are not a request."""

    @abstractmethod
    def _failed(self, key: int | None, version: int, error: Exception) -> None:
        """A bug ends the connection, and nothing else."""

    def receive(self, data: memoryview) -> None:
        """Takes bytes that were read, and answers the requests in them for as long as the slice lasts."""
        if self.parked is not None or self._backlog or self.wants_close:
            if not self.wants_close:
                self._queue(data)
                self.resume()
            return
        end = len(data)
        if self.target is None and end >= 4 and _INT32(data)[0] == end - 4:
            # As usual, this is one request.
            try:
                self._answer_frame(data[4:])
            except Exception as error:
                self._end_by(error, data)
            return
        used = self._take(data) if self.target is not None else self._answer_frames(data)
        if used == len(data) or self.wants_close:
            return
        if self._held or self.parked is not None:
            self._queue(data[used:])
        else:
            self._keep(data[used:])

    def filled(self, size: int) -> None:
        """Takes `size` bytes that were read straight into `target`."""
        self._have += size
        if self._have < self._total:
            self._reserve()
            return
        self.target = None
        frame = memoryview(self._store)[: self._total]
        if self._total >= OWNED_BYTES:
            # The log keeps a reference to the buffer: the next frame gets another store.
            self._store = bytearray()
            self._foreseen = max(self._foreseen, min(self._total, MOST_FORESEEN_BYTES))
        else:
            frame = frame.toreadonly()
        used = self._answer_frames(frame)
        if used < self._total and not self.wants_close:
            # Until now only the size was known: now it is known how much belongs to the frame.
            self._keep(frame[used:])

    def resume(self) -> None:
        """Answers what waits for as long as the slice lasts, unless a request is parked or too much is
        unsent."""
        backlog = self._backlog
        while backlog and self.parked is None and not self.wants_close and self.out_bytes <= UNSENT_BYTES:
            rest = memoryview(backlog[0]).toreadonly()[self._taken :]
            used = self._take(rest)
            if self.owes_nothing:
                return
            self.waiting -= used
            if used < len(rest):
                self._taken += used
                return
            backlog.popleft()
            self._taken = 0
            if self.slice.over:
                return

    @property
    def behind(self) -> bool:
        """Whether there is something to resume."""
        return bool(self._backlog) and self.parked is None and not self.wants_close

    @property
    def owes(self) -> bool:
        """Whether there are requests that are still to be answered."""
        return (self.parked is not None or bool(self._backlog)) and not self.owes_nothing

    @property
    def is_full(self) -> bool:
        """Whether so much waits after a parked request that no more should be read."""
        return self.waiting > BACKLOG_BYTES

    def forget_waiting(self) -> None:
        """Nothing of what waits will be answered."""
        self._backlog = deque()
        self.waiting = 0

    def _queue(self, data: memoryview) -> None:
        if self.owes_nothing:
            return
        backlog = self._backlog
        self.waiting += len(data)
        # Requests may still refer to the first.
        if len(backlog) > 1 and len(backlog[-1]) < OWNED_BYTES:
            backlog[-1] += data
        else:
            backlog.append(bytearray(data))

    def _take(self, data: memoryview) -> int:
        """Answers requests, and keeps the beginning of one that is incomplete. Returns how many bytes were
        used: all, unless requests have to wait."""
        at = 0
        while self.target is not None and at < len(data):
            size = min(len(self.target), len(data) - at)
            self.target[:size] = data[at : at + size]
            at += size
            self.filled(size)
        if at == len(data) or self.parked is not None or self.wants_close:
            return at
        if at and self.slice.over:
            self._held = True
            return at
        at += self._answer_frames(data[at:] if at else data)
        if at < len(data) and not (self._held or self.parked is not None or self.wants_close):
            self._keep(data[at:])
            at = len(data)
        return at

    def _keep(self, beginning: memoryview) -> None:
        """Keeps the beginning of a frame."""
        self._have = have = len(beginning)
        self._total = 4 + _INT32(beginning)[0] if have >= 4 else 4
        room = self._room()
        if room > len(self._store):
            self._store = bytearray(max(room, LEAST_STORE_BYTES))
        memoryview(self._store)[:have] = beginning
        self._reserve()

    def _reserve(self) -> None:
        """Points `target` at room for the rest of the frame, or for a part of it."""
        if self._have == len(self._store):
            store = bytearray(self._room())
            memoryview(store)[: self._have] = memoryview(self._store)[: self._have]
            self._store = store
        self.target = memoryview(self._store)[self._have : self._total]

    def _room(self) -> int:
        """How much to reserve for the frame: no more than the client has proved that it sends."""
        return min(self._total, max(self._foreseen, _GROWTH * self._have))

    def _answer_frames(self, data: memoryview) -> int:
        """Answers frame after frame, at least one; returns how many bytes were used."""
        start = position = 0
        end = len(data)
        slice_ = self.slice
        self._held = False
        try:
            while position + 4 <= end:
                (size,) = _INT32(data, position)
                if not 0 <= size <= MAX_FRAME_BYTES:
                    raise MalformedRequestError(self._no_frame(bytes(data[position : position + 4]), size))
                after = position + 4 + size
                if after > end:
                    break
                if position and (slice_.clock() >= slice_.end or self.out_bytes > UNSENT_BYTES):
                    self._held = True
                    break
                frame = data[position + 4 : after]
                start, position = position, after
                self._answer_frame(frame)
                if after == end or self.parked is not None or self.wants_close:
                    break
        except Exception as error:
            self._end_by(error, data[start:])
        return position

    def _end_by(self, error: Exception, data: memoryview) -> None:
        """Ends the connection by what a request in `data` has raised."""
        if isinstance(error, MalformedRequestError):
            self.wants_close = True
            self._malformed(str(error))
        else:
            key, version = _API(data, 4)
            self._failed(key, version, error)
