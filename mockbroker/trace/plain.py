"""Requests and answers as plain values, for files and for people."""

import functools
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from types import NoneType
from typing import Any, Final
from uuid import UUID

from ..protocol import message_set
from ..protocol.errors import error_name
from ..protocol.record_batch import HEADER_BYTES, MAGIC, OVERHEAD_BYTES, BatchHeader, parse_header

MOST_ENTRIES: Final = 1_000
"""How many entries of all lists in a request, or in an answer, a trace keeps."""
LEFT_OUT: Final = "left_out"
_MAGIC_AT: Final = 16
_WEIGHED: Final = frozenset((dict, list, str))


_AS_IT_IS: Final = frozenset((int, str, bool, NoneType))
_LISTS: Final = (list, tuple)
_BYTES: Final = (bytes, bytearray, memoryview)


class _Room:
    """For how many entries of lists there is room, and how many were left out; `weight` is that of what was
    kept."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.out = 0
        self.weight = 0

    def cut(self, entries: Sequence[Any]) -> Sequence[Any]:
        count = len(entries)
        if count > self.left:
            self.out += count - self.left
            entries, count = entries[: self.left], self.left
        self.left -= count
        self.weight += count
        return entries


def shortened(message: Any, most: int = MOST_ENTRIES) -> tuple[dict[str, Any], int]:
    """As `plain`, with the first `most` entries of all lists; `left_out` says how many there were besides,
    not counting what is in them. And the `weight` of that."""
    room = _Room(most)
    make = _MODELS[type(message)]
    value: dict[str, Any] = plain(message, room=room) if make is None else make(message, room)
    return {**value, LEFT_OUT: room.out} if room.out else value, room.weight


def plain(value: Any, name: str = "", room: _Room | None = None) -> Any:
    """A value that JSON has. Records become the headers of their batches, other bytes their size."""
    room = _Room(sys.maxsize) if room is None else room
    kind: type = type(value)
    if name == "records" and value is not None:
        heads = batches(value)
        room.weight += len(heads)
        return heads
    if (model := _MODELS[kind]) is not None:
        return model(value, room)
    if isinstance(value, _LISTS):
        return [plain(each, "", room) for each in room.cut(value)]
    if name.endswith("error_code"):
        return error_name(getattr(value, "value", value))
    if isinstance(value, str):
        room.weight += len(value) >> 8
        return value
    if isinstance(value, dict):
        return {each: plain(inner, each, room) for each, inner in value.items()}
    if isinstance(value, _BYTES):
        return {"bytes": len(value)}
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, datetime):
        return value.isoformat()
    return value


Model = Callable[[Any, _Room], dict[str, Any]]


class _Models(dict[type, Model | None]):
    """What makes the plain value of a model, a function for each kind; None for what is no model."""

    def __missing__(self, kind: type) -> Model | None:
        found = self[kind] = _compiled(kind) if is_dataclass(kind) else None
        return found


_MODELS: Final = _Models()


def _compiled(kind: type) -> Model:
    hints = typing.get_type_hints(kind)
    texts, values = [], []
    for each in fields(kind):
        name, value = each.name, f"value.{each.name}"
        hint = hints[name]
        kinds = {hint} if type(hint) is type else {*typing.get_args(hint)}
        if kinds <= _AS_IT_IS and not name.endswith(("error_code", "records")):
            if str in kinds:
                texts.append(f"    room.weight += len({value} or '') >> 8")
        elif any(is_dataclass(one) for part in (hint, *kinds) for one in typing.get_args(part)):
            entries = f"[models[type(each)](each, room) for each in room.cut({value})] if {value} else []"
            value = f"({entries}) if type({value}) in lists else plain({value}, {name!r}, room)"
        else:
            value = f"None if {value} is None else plain({value}, {name!r}, room)"
        values.append(f"{name!r}: {value}")
    lines = ["def made(value, room):", *texts, f"    return {{{', '.join(values)}}}"]
    found: dict[str, Any] = {"models": _MODELS, "plain": plain, "lists": _LISTS}
    exec("\n".join(lines), found)
    made: Model = found["made"]
    return made


def weight(value: Any) -> int:
    """How many entries the lists in a result of `plain` have, in all; 256 letters of a text count as one."""
    kind = type(value)
    if kind is dict:
        return sum(weight(inner) for inner in value.values() if type(inner) in _WEIGHED)
    if kind is list:
        return len(value) + sum(weight(inner) for inner in value if type(inner) in _WEIGHED)
    return len(value) >> 8


def remade(model: type, value: Mapping[str, Any]) -> Any:
    """A request from its plain value, with all that it names; what else `plain` has lost stays as it is
    there."""
    kinds = _kinds(model)
    there = {name: inner for name, inner in value.items() if name != LEFT_OUT}
    return model(**{name: _remade(kinds.get(name), inner) for name, inner in there.items()})


def _remade(kind: type | None, value: Any) -> Any:
    if kind is None or value is None:
        return value
    if isinstance(value, list):
        return [_remade(kind, each) for each in value]
    return UUID(value) if kind is UUID else remade(kind, value)


@functools.cache
def _kinds(model: type) -> Mapping[str, type]:
    """The fields that have models or UUIDs, or lists of them."""
    found: dict[str, type] = {}
    for name, hint in typing.get_type_hints(model).items():
        inner = [hint, *typing.get_args(hint)]
        for kind in [*inner, *(each for one in inner for each in typing.get_args(one))]:
            if isinstance(kind, type) and (kind is UUID or is_dataclass(kind)):
                found[name] = kind
    return found


def errors(value: Any) -> Iterator[str]:
    """The names of all error codes in a result of `plain`, except NONE."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name.endswith("error_code"):
                if inner != "NONE":
                    yield inner
            else:
                yield from errors(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from errors(inner)


def batches(records: Any) -> list[dict[str, Any]]:
    """The headers of record batches, and what these would say of messages of magic 0 and 1; for a torn one,
    only its size."""
    data = memoryview(bytes(records) if not isinstance(records, list | tuple) else b"".join(records))
    found: list[dict[str, Any]] = []
    start = 0
    while start < len(data):
        rest = data[start:]
        one = _head(rest)
        if one is None:
            found.append({"bytes": len(rest)})
            break
        size = one.length + OVERHEAD_BYTES
        found.append(
            {
                "base_offset": one.base_offset,
                "last_offset": one.base_offset + one.last_offset_delta,
                "bytes": size,
                "leader_epoch": one.leader_epoch,
                "producer_id": one.producer_id,
                "producer_epoch": one.producer_epoch,
                "base_sequence": one.base_sequence,
                "records": one.record_count,
            }
        )
        start += size if one.magic < MAGIC else max(size, HEADER_BYTES)
    return found


def _head(data: memoryview) -> BatchHeader | None:
    """None if the batch at the start is torn."""
    if len(data) > _MAGIC_AT and data[_MAGIC_AT] < MAGIC:
        return _head_of_message(data)
    return None if len(data) < HEADER_BYTES else parse_header(data)


def _head_of_message(data: memoryview) -> BatchHeader | None:
    size = int.from_bytes(data[8:OVERHEAD_BYTES], signed=True) + OVERHEAD_BYTES
    if not OVERHEAD_BYTES < size <= len(data):
        return None
    try:
        message = message_set.message_in(data[:size])
        inner = message_set.records(message)
    except ValueError:
        return None
    times = [each.timestamp for each in inner] or [message.timestamp]
    first = inner[0].offset if inner else message.offset
    return BatchHeader(
        first,
        size - OVERHEAD_BYTES,
        -1,
        message.magic,
        message.crc,
        message.attributes,
        message.offset - first,
        times[0],
        max(times),
        -1,
        -1,
        -1,
        len(inner),
    )
