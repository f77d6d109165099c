"""Where the answers of an API have error codes, as its model declares (`messages.places.places`)."""

import collections.abc
import functools
import importlib
import typing
from collections.abc import Iterator, Sequence
from dataclasses import Field, fields, is_dataclass
from typing import Any, Final, NamedTuple

from ..protocol.api_keys import ApiKey
from .match import api_name

LEVELS: Final = ("top", "topic", "partition", "group", "member", "coordinator", "transaction", "resource")
"""Where an answer may have an error code."""


class Level(NamedTuple):
    """Before version `since`, the level `around` it has its errors."""

    name: str
    since: int
    around: str


def response_class(api: ApiKey) -> type:
    return _model(api, "Response")


def request_class(api: ApiKey) -> type:
    return _model(api, "Request")


def _model(api: ApiKey, what: str) -> type:
    module = importlib.import_module(f"mockbroker.protocol.messages.{api.name.lower()}")
    return getattr(module, api_name(api) + what)  # type: ignore[no-any-return]


@functools.cache
def error_field(model: type) -> str | None:
    """The field of an entry that has its error code."""
    names = [each.name for each in fields(model)]
    return next((name for name in ("error_code", "partition_error_code") if name in names), None)


def level_of(field: Field[Any]) -> str:
    """The level of the entries of a list; where the model declares none, the name of the list."""
    return str(field.metadata.get("level", field.name))


def levels(api: ApiKey) -> tuple[str, ...]:
    """Where the answers of an API have error codes, the innermost last."""
    return tuple(_levels_of(api))


def level_in(api: ApiKey, version: int, level: str) -> str:
    """The level that has the errors of `level` in that version."""
    found = _levels_of(api).get(level)
    return found.around if found and version < found.since else level


@functools.cache
def _levels_of(api: ApiKey) -> dict[str, Level]:
    found: dict[str, Level] = {}
    for each in _levels(response_class(api), Level("top", 0, "top")):
        found.setdefault(each.name, each)
    return found


def _levels(model: type, level: Level) -> Iterator[Level]:
    if error_field(model):
        yield level
    for each, inner in lists_of(model):
        yield from _levels(inner, Level(level_of(each), each.metadata.get("since", 0), level.name))


@functools.cache
def lists_of(model: type) -> tuple[tuple[Field[Any], type], ...]:
    """The fields of a model that are lists of models, and the models of their entries."""
    hints = typing.get_type_hints(model)
    found = ((each, entity_of(hints[each.name])) for each in fields(model))
    return tuple((each, inner) for each, inner in found if inner is not None)


def place_of(model: type, path: Sequence[str], level: str = "top") -> str | None:
    """The level of what is in the lists `path` of an answer; None if there are no such lists."""
    if not path:
        return level
    for each, inner in lists_of(model):
        if each.name == path[0]:
            return place_of(inner, path[1:], level_of(each))
    return None


def entity_of(hint: Any) -> type | None:
    """The model of a list's entries, None if the field is not a list of models."""
    for origin in (hint, *typing.get_args(hint)):
        if typing.get_origin(origin) in (list, collections.abc.Sequence):
            (inner,) = typing.get_args(origin)
            return inner if is_dataclass(inner) else None  # type: ignore[return-value]
    return None


@functools.cache
def paths(model: type) -> tuple[tuple[str, ...], ...]:
    """The names that lead to every plain field of an answer."""
    return tuple(_paths(model, ()))


def _paths(model: type, before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    hints: dict[str, Any] = typing.get_type_hints(model)
    for each in fields(model):
        hint = hints[each.name]
        inner: Any = entity_of(hint) or (hint if is_dataclass(hint) else None)
        if inner is None:
            yield (*before, each.name)
        else:
            yield from _paths(inner, (*before, each.name))
