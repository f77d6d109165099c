"""A small synchronous Kafka client for asking raw questions: dicts in, plain dicts out.

Schemas are kio's, in any version it has. A field that only other versions have is dropped from a request, and
one that no version has is an error. A field that is left out gets the schema's default, or zero.
"""

import dataclasses
import datetime
import difflib
import enum
import functools
import io
import itertools
import pkgutil
import struct
import types
import typing
import uuid
from collections.abc import Mapping
from socket import SHUT_WR
from typing import Any, Self

import kio.schema
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError

from ..errors import MockBrokerError
from ..protocol import new_to_kio, schema
from ..protocol.errors import error_name
from .network import SOCKETS, Network, Stream

Fields = Mapping[str, Any]
_MILLISECOND = datetime.timedelta(milliseconds=1)
_EPOCH = datetime.datetime.fromtimestamp(0, tz=datetime.UTC)


class DisconnectedError(ConnectionError):
    """The broker closed the connection instead of answering."""


class UnreadableAnswerError(MockBrokerError, ValueError):
    """The bytes of an answer are not what its version asks for."""


@functools.cache
def kio_versions(api: str) -> tuple[int, ...]:
    """Versions of `api` (snake case) that kio can encode and decode, with those that are made like kio's."""
    return tuple(schema.versions(api))


@functools.cache
def api_keys() -> Mapping[int, str]:
    """Snake-case name of every API that kio knows, or that is made like kio's, by key."""
    found = {}
    for name in [each.name for each in pkgutil.iter_modules(kio.schema.__path__)] + list(new_to_kio.KEYS):
        try:
            found[key_of(name)] = name
        except (AttributeError, IndexError, ModuleNotFoundError):
            continue
    return found


@functools.cache
def _schema(api: str, version: int, kind: str) -> Any:
    return schema.load(api, version, kind.capitalize())


def api_name(api: str) -> str:
    """Kafka's name of an API whose snake-case name is `api`."""
    return "".join(word.capitalize() for word in api.split("_"))


def _zero(kind: Any) -> Any:
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return None
    if typing.get_origin(kind) is tuple:
        return ()
    if dataclasses.is_dataclass(kind):
        return _build(typing.cast(type, kind), {})
    for base, zero in ((bool, False), (int, 0), (str, ""), (bytes, b""), (float, 0.0)):
        if issubclass(kind, base):
            return zero
    return datetime.timedelta(0)


def _entity(kind: Any) -> Any:
    """The dataclass inside `X`, `X | None`, `tuple[X, ...]` or `tuple[X, ...] | None`, if any."""
    if dataclasses.is_dataclass(kind):
        return kind
    return next((found for arg in typing.get_args(kind) if (found := _entity(arg))), None)


def _value(field: dataclasses.Field[Any], value: Any) -> Any:
    inner = _entity(field.type)
    if isinstance(value, list | tuple):
        return tuple(_build(inner, each) if isinstance(each, dict) else each for each in value)
    if inner is not None and isinstance(value, dict):
        return _build(inner, value)
    kafka_type = str(field.metadata.get("kafka_type", ""))
    if kafka_type.startswith("timedelta") and isinstance(value, int):
        return value * _MILLISECOND
    if kafka_type.startswith("datetime") and isinstance(value, int):
        return None if value == -1 else _EPOCH + value * _MILLISECOND
    return value


def _build(entity: type, fields: Fields) -> Any:
    values = {}
    for field in dataclasses.fields(entity):
        if field.name in fields:
            values[field.name] = _value(field, fields[field.name])
        elif field.default is dataclasses.MISSING:
            values[field.name] = _zero(field.type)
    return entity(**values)


