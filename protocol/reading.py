"""Bytes -> model, or plain values: functions compiled once per API version.

This reads what Kafka's generated classes read (`MessageDataGenerator.java`): any negative length is null,
tags come in any order and more than once, the size of a known tag is ignored, booleans are true except for 0,
text that is not UTF-8 is replaced, and what is left at the end is ignored. No length is trusted: before
anything is allocated it is compared with the bytes that there are.
"""

import functools
import struct
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from .primitives import MOST_TEXT, finish_uvarint, read_uvarint, skip, skip_tags
from .schema import EPOCH, STRUCT, Shape, encoded, flexible, model_of, shapes

Reader = Callable[[bytes, int], Any]
"""Reads what begins at an offset in bytes. Raises one of READ_ERRORS."""
ReaderInParts = Callable[[bytes, int], Generator[None, None, Any]]
READ_ERRORS: Final = (ValueError, IndexError, struct.error)

MAX_ENTRIES: Final = 100_000
"""A message with more entries than this in all its arrays and unknown tagged fields is refused; Kafka has no
such limit."""

BYTES_PER_PART: Final = 1024
"""A reader in parts yields after this much, where an entry of an array ends."""

_ZERO_UUID: Final = bytes(16)


def compile_reader(schema: type, model: type) -> Reader:
    """A reader of `model`, for the version of `schema`."""
    return _compile(schema, model)


def compile_reader_in_parts(schema: type, model: type) -> ReaderInParts:
    """As `compile_reader`, for large messages: it yields now and then, and returns the model."""
    return _compile(schema, model, in_parts=True)


def compile_plain_reader(schema: type) -> Reader:
    """A reader of plain values as in JSON, besides bytes and UUIDs: dicts with kio's names, times as ISO
    8601, durations in ms."""
    return _compile(schema, None)


def _compile(schema: type, model: type | None, *, in_parts: bool = False) -> Callable[..., Any]:
    source = _Source(flexible(schema), in_parts)
    if in_parts:
        # Without an array there would be no other `yield`.
        source.line("part = o; yield")
    source.line("left = end = len(d)")
    source.line(f"if end > {MAX_ENTRIES}: left = {MAX_ENTRIES}")
    made = source.entity(schema, model)
    source.flush()
    source.line(f"return {made}")
    body = "\n".join(source.lines)
    exec(f"def read(d, o):\n{body}", source.scope)
    return source.scope["read"]  # type: ignore[no-any-return]


