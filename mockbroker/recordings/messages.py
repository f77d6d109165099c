"""Frames as entities of kio's, and back, in any version that there is a schema for."""

import dataclasses
import functools
import io
import struct
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from kio.schema.index import api_key_map
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError

from ..protocol import new_to_kio, schema
from ..protocol.headers import MalformedRequestError, parse_header, skip_tags

_INT32: Final = struct.Struct(">i")
_NAMES: Final = {key: name for name, key in new_to_kio.KEYS.items()}
UNREADABLE: Final = (
    SerialError,
    MalformedRequestError,
    ImportError,
    ValueError,
    IndexError,
    struct.error,
    AttributeError,
    OverflowError,
)
"""What is raised where a frame can't be read, or has no schema."""


class Asked(NamedTuple):
    """A request: `api` in snake case, and its header with what is before the body."""

    api: str
    version: int
    correlation_id: int
    client_id: str | None
    head: bytes
    body: Any


def name_of(key: int) -> str | None:
    """The name of an API in snake case; None if there is no schema."""
    return _NAMES.get(key) or api_key_map.get(key)


def read_request(frame: bytes) -> Asked:
    """One of UNREADABLE."""
    key, version, correlation_id, client_id, offset = parse_header(frame)
    api = name_of(key)
    if api is None:
        raise ValueError(f"no API has the key {key}")
    kind = schema.load(api, version, "Request")
    if schema.flexible(kind):
        offset = skip_tags(frame, offset)
    body: Any = entity_reader(kind)(frame, offset)[0]
    return Asked(api, version, correlation_id, client_id, frame[:offset], body)


def write_request(asked: Asked, body: Any) -> bytes:
    """The frame with another body."""
    return asked.head + _written(body)


def with_correlation_id(frame: bytes, correlation_id: int, at: int = 0) -> bytes:
    """The answer with another one; of a request it is at 4."""
    return frame[:at] + _INT32.pack(correlation_id) + frame[at + 4 :]


def correlation_id_of(answer: bytes) -> int:
    """ValueError."""
    if len(answer) < 4:
        raise ValueError(f"an answer of {len(answer)} bytes")
    return int(_INT32.unpack_from(answer)[0])


class Waiting(Protocol):
    """A request that waits for its answer."""

    @property
    def correlation_id(self) -> int: ...


W = TypeVar("W", bound=Waiting)


def answered(waiting: deque[W], correlation_id: int) -> W | None:
    """Takes out the request that this answers, and those before it, which nothing answers: Produce with
    acks=0. None, and takes out nothing, if there is no such request."""
    if not any(each.correlation_id == correlation_id for each in waiting):
        return None
    while (found := waiting.popleft()).correlation_id != correlation_id:
        pass
    return found


def read_answer(api: str, version: int, frame: bytes) -> Any:
    """The body of an answer. One of UNREADABLE."""
    return entity_reader(schema.load(api, version, "Response"))(frame, _start(api, version, frame))[0]


def write_answer(api: str, version: int, frame: bytes, body: Any) -> bytes:
    """The frame with another body."""
    return frame[: _start(api, version, frame)] + _written(body)


def _start(api: str, version: int, frame: bytes) -> int:
    tagged = schema.flexible(schema.load(api, version, "Response")) and api != "api_versions"
    return skip_tags(frame, 4) if tagged else 4


def _written(body: Any) -> bytes:
    buffer = io.BytesIO()
    entity_writer(type(body))(buffer, body)
    return buffer.getvalue()


Change = Callable[[Any, str, Any], Any]
"""Is given an entity, the name of one of its fields, and the value; gives the value to have there."""


def changed(entity: Any, change: Change) -> Any:
    """The entity with all fields changed, in it and in what it has; itself if none was."""
    different = {}
    for name in _names(entity):
        value = getattr(entity, name)
        new = change(entity, name, value)
        if new is value:
            new = _inside(value, change)
        if new is not value:
            different[name] = new
    return dataclasses.replace(entity, **different) if different else entity


def _inside(value: Any, change: Change) -> Any:
    if isinstance(value, tuple):
        every = tuple(_inside(each, change) for each in value)
        return every if any(one is not other for one, other in zip(every, value, strict=True)) else value
    return changed(value, change) if dataclasses.is_dataclass(value) else value


def entities(value: Any) -> Iterator[Any]:
    """An entity, and all that it has."""
    if isinstance(value, tuple):
        for each in value:
            yield from entities(each)
    elif dataclasses.is_dataclass(value):
        yield value
        for name in _names(value):
            inner = getattr(value, name)
            if isinstance(inner, tuple) or dataclasses.is_dataclass(inner):
                yield from entities(inner)


def _names(entity: Any) -> tuple[str, ...]:
    kind: Any = type(entity)
    return _names_of(kind)


@functools.cache
def _names_of(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in dataclasses.fields(kind))
