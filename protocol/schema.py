"""kio's schemas, and how our models correspond to them.

kio has a separate class for each API and version. Our messages (`protocol/messages/`) have one model for all
versions: the fields of every version, with Kafka's names and defaults; times are in milliseconds and end in
`_ms`. `reading.compile_reader` makes a function from bytes to model, `writing.compile_writer` one from model
to bytes, both for one version.
"""

import pkgutil
import types
import typing
from dataclasses import Field, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from .kio_modules import kio_class, kio_module
from .primitives import Shared

STRUCT: Final = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint16": "H",
    "uint32": "I",
    "bool": "?",
    "float64": "d",
    "error_code": "h",
    "timedelta_i32": "i",
    "timedelta_i64": "q",
    "datetime_i64": "q",
}
"""`struct`'s codes for types of fixed size."""

EPOCH: Final = datetime.fromtimestamp(0, UTC)
_MS: Final = timedelta(milliseconds=1)


class Shape(NamedTuple):
    """What a field of a kio class holds."""

    kio_name: str
    name: str
    kafka_type: str
    array: bool
    nullable: bool
    entity: type | None
    tag: int | None
    default: object


def shapes(schema: type) -> list[Shape]:
    """The fields of a kio class in the order in which they are written, including tagged ones."""
    return [_shape(field) for field in fields(schema)]


def _shape(field: Field[Any]) -> Shape:
    kafka_type = field.metadata.get("kafka_type", "")
    inner: Any = field.type
    nullable = False
    if isinstance(inner, types.UnionType) or typing.get_origin(inner) is typing.Union:
        nullable = True
        inner = next(t for t in typing.get_args(inner) if t is not type(None))
    array = typing.get_origin(inner) is tuple
    if array:
        inner = typing.get_args(inner)[0]
    timed = kafka_type.startswith(("timedelta", "datetime"))
    return Shape(
        kio_name=field.name,
        name=field.name + "_ms" if timed else field.name,
        kafka_type=kafka_type,
        array=array,
        nullable=nullable,
        entity=inner if is_dataclass(inner) else None,  # type: ignore[arg-type]
        tag=field.metadata.get("tag"),
        default=field.default,
    )


def encoded(value: object) -> object:
    """A default of kio's as it is encoded; MISSING stays."""
    if isinstance(value, timedelta):
        return value // _MS
    if isinstance(value, datetime):
        return (value - EPOCH) // _MS
    return getattr(value, "value", value)


def flexible(schema: type) -> bool:
    """Whether messages of this kio class have compact lengths and tagged fields (KIP-482)."""
    return schema.__flexible__  # type: ignore[attr-defined,no-any-return]


def class_name(api: str) -> str:
    """`ListOffsets` for `list_offsets`."""
    return "".join(part.capitalize() for part in api.split("_"))


def load(api: str, version: int, kind: str) -> type:
    """kio's class for `api` (such as `list_offsets`), or ours for a version that kio lacks; `kind` is Request
    or Response. ImportError if there is none."""
    from . import before_kio, beyond_kio, new_to_kio

    if api in new_to_kio.KEYS and version == 0:
        return new_to_kio.load(api, kind)
    if beyond_kio.NEWEST.get(api) == version:
        return beyond_kio.load(api, kind)
    if 0 <= version < (before_kio.lowest(api) or 0):
        return before_kio.load(api, version, kind)
    return kio_class(api, version, kind)


def versions(api: str) -> list[int]:
    """The versions of `api` that `load` has. ImportError if there are none."""
    from . import before_kio, beyond_kio, new_to_kio

    if api in new_to_kio.KEYS:
        return [0]
    package = kio_module(f"schema.{api}")
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    found = {int(name[1:]) for name in names if name[1:].isdigit()}
    if api in beyond_kio.NEWEST:
        found.add(beyond_kio.NEWEST[api])
    found |= set(range(before_kio.lowest(api) or 0))
    return sorted(found)


def model_of(model: type, name: str) -> type:
    """The model of the field `name` of a model, or of its elements."""
    hint = typing.get_type_hints(model)[name]
    while not is_dataclass(hint):
        hint = next(t for t in typing.get_args(hint) if t is not type(None))
    return hint  # type: ignore[return-value]


def may_be_shared(model: type, name: str) -> bool:
    """Whether the field `name` of a model may hold a `Shared`."""
    hint = typing.get_type_hints(model)[name]
    return any(typing.get_origin(each) is Shared for each in (hint, *typing.get_args(hint)))