class _Source:
    """The source code of a reader: `d` is the data, `o` the offset, `left` how many entries may still come.

    Fields of fixed size, and the length or the number of tags after them, are collected in a run, which is
    read with one `struct`.
    """

    def __init__(self, compact: bool, in_parts: bool = False) -> None:
        self.compact = compact
        self._in_parts = in_parts
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {
            "text": "mockbroker.java",
            "long": finish_uvarint,
            "tags": _skip_tags,
            "skip": skip,
            "null": _null,
            "short": _short,
            "many": _too_many,
            "negative": _negative,
            "large": _too_large,
            "uuid": _uuid,
            "zero": _ZERO_UUID,
            "when": _when,
            "varint": read_uvarint,
        }
        self._run: list[tuple[str, str]] = []
        self._behind: list[str] = []
        self._depth = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A block of lines below `head`; reads its own run to the end."""
        self.line(head)
        self._depth += 1
        yield
        self.flush()
        self._depth -= 1

    def named(self, kind: str, value: Any) -> str:
        """A new name in the reader's scope."""
        name = f"{kind}{len(self.scope)}"
        self.scope[name] = value
        return name

    def fixed(self, layout: str, name: str, behind: str = "") -> None:
        """Adds a value of fixed size to the run, and the line that follows it."""
        self._run.append((layout, name))
        if behind:
            self._behind.append(behind)

    def flush(self) -> None:
        """Reads the run."""
        if not self._run:
            return
        layout = struct.Struct(">" + "".join(each for each, _ in self._run))
        names = ", ".join(name for _, name in self._run)
        if layout.format == ">B":
            self.line(f"{names} = d[o]; o += 1")
        else:
            unpack = self.named("u", layout.unpack_from)
            self.line(f"{names}, = {unpack}(d, o); o += {layout.size}")
        for each in self._behind:
            self.line(each)
        self._run.clear()
        self._behind.clear()

    def entity(self, schema: type, model: type | None) -> str:
        """Adds lines that read the fields of a kio class; returns the expression that makes the model."""
        every = shapes(schema)
        values: dict[str, str] = {}
        for shape in every:
            values[shape.name if model else shape.kio_name] = value = self.named("v", None)
            if shape.tag is None:
                self.field(shape, model, value)
        if self.compact:
            self.tags([(s, value) for s, value in zip(every, values.values(), strict=True)], model)
        if model is None:
            return "{" + ", ".join(f"{name!r}: {value}" for name, value in values.items()) + "}"
        arguments = [values.get(each.name) or self.absent(each) for each in fields(model)]
        return f"{self.named('m', model)}({', '.join(arguments)})"

    def absent(self, field: Field[Any]) -> str:
        """An expression for a model's field that this version does not have: positional arguments are faster
        than keywords."""
        if field.default_factory is MISSING:
            return self.named("d", field.default)
        return "[]" if field.default_factory is list else f"{self.named('d', field.default_factory)}()"

    def tags(self, every: list[tuple[Shape, str]], model: type | None) -> None:
        """Reads tagged fields: those that the version knows, and others."""
        tagged = [(shape, value) for shape, value in every if shape.tag is not None]
        for shape, value in tagged:
            self._behind.append(f"{value} = {self.default(shape, model)}")
        self.fixed("B", "t")
        self.flush()
        if not tagged:
            self.line("if t: o, left = tags(d, o - 1, left)")
            return
        with self.block("if t:"):
            self.line("if t > 127: t, o = long(d, o, t)")
            self.line("if t < 0: raise negative(t)")
            self.line("left -= t")
            self.line("if left < 0: raise many(t, left + t, end)")
            self.known_tags(tagged, model)

    def known_tags(self, tagged: list[tuple[Shape, str]], model: type | None) -> None:
        # What is read inside may have tags itself, but the range has been made by then.
        with self.block("for _ in range(t):"):
            self.line("k, o = varint(d, o); s, o = varint(d, o)")
            for number, (shape, value) in enumerate(tagged):
                with self.block(f"{'elif' if number else 'if'} k == {shape.tag}:"):
                    self.field(shape, model, value)
            self.line("else: o = skip(d, o, s)")

    def default(self, shape: Shape, model: type | None) -> str:
        """An expression for the value of a tagged field that is missing."""
        if shape.array:
            return "[]"
        if shape.entity is None:
            value = encoded(shape.default)
            if value is MISSING:
                value = None if shape.kafka_type == "uuid" else 0
            return self.named("d", value)
        if shape.nullable:
            return "None"
        if model is not None:
            return f"{self.named('d', model_of(model, shape.name))}()"
        defaults = {each.kio_name: encoded(each.default) for each in shapes(shape.entity)}
        return f"dict({self.named('d', defaults)})"

    def field(self, shape: Shape, model: type | None, value: str) -> None:
        """Reads one field into the variable `value`."""
        if shape.array:
            self.array(shape, model, value)
        elif shape.entity is not None and shape.nullable:
            self.fixed("b", "n")
            self.flush()
            self.line(f"if n < 0: {value} = None")
            with self.block("else:"):
                self.one(shape, model, value)
        else:
            self.one(shape, model, value, shape.nullable)

    def array(self, shape: Shape, model: type | None, value: str) -> None:
        self.length("i")
        if self.compact:
            self.line("n -= 1")
        self.line(f"if n < 0: {self.null(shape, value, shape.nullable)}")
        with self.block("else:"):
            self.line("left -= n")
            self.line("if left < 0: raise many(n, left + n, end)")
            if shape.kafka_type in STRUCT:
                each = struct.Struct(">" + STRUCT[shape.kafka_type])
                one, more = self.named("u", each.unpack_from), self.named("u", each.iter_unpack)
                self.line(f"if n == 1: {value} = list({one}(d, o)); o += {each.size}")
                with self.block("else:"):
                    self.line(f"e = o + n * {each.size}")
                    self.line("if e > end: raise short(e - o, end - o)")
                    self.line(f"{value} = [x for x, in {more}(d[o:e])]; o = e")
                return
            self.line(f"{value} = []")
            with self.block("for _ in range(n):"):
                element = self.named("v", None)
                self.one(shape, model, element)
                self.flush()
                self.line(f"{value}.append({element})")
                if self._in_parts:
                    self.line(f"if o > part: part = o + {BYTES_PER_PART}; yield")

    def one(self, shape: Shape, model: type | None, value: str, nullable: bool = False) -> None:
        """Reads one value: of a field, or of an array."""
        kind = shape.kafka_type
        if shape.entity is not None:
            made = self.entity(shape.entity, None if model is None else model_of(model, shape.name))
            self.flush()
            self.line(f"{value} = {made}")
        elif kind in STRUCT:
            plain_time = model is None and kind == "datetime_i64"
            self.fixed(STRUCT[kind], value, f"{value} = when({value})" if plain_time else "")
        elif kind == "uuid":
            self.fixed("16s", value, f"{value} = None if {value} == zero else uuid({value})")
        else:
            self.sized(shape, value, nullable)

    def sized(self, shape: Shape, value: str, nullable: bool) -> None:
        """Text, bytes or records."""
        text = shape.kafka_type == "string"
        self.length("h" if text else "i")
        if self.compact:
            if text:
                self.line(f"if n > {MOST_TEXT + 1}: raise large(n - 1)")
            self.line("n -= 1")
        self.line(f"if n < 0: {self.null(shape, value, nullable)}")
        with self.block("else:"):
            self.line("e = o + n")
            self.line("if e > end: raise short(n, end - o)")
            decode = ".decode('utf-8', text)" if text else ""
            self.line(f"{value} = d[o:e]{decode}; o = e")

    def length(self, layout: str) -> None:
        """Reads a length into `n`: in compact form it is one more than the length."""
        self.fixed("B" if self.compact else layout, "n")
        self.flush()
        if self.compact:
            self.line("if n > 127: n, o = long(d, o, n)")

    def null(self, shape: Shape, value: str, nullable: bool) -> str:
        return f"{value} = None" if nullable else f"raise null({shape.kio_name!r})"


