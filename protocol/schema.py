"""From kio's schemas to our models: functions compiled once per API version.

kio has one unrelated class per API and version. A message of ours (`protocol/messages/`) has one model for
all versions: the fields of every version, in Kafka's names, with Kafka's defaults; times are in
milliseconds and end in `_ms`. `compile_reader` gives bytes -> model, `compile_writer` model -> bytes, both
for one version.
"""

import importlib
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any, Final, NamedTuple

from .primitives import (
    write_array_length,
    write_bytes,
    write_compact_bytes,
    write_compact_records,
    write_compact_string,
    write_records,
    write_string,
    write_uvarint,
)

Reader = Callable[[bytes | memoryview, int], Any]
Writer = Callable[[Any, bytearray], None]

_STRUCT: Final = {
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
_ZERO_UUID: Final = bytes(16)
_MS: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


class _Shape(NamedTuple):
    """What a field of a kio class holds."""

    kio_name: str
    name: str
    kafka_type: str
    array: bool
    nullable: bool
    entity: type | None
    tag: int | None
    default: object


def _shape(field: Field[Any]) -> _Shape:
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
    return _Shape(
        kio_name=field.name,
        name=field.name + "_ms" if timed else field.name,
        kafka_type=kafka_type,
        array=array,
        nullable=nullable,
        entity=inner if is_dataclass(inner) else None,  # type: ignore[arg-type]
        tag=field.metadata.get("tag"),
        default=field.default,
    )


def load(api: str, version: int, kind: str) -> type:
    """The class of kio for `api` (as `list_offsets`); `kind` is Request or Response. ImportError if none."""
    module = importlib.import_module(f"kio.schema.{api}.v{version}.{kind.lower()}")
    name = "".join(part.capitalize() for part in api.split("_"))
    return getattr(module, name + kind)  # type: ignore[no-any-return]


def _model_of(model: type, name: str) -> type:
    hint = typing.get_type_hints(model)[name]
    while not is_dataclass(hint):
        hint = next(t for t in typing.get_args(hint) if t is not type(None))
    return hint  # type: ignore[return-value]


def compile_reader(schema: type, model: type) -> Reader:
    """Bytes and an offset -> `model`. The reader raises kio.serial.errors.DecodeError."""
    from kio.serial import entity_reader

    read: Any = entity_reader(schema)
    convert = _converter(schema, model)

    def reader(data: bytes | memoryview, offset: int) -> Any:
        # Bytes left over are none of a broker's business.
        return convert(read(data, offset)[0])

    return reader


def _converter(schema: type, model: type) -> Callable[[Any], Any]:
    scope: dict[str, Any] = {"model": model, "ms": _MS, "epoch": _EPOCH}
    arguments = []
    for index, shape in enumerate(_shape(f) for f in fields(schema)):
        value = f"e.{shape.kio_name}"
        if shape.entity is not None:
            scope[f"c{index}"] = _converter(shape.entity, _model_of(model, shape.name))
            one = f"c{index}(x)" if shape.array else f"c{index}({value})"
        else:
            one = "x" if shape.array else value
            if shape.kafka_type.startswith("timedelta"):
                one = f"{one} // ms"
            elif shape.kafka_type == "datetime_i64":
                one = f"-1 if {one} is None else ({one} - epoch) // ms"
        if shape.array:
            one = f"[{one} for x in {value}]"
        if shape.nullable and one != value and shape.kafka_type != "datetime_i64":
            one = f"None if {value} is None else {one}"
        arguments.append(f"{shape.name}={one}")
    exec(f"def convert(e): return model({', '.join(arguments)})", scope)
    return scope["convert"]  # type: ignore[no-any-return]


def compile_writer(schema: type, model: type) -> Writer:
    """`model` -> bytes appended to a bytearray. Fields that the version lacks are left out; error codes are
    written as they are, known to Kafka or not."""
    scope: dict[str, Any] = {
        "uvarint": write_uvarint,
        "string": write_compact_string if schema.__flexible__ else write_string,  # type: ignore[attr-defined]
        "data": write_compact_bytes if schema.__flexible__ else write_bytes,  # type: ignore[attr-defined]
        "records": write_compact_records if schema.__flexible__ else write_records,  # type: ignore[attr-defined]
        "length": write_array_length,
        "zero": _ZERO_UUID,
        "flexible": schema.__flexible__,  # type: ignore[attr-defined]
    }
    source = StringIO()
    for line in _lines(schema, model, scope):
        source.write(f"    {line}\n")
    exec(f"def write(m, o):\n{source.getvalue()}    return None\n", scope)
    return scope["write"]  # type: ignore[no-any-return]


def _lines(schema: type, model: type, scope: dict[str, Any]) -> Iterator[str]:
    import struct

    shapes = [_shape(f) for f in fields(schema)]
    run: list[_Shape] = []

    def flush() -> Iterator[str]:
        if run:
            packer = f"p{len(scope)}"
            scope[packer] = struct.Struct(">" + "".join(_STRUCT[s.kafka_type] for s in run)).pack
            yield f"o += {packer}({', '.join('m.' + s.name for s in run)})"
            run.clear()

    for shape in shapes:
        if shape.tag is not None:
            continue
        if shape.kafka_type in _STRUCT and not shape.array:
            run.append(shape)
            continue
        yield from flush()
        yield from _field(shape, model, scope, "o")
    yield from flush()
    if schema.__flexible__:  # type: ignore[attr-defined]
        tagged = sorted((s for s in shapes if s.tag is not None), key=lambda s: s.tag or 0)
        yield from _tags(tagged, model, scope)


def _tags(tagged: list[_Shape], model: type, scope: dict[str, Any]) -> Iterator[str]:
    if not tagged:
        yield "o.append(0)"
        return
    yield "t = []"
    for shape in tagged:
        default = f"d{len(scope)}"
        scope[default] = _tag_default(shape, model)
        yield f"if m.{shape.name}:" if shape.array else f"if m.{shape.name} != {default}:"
        yield "    b = bytearray()"
        for line in _field(shape, model, scope, "b"):
            yield "    " + line
        yield f"    t.append(({shape.tag}, b))"
    yield "uvarint(o, len(t))"
    yield "for k, b in t:"
    yield "    uvarint(o, k); uvarint(o, len(b)); o += b"


def _tag_default(shape: _Shape, model: type) -> object:
    if shape.entity is not None and not shape.array:
        return None if shape.nullable else _model_of(model, shape.name)()
    if shape.default is MISSING:
        return None if shape.kafka_type == "uuid" else 0
    return shape.default


def _field(shape: _Shape, model: type, scope: dict[str, Any], out: str) -> Iterator[str]:
    """Lines that write one field to the buffer named `out`."""
    value = f"m.{shape.name}"
    if shape.array:
        yield f"a = {value}"
        if scope["flexible"]:
            # Inlined: most lengths are one byte, and a call costs more than the rest.
            absent = 0 if shape.nullable else 1
            yield f"n = {absent} if a is None else len(a) + 1"
            yield f"{out}.append(n) if n < 128 else uvarint({out}, n)"
        else:
            yield f"length({out}, a)" if shape.nullable else f"length({out}, a or ())"
        yield "for x in a or ():"
        yield "    " + _one(shape, model, scope, out, "x")
    elif shape.kafka_type == "string" and scope["flexible"]:
        yield f"v = {value}"
        yield f"if v is None: {out}.append({0 if shape.nullable else 1})"
        yield "else:"
        yield "    v = v.encode(); n = len(v) + 1"
        yield f"    {out}.append(n) if n < 128 else uvarint({out}, n)"
        yield f"    {out} += v"
    elif shape.entity is not None and shape.nullable:
        yield f"if {value} is None: {out}.append(255)"
        yield f"else: {out}.append(1); {_one(shape, model, scope, out, value)}"
    else:
        yield _one(shape, model, scope, out, value)


def _one(shape: _Shape, model: type, scope: dict[str, Any], out: str, value: str) -> str:
    if shape.entity is not None:
        writer = f"w{len(scope)}"
        scope[writer] = compile_writer(shape.entity, _model_of(model, shape.name))
        return f"{writer}({value}, {out})"
    if shape.kafka_type in _STRUCT:
        import struct

        packer = f"p{len(scope)}"
        scope[packer] = struct.Struct(">" + _STRUCT[shape.kafka_type]).pack
        return f"{out} += {packer}({value})"
    if shape.kafka_type == "uuid":
        return f"{out} += {value}.bytes if {value} is not None else zero"
    if shape.kafka_type == "records":
        return f"records({out}, {value})"
    kind, empty = ("string", '""') if shape.kafka_type == "string" else ("data", 'b""')
    nullable = shape.nullable and not shape.array
    return (
        f"{kind}({out}, {value})"
        if nullable
        else f"{kind}({out}, {value} if {value} is not None else {empty})"
    )
