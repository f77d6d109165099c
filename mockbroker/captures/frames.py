"""From TCP segments to the frames of each connection."""

import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ..protocol.pcapng import ACK, FIN, SYN, Address, Segment

_RESET: Final = 4
_INT32: Final = struct.Struct(">i")


class Frame(NamedTuple):
    """A frame without its size; `data` is a text if what follows can't be read, and None if the connection
    has ended. `connection` counts from 1."""

    time_us: int
    connection: int
    client: Address
    broker: Address
    is_request: bool
    data: bytes | str | None


class _Half:
    """One direction of a connection: its bytes, in order."""

    def __init__(self) -> None:
        self.next: int | None = None
        self._begin()

    def _begin(self) -> None:
        self.data = bytearray()
        self.early: dict[int, bytes] = {}
        self.lost = False

    def take(self, segment: Segment) -> None:
        if segment.flags & SYN:
            # Another connection with the same addresses does not continue the previous one.
            self._begin()
        if self.next is None or segment.flags & SYN:
            self.next = segment.sequence + bool(segment.flags & SYN)
        if segment.payload and not self.lost:
            self.early[segment.sequence] = segment.payload
        while (payload := self.early.pop(self.next, None)) is not None:
            self.data += payload
            self.next = (self.next + len(payload)) & 0xFFFFFFFF

    def frames(self) -> Iterator[bytes | str]:
        """Whole frames; or, once, the reason why there are no more."""
        while len(self.data) >= 4 and not self.lost:
            (size,) = _INT32.unpack_from(self.data)
            if size < 4:
                self.lost = True
                yield f"unreadable: a frame of {size} bytes, and what follows it"
                return
            if len(self.data) < 4 + size:
                return
            yield bytes(self.data[4 : 4 + size])
            del self.data[: 4 + size]


class _Ends(NamedTuple):
    number: int
    client: Address
    broker: Address


def frames(segments: Iterable[Segment]) -> Iterator[Frame]:
    """The frames of all connections, in the order in which their last bytes came."""
    halves: dict[tuple[Address, Address], _Half] = {}
    known: dict[frozenset[Address], _Ends] = {}
    count = 0
    for segment in segments:
        pair = frozenset((segment.source, segment.target))
        fresh = bool(segment.flags & SYN) and not segment.flags & ACK
        if fresh or pair not in known:
            count += 1
            known[pair] = _Ends(count, *_sides(segment))
        ends = known[pair]
        half = halves.setdefault((segment.source, segment.target), _Half())
        half.take(segment)
        asking = segment.source == ends.client
        for data in half.frames():
            yield Frame(segment.time_us, *ends, asking, data)
        if segment.flags & (FIN | _RESET):
            yield Frame(segment.time_us, *ends, asking, None)


def _sides(segment: Segment) -> tuple[Address, Address]:
    """The client and the broker: who opens the connection is the client, or else who speaks first."""
    if segment.flags & SYN and segment.flags & ACK:
        return segment.target, segment.source
    return segment.source, segment.target
