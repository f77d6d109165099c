"""From frames to requests and answers."""

import functools
import struct
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ..protocol.headers import MalformedRequestError, parse_header, skip_tags
from ..protocol.pcapng import Address, Segment
from ..protocol.reading import READ_ERRORS, Reader, compile_plain_reader
from ..protocol.schema import flexible, load
from ..trace.plain import plain
from .frames import Frame, frames

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


def messages(segments: Iterable[Segment]) -> Iterator[Message]:
    """The requests and answers of all connections, in the order in which their last bytes came."""
    return decoded(frames(segments))


def decoded(found: Iterable[Frame]) -> Iterator[Message]:
    """The requests and answers in these frames."""
    asked: dict[tuple[Address, Address, int], Message] = {}
    for frame in found:
        ends = (frame.client, frame.broker)
        if frame.data is None:
            continue
        if isinstance(frame.data, str):
            yield Message(frame.time_us, *ends, frame.is_request, "?", -1, -1, None, frame.data)
        elif frame.is_request:
            message = _request(frame, frame.data)
            asked[(*ends, message.correlation_id)] = message
            yield message
        else:
            (correlation_id,) = _INT32.unpack_from(frame.data)
            request = asked.pop((*ends, correlation_id), None)
            yield _answer(frame, frame.data, correlation_id, request)


def _request(of: Frame, frame: bytes) -> Message:
    client, broker = of.client, of.broker
    try:
        key, version, correlation_id, client_id, offset = parse_header(memoryview(frame))
    except MalformedRequestError as error:
        return Message(of.time_us, client, broker, True, "?", -1, -1, None, f"unreadable: {error}")
    name = api_of(key)
    body = _body(name, version, "Request", frame, offset)
    return Message(of.time_us, client, broker, True, name, version, correlation_id, client_id, body)


def _answer(of: Frame, frame: bytes, correlation_id: int, request: Message | None) -> Message:
    ends = (of.client, of.broker)
    if request is None:
        text = f"unreadable: nobody asked with correlation id {correlation_id}"
        return Message(of.time_us, *ends, False, "?", -1, correlation_id, None, text)
    body = _body(request.api, request.version, "Response", frame, 4)
    return Message(
        of.time_us, *ends, False, request.api, request.version, correlation_id, request.client_id, body
    )


def api_of(key: int) -> str:
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