@functools.lru_cache(4096)
def _uuid(data: bytes) -> UUID:
    return UUID(bytes=data)


def _when(ms: int) -> str | int | None:
    """ISO 8601 if there is such a time; -1 means none."""
    try:
        return None if ms == -1 else (EPOCH + timedelta(milliseconds=ms)).isoformat()
    except OverflowError:
        return ms


def _null(name: str) -> ValueError:
    return ValueError(f"{name} is null, which it can't be")


def _skip_tags(data: bytes, offset: int, left: int) -> tuple[int, int]:
    """The offset after unknown tagged fields, and how many entries may still come."""
    count, _ = read_uvarint(data, offset)
    return skip_tags(data, offset, left), left - count


def _short(size: int, left: int) -> ValueError:
    return ValueError(f"{size} bytes announced, {left} left")


def _negative(count: int) -> ValueError:
    return ValueError(f"{count} tagged fields")


def _too_large(size: int) -> ValueError:
    return ValueError(f"a text of {size} bytes: {MOST_TEXT} is the most")


def _too_many(count: int, left: int, size: int) -> ValueError:
    limit = f"{MAX_ENTRIES} in all is the most" if size > MAX_ENTRIES else "more than there can be"
    return ValueError(f"{count} entries announced where {left} may come: {limit}")
