"""From TCP segments to requests and answers."""

import functools
import struct
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ..protocol.headers import MalformedRequestError, parse_header, skip_tags
from ..protocol.pcapng import SYN, Address, Segment
from ..protocol.reading import READ_ERRORS, Reader, compile_plain_reader
from ..protocol.schema import flexible, load
from ..trace.plain import plain

_INT32: Final = struct.Struct(">i")


class Message(NamedTuple):
    """A request or an answer. `body` is its fields, with kio's names, or the reason why it can't be read."""

    time_us: int
    client: Address
    broker: Address
    is_request: bool
    api: str
    version: int
    correlation_id: int
    client_id: str | None
    body: Any

    def __str__(self) -> str:
        arrow = "->" if self.is_request else "<-"
        who = f"{self.client[0]}:{self.client[1]} {arrow} {self.broker[1]}"
        return f"{who} {self.api} v{self.version} #{self.correlation_id} {self.body}"


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


def messages(segments: Iterable[Segment]) -> Iterator[Message]:
    """The requests and answers of all connections, in the order in which their last bytes came."""
    halves: dict[tuple[Address, Address], _Half] = {}
    clients: set[tuple[Address, Address]] = set()
    asked: dict[tuple[Address, Address, int], Message] = {}
    for segment in segments:
        key = (segment.source, segment.target)
        if key not in halves and key[::-1] not in halves:
            clients.add(key)  # who speaks first is the client
        half = halves.setdefault(key, _Half())
        half.take(segment)
        for frame in half.frames():
            if isinstance(frame, str):
                asking = key in clients
                ends = key if asking else key[::-1]
                yield Message(segment.time_us, *ends, asking, "?", -1, -1, None, frame)
            elif key in clients:
                message = _request(segment, frame)
                asked[(*key, message.correlation_id)] = message
                yield message
            else:
                (correlation_id,) = _INT32.unpack_from(frame)
                request = asked.pop((segment.target, segment.source, correlation_id), None)
                yield _answer(segment, frame, correlation_id, request)


def _request(segment: Segment, frame: bytes) -> Message:
    client, broker = segment.source, segment.target
    try:
        key, version, correlation_id, client_id, offset = parse_header(memoryview(frame))
    except MalformedRequestError as error:
        return Message(segment.time_us, client, broker, True, "?", -1, -1, None, f"unreadable: {error}")
    name = _api(key)
    body = _body(name, version, "Request", frame, offset)
    return Message(segment.time_us, client, broker, True, name, version, correlation_id, client_id, body)


def _answer(segment: Segment, frame: bytes, correlation_id: int, request: Message | None) -> Message:
    ends = (segment.target, segment.source)
    if request is None:
        text = f"unreadable: nobody asked with correlation id {correlation_id}"
        return Message(segment.time_us, *ends, False, "?", -1, correlation_id, None, text)
    body = _body(request.api, request.version, "Response", frame, 4)
    return Message(
        segment.time_us, *ends, False, request.api, request.version, correlation_id, request.client_id, body
    )


def _api(key: int) -> str:
    from kio.schema.index import api_key_map

    name = api_key_map.get(key, "")
    return "".join(part.capitalize() for part in name.split("_")) or f"api key {key}"


def _body(api: str, version: int, kind: str, frame: bytes, offset: int) -> Any:
    try:
        tagged, read = _reader(api, version, kind)
        if tagged:
            offset = skip_tags(frame, offset)
        return plain(read(frame, offset))
    except (ImportError, *READ_ERRORS) as error:
        return f"unreadable: {error}"


@functools.cache
def _reader(api: str, version: int, kind: str) -> tuple[bool, Reader]:
    """Whether the header has tagged fields, and the reader of the rest. ImportError if kio has no schema."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in api).lstrip("_")
    schema = load(snake, version, kind)
    return flexible(schema) and (api, kind) != ("ApiVersions", "Response"), compile_plain_reader(schema)
