"""Requests that are written field by field from kio's schemas, and the positions of their lengths.

Independent of `mockbroker.protocol`, which is under test, but for schemas that kio lacks.
"""

import dataclasses
import functools
import io
import struct
import types
import typing
import uuid
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from kio.serial import writers
from kio.static import primitive

from ...protocol.schema import load

_FORMATS: Final = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint16": "H",
    "uint32": "I",
    "bool": "B",
    "float64": "d",
    "error_code": "h",
    "timedelta_i32": "i",
    "timedelta_i64": "q",
    "datetime_i64": "q",
}
BITS: Final = {"b": 8, "B": 1, "h": 16, "H": 16, "i": 32, "I": 32, "q": 64}


class Values(Protocol):
    """Provides the values of fields; `entity` is the kio class to which a field belongs."""

    def number(self, entity: str, name: str, form: str) -> int | float: ...
    def text(self, entity: str, name: str) -> bytes: ...
    def data(self, entity: str, name: str) -> bytes: ...
    def records(self) -> bytes: ...
    def uuid(self, name: str) -> uuid.UUID: ...
    def null(self, name: str) -> bool: ...
    def size(self, entity: str, name: str) -> int: ...
    def tagged(self) -> bool: ...


class Length(NamedTuple):
    """The position of the length of an array, a text, bytes or a tagged field. `form`: h, i, or v for a
    varint."""

    start: int
    end: int
    form: str


@dataclass
class Written:
    """A body, and its lengths in order."""

    data: bytearray = field(default_factory=bytearray)
    lengths: list[Length] = field(default_factory=list)

    def length(self, value: int | None, form: str) -> None:
        """None is null."""
        start = len(self.data)
        if form == "v":
            self.data += uvarint(0 if value is None else value + 1)
        else:
            self.data += struct.pack(f">{form}", -1 if value is None else value)
        self.lengths.append(Length(start, len(self.data), form))


class Field(NamedTuple):
    name: str
    form: str
    """A struct format, or text, data, records, uuid, entity."""
    array: bool
    nullable: bool
    entity: type | None
    tag: int | None


def uvarint(value: int) -> bytes:
    out = io.BytesIO()
    writers.write_unsigned_varint(out, primitive.uvarint(value))
    return out.getvalue()


@functools.cache
def schema(api: str, version: int, kind: str) -> Any:
    """kio's class of an API in snake case; `kind` is request or response. ImportError."""
    return load(api, version, kind.capitalize())


@functools.cache
def fields_of(entity: type) -> tuple[Field, ...]:
    return tuple(map(_field, dataclasses.fields(entity)))


def _field(given: dataclasses.Field[Any]) -> Field:
    kind, nullable = given.type, False
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        nullable = True
        kind = next(each for each in typing.get_args(kind) if each is not type(None))
    array = typing.get_origin(kind) is tuple
    if array:
        kind = typing.get_args(kind)[0]
    kafka_type = str(given.metadata.get("kafka_type", ""))
    entity = kind if dataclasses.is_dataclass(kind) and isinstance(kind, type) else None
    names = {"string": "text", "bytes": "data", "records": "records", "uuid": "uuid"}
    form = "entity" if entity else _FORMATS.get(kafka_type) or names[kafka_type]
    return Field(given.name, form, array, nullable, entity, given.metadata.get("tag"))


def write(entity: Any, values: Values) -> Written:
    """A request of kio's class `entity`."""
    out = Written()
    _write_entity(entity, values, out)
    return out


def _write_entity(entity: Any, values: Values, out: Written) -> None:
    flexible: bool = entity.__flexible__
    tagged = []
    for each in fields_of(entity):
        if each.tag is None:
            _write_field(entity.__name__, each, values, out, flexible)
        elif values.tagged():
            inner = Written()
            _write_field(entity.__name__, each, values, inner, flexible)
            tagged.append((each.tag, inner))
    if flexible:
        out.data += uvarint(len(tagged))
        for tag, inner in sorted(tagged, key=lambda each: each[0]):
            out.data += uvarint(tag)
            start = len(out.data)
            out.data += uvarint(len(inner.data))
            out.lengths.append(Length(start, len(out.data), "v"))
            start = len(out.data)
            out.lengths += [Length(start + s, start + e, form) for s, e, form in inner.lengths]
            out.data += inner.data


def _write_field(entity: str, each: Field, values: Values, out: Written, flexible: bool) -> None:
    if not each.array:
        write_one(entity, each, values, out, flexible)
        return
    form = "v" if flexible else "i"
    if each.nullable and values.null(each.name):
        out.length(None, form)
        return
    size = values.size(entity, each.name)
    out.length(size, form)
    for _ in range(size):
        write_one(entity, each, values, out, flexible)


def write_one(entity: str, each: Field, values: Values, out: Written, flexible: bool) -> None:
    """Writes a field that is no list, or one entry of a list."""
    null = each.nullable and not each.array and each.form != "q" and values.null(each.name)
    match each.form:
        case "entity":
            assert each.entity is not None
            if each.nullable and not each.array:
                out.data.append(255 if null else 1)
            if not null:
                _write_entity(each.entity, values, out)
        case "uuid":
            out.data += values.uuid(each.name).bytes
        case "text" | "data" | "records":
            form = "v" if flexible else "h" if each.form == "text" else "i"
            if null:
                out.length(None, form)
                return
            if each.form == "text":
                content = values.text(entity, each.name)
            else:
                content = values.records() if each.form == "records" else values.data(entity, each.name)
            out.length(len(content), form)
            out.data += content
        case form:
            out.data += struct.pack(f">{form}", values.number(entity, each.name, form))
