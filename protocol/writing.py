"""Model -> bytes: functions compiled once per API version."""

import struct
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import Any, Final

from .primitives import (
    MOST_TEXT,
    FrameBuffer,
    Shared,
    TextTooLongError,
    write_bytes,
    write_compact_bytes,
    write_compact_records,
    write_records,
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
    return _compile(schema, model)


def compile_writer_in_parts(schema: type, model: type) -> WriterInParts:
    """As `compile_writer`, for large messages: it yields now and then."""
    return _compile(schema, model, in_parts=True)


def may_splice(schema: type, model: type) -> bool:
    """Whether messages may hold records or shared arrays, which need not be copied."""
    return any(
        shape.kafka_type == "records"
        or (
            shape.entity is not None
            and (may_be_shared(model, shape.name) or may_splice(shape.entity, model_of(model, shape.name)))
        )
        for shape in shapes(schema)
    )


def _compile(schema: type, model: type, *, in_parts: bool = False) -> Callable[..., Any]:
    source = _Source(flexible(schema), in_parts)
    source.entity(schema, model, "m")
    source.flush()
    # Without an array there would be no other `yield`.
    source.line("yield" if in_parts else "return None")
    body = "\n".join(source.lines)
    exec(f"def write(m, o):\n{body}", source.scope)
    return source.scope["write"]  # type: ignore[no-any-return]


class _Source:
    """The source code of a writer: `m` is the model, `o` the buffer.

    Fields of fixed size, and the length or the number of tags after them, are collected in a run, which is
    written with one `struct`.
    """

    def __init__(self, compact: bool, in_parts: bool) -> None:
        self.compact = compact
        self._in_parts = in_parts
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {
            "uvarint": write_uvarint,
            "data": write_compact_bytes if compact else write_bytes,
            "records": write_compact_records if compact else write_records,
            "large": _too_large,
            "zero": _ZERO_UUID,
            "Shared": Shared,
        }
        self._run: list[tuple[str, str]] = []
        self._out = "o"
        self._depth = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A block of lines below `head`; writes its own run to the end."""
        self.flush()
        self.line(head)
        self._depth += 1
        yield
        self.flush()
        self._depth -= 1

    def named(self, kind: str, value: Any = None) -> str:
        """A new name in the writer's scope."""
        name = f"{kind}{len(self.scope)}"
        self.scope[name] = value
        return name

    def fixed(self, layout: str, value: str) -> None:
        """Adds a value of fixed size to the run."""
        self._run.append((layout, value))

    def packed(self, *more: tuple[str, str]) -> str:
        """An expression for the bytes of the run, and of what follows it."""
        run = [*self._run, *more]
        pack = self.named("p", struct.Struct(">" + "".join(layout for layout, _ in run)).pack)
        return f"{pack}({', '.join(value for _, value in run if value)})"

    def flush(self) -> None:
        """Writes the run."""
        if self._run == [_NO_TAGS]:
            self.line(f"{self._out}.append(0)")
        elif self._run:
            self.line(f"{self._out} += {self.packed()}")
        self._run.clear()

    def length(self, layout: str) -> None:
        """Writes `n`: a length, in compact form one more than that, which mostly has one byte."""
        if not self.compact:
            self.fixed(layout, "n")
            self.flush()
        elif not self._run:
            self.line(f"{self._out}.append(n) if n < 128 else uvarint({self._out}, n)")
        else:
            self.line(f"if n < 128: {self._out} += {self.packed(('B', 'n'))}")
            self.line(f"else: {self._out} += {self.packed()}; uvarint({self._out}, n)")
            self._run.clear()

    def entity(self, schema: type, model: type, value: str) -> None:
        """Writes the fields of a kio class, whose model `value` is."""
        every = shapes(schema)
        for shape in every:
            if shape.tag is None:
                self.field(shape, model, f"{value}.{shape.name}")
        if self.compact:
            tagged = sorted((s for s in every if s.tag is not None), key=lambda s: s.tag or 0)
            self.tags(tagged, model, value)

    def tags(self, tagged: list[Shape], model: type, value: str) -> None:
        """Writes tagged fields that differ from their default."""
        if not tagged:
            self.fixed(*_NO_TAGS)
            return
        self.flush()
        out, found, one = self._out, self.named("t"), self.named("b")
        self.line(f"{found} = ()")
        for shape in tagged:
            held = f"{value}.{shape.name}"
            default = self.named("d", _tag_default(shape, model))
            given = held if shape.array else f"{held} is not {default} and {held} != {default}"
            with self.block(f"if {given}:"):
                self._out = one
                self.line(f"{one} = bytearray()")
                self.field(shape, model, held)
                self.flush()
                self.line(f"{found} += (({shape.tag}, {one}),)")
                self._out = out
        with self.block(f"if {found}:"):
            self.line(f"uvarint({out}, len({found}))")
            self.line(f"for k, b in {found}: uvarint({out}, k); uvarint({out}, len(b)); {out} += b")
        self.line(f"else: {out}.append(0)")

    def field(self, shape: Shape, model: type, value: str) -> None:
        """Writes one field."""
        if shape.array:
            self.array(shape, model, value)
        elif shape.entity is None:
            self.one(shape, value, shape.nullable)
        elif shape.nullable:
            with self.block(f"if {value} is None:"):
                self.line(f"{self._out}.append(255)")
            with self.block("else:"):
                self.fixed("b", "1")
                self.entity(shape.entity, model_of(model, shape.name), value)
        else:
            self.entity(shape.entity, model_of(model, shape.name), value)

    def array(self, shape: Shape, model: type, value: str) -> None:
        self.line(f"a = {value}")
        absent = 0 if shape.nullable else 1
        if self.compact:
            self.line(f"n = {absent} if a is None else len(a) + 1")
        else:
            self.line(f"n = {absent - 1} if a is None else len(a)")
        self.length("i")
        if shape.entity is not None and may_be_shared(model, shape.name):
            write = self.named("w", _compile(shape.entity, model_of(model, shape.name)))
            self.line(f"if type(a) is Shared: a.write({self._out}, {write}); a = ()")
        each = self.named("x")
        with self.block(f"for {each} in a or ():"):
            if shape.entity is None:
                self.one(shape, each)
            else:
                self.entity(shape.entity, model_of(model, shape.name), each)
            # What is in a tagged field is written at once: its size comes first.
            if self._in_parts and self._out == "o":
                self.flush()
                self.line(f"if len(o) > o.part: o.part = len(o) + {BYTES_PER_PART}; yield")

    def one(self, shape: Shape, value: str, nullable: bool = False) -> None:
        """Writes one value that is no entity: of a field, or of an array."""
        kind = shape.kafka_type
        if kind in STRUCT:
            self.fixed(STRUCT[kind], value)
        elif kind == "uuid":
            self.fixed("16s", f"zero if {value} is None else {value}.bytes")
        elif kind == "string":
            self.text(value, nullable)
        else:
            self.flush()
            empty = "" if nullable or kind == "records" else f" if {value} is not None else b''"
            self.line(f"{'records' if kind == 'records' else 'data'}({self._out}, {value}{empty})")

    def text(self, value: str, nullable: bool) -> None:
        self.line(f"v = {value}")
        absent = 0 if nullable else 1
        self.line(f"if v is None: v = b''; n = {absent if self.compact else absent - 1}")
        if self.compact:
            self.line("else: v = v.encode(); n = len(v) + 1")
        else:
            self.line("else:")
            self.line("    v = v.encode(); n = len(v)")
            self.line(f"    if n > {MOST_TEXT}: raise large(n)")
        self.length("h")
        self.line(f"{self._out} += v")


_NO_TAGS: Final = ("x", "")
"""A byte of 0, which needs no value."""


def _too_large(size: int) -> TextTooLongError:
    return TextTooLongError(f"a text of {size} bytes: {MOST_TEXT} is the most")


def _tag_default(shape: Shape, model: type) -> object:
    if shape.entity is not None and not shape.array:
        if shape.nullable:
            return None
        default = model_of(model, shape.name)()
        # Mostly the model's own default is there, which is known without a comparison.
        own = next(each.default for each in fields(model) if each.name == shape.name)
        return own if own == default else default
    if shape.default is MISSING:
        return None if shape.kafka_type == "uuid" else 0
    return shape.default
