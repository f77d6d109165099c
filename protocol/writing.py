"""Model -> bytes: functions compiled once per API version."""

import struct
from collections.abc import Callable, Generator, Iterator
from dataclasses import MISSING
from io import StringIO
from typing import Any, Final

from .primitives import (
    FrameBuffer,
    Shared,
    write_array_length,
    write_bytes,
    write_compact_bytes,
    write_compact_records,
    write_compact_string,
    write_records,
    write_string,
    write_uvarint,
)
from .schema import STRUCT, Shape, flexible, may_be_shared, model_of, shapes

Writer = Callable[[Any, bytearray], None]
WriterInParts = Callable[[Any, FrameBuffer], Generator[None, None, None]]
BYTES_PER_PART: Final = 1024
"""A writer in parts yields after this much, where an entry of an array ends."""

_ZERO_UUID: Final = bytes(16)


def compile_writer(schema: type, model: type) -> Writer:
    """A writer that appends `model` to a bytearray. Fields that the version does not have are left out; error
    codes are written even if Kafka does not know them."""
    return _compile(schema, model, in_parts=False)


def compile_writer_in_parts(schema: type, model: type) -> WriterInParts:
    """As `compile_writer`, for large messages: it yields now and then."""
    return _compile(schema, model, in_parts=True)


def _compile(schema: type, model: type, *, in_parts: bool) -> Callable[..., Any]:
    scope: dict[str, Any] = {
        "in parts": in_parts,
        "uvarint": write_uvarint,
        "string": write_compact_string if flexible(schema) else write_string,
        "data": write_compact_bytes if flexible(schema) else write_bytes,
        "records": write_compact_records if flexible(schema) else write_records,
        "length": write_array_length,
        "zero": _ZERO_UUID,
        "flexible": flexible(schema),
    }
    source = StringIO()
    for line in _lines(schema, model, scope):
        source.write(f"    {line}\n")
    # Without an array there would be no other `yield`.
    last = "yield" if in_parts else "return None"
    exec(f"def write(m, o):\n{source.getvalue()}    {last}\n", scope)
    return scope["write"]  # type: ignore[no-any-return]


def _lines(schema: type, model: type, scope: dict[str, Any]) -> Iterator[str]:
    every = shapes(schema)
    run: list[Shape] = []

    def flush() -> Iterator[str]:
        if run:
            packer = f"p{len(scope)}"
            scope[packer] = struct.Struct(">" + "".join(STRUCT[s.kafka_type] for s in run)).pack
            yield f"o += {packer}({', '.join('m.' + s.name for s in run)})"
            run.clear()

    for shape in every:
        if shape.tag is not None:
            continue
        if shape.kafka_type in STRUCT and not shape.array:
            run.append(shape)
            continue
        yield from flush()
        yield from _field(shape, model, scope, "o")
    yield from flush()
    if flexible(schema):
        tagged = sorted((s for s in every if s.tag is not None), key=lambda s: s.tag or 0)
        yield from _tags(tagged, model, scope)


def _tags(tagged: list[Shape], model: type, scope: dict[str, Any]) -> Iterator[str]:
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


def _tag_default(shape: Shape, model: type) -> object:
    if shape.entity is not None and not shape.array:
        return None if shape.nullable else model_of(model, shape.name)()
    if shape.default is MISSING:
        return None if shape.kafka_type == "uuid" else 0
    return shape.default


def _field(shape: Shape, model: type, scope: dict[str, Any], out: str) -> Iterator[str]:
    """Lines that write one field to the buffer named `out`."""
    value = f"m.{shape.name}"
    if shape.array:
        yield f"a = {value}"
        if scope["flexible"]:
            # Inlined: most lengths have one byte, and a call is more expensive than the rest.
            absent = 0 if shape.nullable else 1
            yield f"n = {absent} if a is None else len(a) + 1"
            yield f"{out}.append(n) if n < 128 else uvarint({out}, n)"
        else:
            yield f"length({out}, a)" if shape.nullable else f"length({out}, a or ())"
        # What is in a tagged field is written at once: its size comes first.
        in_parts = scope["in parts"] and out == "o"
        shared = shape.entity is not None and may_be_shared(model, shape.name)
        nested = in_parts and not shared and shape.entity is not None and _has_arrays(shape.entity)
        one = _one(shape, model, scope, out, "x", in_parts=nested)
        if shared:
            scope["Shared"] = Shared
            yield f"if type(a) is Shared: a.write({out}, {one.partition('(')[0]}); a = ()"
        yield "for x in a or ():"
        yield "    " + ("yield from " if nested else "") + one
        if in_parts:
            yield f"    if len(o) > o.part: o.part = len(o) + {BYTES_PER_PART}; yield"
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


def _has_arrays(schema: type) -> bool:
    return any(each.array and each.tag is None for each in shapes(schema))


def _one(
    shape: Shape, model: type, scope: dict[str, Any], out: str, value: str, *, in_parts: bool = False
) -> str:
    if shape.entity is not None:
        writer = f"w{len(scope)}"
        scope[writer] = _compile(shape.entity, model_of(model, shape.name), in_parts=in_parts)
        return f"{writer}({value}, {out})"
    if shape.kafka_type in STRUCT:
        packer = f"p{len(scope)}"
        scope[packer] = struct.Struct(">" + STRUCT[shape.kafka_type]).pack
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
