"""Requests and answers as plain values, for files and for people."""

import functools
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from types import NoneType
from typing import Any, Final
from uuid import UUID

from ..protocol.errors import error_name
from ..protocol.record_batch import HEADER_BYTES, parse_header

MOST_ENTRIES: Final = 1_000
"""How many entries of all lists in a request, or in an answer, a trace keeps."""
LEFT_OUT: Final = "left_out"
_WEIGHED: Final = frozenset((dict, list, str))


_AS_IT_IS: Final = frozenset((int, str, bool, NoneType))


class _Room:
    """For how many entries of lists there is room, and how many were left out."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.out = 0

    def cut(self, entries: Sequence[Any]) -> Sequence[Any]:
        kept = entries[: self.left]
        self.left -= len(kept)
        self.out += len(entries) - len(kept)
        return kept


def shortened(message: Any, most: int = MOST_ENTRIES) -> dict[str, Any]:
    """As `plain`, with the first `most` entries of all lists; `left_out` says how many there were besides,
    not counting what is in them."""
    room = _Room(most)
    value: dict[str, Any] = plain(message, room=room)
    return {**value, LEFT_OUT: room.out} if room.out else value


def plain(value: Any, name: str = "", room: _Room | None = None) -> Any:
    """A value that JSON has. Records become the headers of their batches, other bytes their size."""
    if name == "records" and value is not None:
        return batches(value)
    kind = type(value)
    if (known := _fields_of(kind)) is not None:
        found = {}
        for each, as_it_is in known:
            inner = getattr(value, each)
            found[each] = inner if as_it_is and type(inner) in _AS_IT_IS else plain(inner, each, room)
        return found
    if isinstance(value, dict):
        return {each: plain(inner, each, room) for each, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, "", room) for each in (value if room is None else room.cut(value))]
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": len(value)}
    if isinstance(value, UUID):
        return str(value)
    if name.endswith("error_code"):
        return error_name(getattr(value, "value", value))
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, datetime):
        return value.isoformat()
    return value


@functools.cache
def _fields_of(kind: type) -> tuple[tuple[str, bool], ...] | None:
    """The fields of a model, and whether numbers and texts in them stay as they are; None if it is none."""
    if not is_dataclass(kind):
        return None
    return tuple((each.name, not each.name.endswith(("error_code", "records"))) for each in fields(kind))


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
    """The headers of record batches; for a torn last one, only its size."""
    data = memoryview(bytes(records) if not isinstance(records, list | tuple) else b"".join(records))
    found: list[dict[str, Any]] = []
    start = 0
    while start < len(data):
        rest = data[start:]
        if len(rest) < HEADER_BYTES:
            found.append({"bytes": len(rest)})
            break
        one = parse_header(rest)
        found.append(
            {
                "base_offset": one.base_offset,
                # Before magic 2 the offset of a message is that of the last record in it.
                "last_offset": one.base_offset + (one.last_offset_delta if one.magic >= 2 else 0),
                "bytes": one.length + 12,
                "leader_epoch": one.leader_epoch,
                "producer_id": one.producer_id,
                "producer_epoch": one.producer_epoch,
                "base_sequence": one.base_sequence,
                "records": one.record_count,
            }
        )
        start += max(one.length + 12, HEADER_BYTES)
    return found