def plain(value: Any, name: str = "") -> Any:
    """A decoded entity as dicts, lists and scalars; error codes as names, times in milliseconds."""
    if dataclasses.is_dataclass(value):
        return {
            field.name: _plain_time(field, getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, enum.Enum):
        return error_name(int(value.value))
    if name.endswith("error_code"):
        return error_name(value)
    if isinstance(value, datetime.timedelta):
        return value // _MILLISECOND
    if isinstance(value, datetime.datetime):
        return (value - _EPOCH) // _MILLISECOND
    return value


def _plain_time(field: dataclasses.Field[Any], value: Any) -> Any:
    if value is None and str(field.metadata.get("kafka_type", "")).startswith("datetime"):
        return -1
    return plain(value, field.name)


@dataclasses.dataclass(frozen=True)
class Pending:
    """A request whose answer has not been read yet."""

    api: str
    version: int
    correlation_id: int


Known = Mapping[str, "Known"]
"""The fields that a part of a request has in any version, each with the fields in it."""


class UnknownFieldError(MockBrokerError, ValueError):
    """A field that the request has in no version; says which it may be."""


@functools.cache
def known_fields(api: str) -> Known:
    """The fields of its requests, those of all versions together."""
    found: dict[str, Any] = {}
    for version in kio_versions(api):
        _gather(_schema(api, version, "request"), found)
    return found


def _gather(entity: Any, found: dict[str, Any]) -> None:
    for field in dataclasses.fields(entity):
        inner = found.setdefault(field.name, {})
        if (below := _entity(field.type)) is not None:
            _gather(below, inner)


def _check(api: str, value: Any, known: Known, where: str = "") -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f": did you mean '{near[0]}'?" if near else f": it has {', '.join(known)}"
                raise UnknownFieldError(f"{api} has no field '{where}{name}' in any version{hint}")
            _check(api, inner, known[name], f"{where}{name}.")
    elif isinstance(value, list | tuple):
        for each in value:
            _check(api, each, known, where)


def encode(api: str, version: int, fields: Fields) -> bytes:
    """Body of a request, without its header. UnknownFieldError."""
    _check(api, fields, known_fields(api))
    buffer = io.BytesIO()
    request = _schema(api, version, "request")
    entity_writer(request)(buffer, _build(request, fields))
    return buffer.getvalue()


def flexible(api: str, version: int) -> bool:
    """Whether requests of this version have a header with tags."""
    return bool(_schema(api, version, "request").__header_schema__.__version__ == 2)


def key_of(api: str) -> int:
    """Kafka's key of an API."""
    return int(_schema(api, kio_versions(api)[-1], "request").__api_key__)


def decode(api: str, version: int, frame: bytes) -> dict[str, Any]:
    """An answer with its header. UnreadableAnswerError."""
    response = _schema(api, version, "response")
    offset = 5 if response.__header_schema__.__version__ == 1 else 4
    try:
        entity, _ = entity_reader(response)(frame, offset)
    except (SerialError, ValueError, IndexError, struct.error) as error:
        what = f"the answer to {api_name(api)} v{version} can't be read"
        raise UnreadableAnswerError(f"{what}: {type(error).__name__}: {error}") from error
    answer = plain(entity)
    assert isinstance(answer, dict)
    return answer


class Client:
    """One connection to one broker."""

    def __init__(
        self,
        host: str,
        port: int,
        client_id: str | None = "conformance",
        timeout: float = 20,
        network: Network = SOCKETS,
    ) -> None:
        self.network = network
        self.host, self.port, self.client_id, self.timeout = host, port, client_id, timeout
        self._correlation = itertools.count(1)
        self._socket: Stream | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def set_timeout(self, seconds: float) -> None:
        """From now on waits this long for an answer."""
        self.timeout = seconds
        if self._socket is not None:
            self._socket.settimeout(seconds)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connected(self) -> Stream:
        if self._socket is None:
            self._socket = self.network.connect(self.host, self.port, self.timeout)
        return self._socket

    def header(self, key: int, version: int, flexible: bool) -> tuple[int, bytes]:
        """A request header (v1, or v2 when `flexible`) and its correlation id."""
        correlation = next(self._correlation)
        start = struct.pack(">hhi", key, version, correlation)
        if self.client_id is None:
            name = b"\xff\xff"
        else:
            name = struct.pack(">h", len(self.client_id.encode())) + self.client_id.encode()
        return correlation, start + name + (b"\0" if flexible else b"")

    def send_frame(self, frame: bytes) -> None:
        """Send `frame` with its length in front."""
        try:
            self._connected().sendall(struct.pack(">i", len(frame)) + frame)
        except (BrokenPipeError, ConnectionResetError) as error:
            self.close()
            raise DisconnectedError("closed by the broker") from error

    def send_bytes(self, data: bytes) -> None:
        """Send `data` as it is."""
        self._connected().sendall(data)

    def finish(self) -> None:
        """Sends no more, but still reads: the socket is half closed."""
        self._connected().shutdown(SHUT_WR)

    def read_frame(self) -> bytes:
        """The next answer, without its length."""
        return self._read(struct.unpack(">i", self._read(4))[0])

    def _read(self, count: int) -> bytes:
        connection = self._connected()
        data = bytearray()
        while len(data) < count:
            try:
                piece = connection.recv(count - len(data))
            except ConnectionResetError:
                piece = b""
            if not piece:
                self.close()
                raise DisconnectedError("closed by the broker")
            data += piece
        return bytes(data)

    def raw(self, key: int, version: int, body: bytes, flexible: bool = False) -> bytes:
        """Asks with a hand-made body; returns the answer with its header."""
        _, header = self.header(key, version, flexible)
        self.send_frame(header + body)
        return self.read_frame()

    def send(self, api: str, version: int, fields: Fields) -> Pending:
        """Send a request and return at once."""
        request = _schema(api, version, "request")
        flexible = request.__header_schema__.__version__ == 2
        correlation, header = self.header(int(request.__api_key__), version, flexible)
        self.send_frame(header + encode(api, version, fields))
        return Pending(api, version, correlation)

    def receive(self, pending: Pending) -> dict[str, Any]:
        """The answer to `pending`, which must be the oldest one waited for."""
        frame = self.read_frame()
        (correlation,) = struct.unpack_from(">i", frame)
        if correlation != pending.correlation_id:
            raise ValueError(f"correlation id {correlation}, expected {pending.correlation_id}")
        return decode(pending.api, pending.version, frame)

    def call(self, api: str, version: int, fields: Fields | None = None) -> dict[str, Any]:
        """Ask and wait for the answer."""
        return self.receive(self.send(api, version, fields or {}))

    def api_versions(self) -> dict[str, tuple[int, int]]:
        """Version ranges the broker advertises, by snake-case API name, where kio knows the API."""
        answer = self.call("api_versions", 0)
        names = api_keys()
        return {
            names[each["api_key"]]: (each["min_version"], each["max_version"])
            for each in answer["api_keys"]
            if each["api_key"] in names
        }


def random_suffix() -> str:
    """Keeps the topics and groups of one question apart from all others."""
    return uuid.uuid4().hex[:8]
