"""Types of arguments and results: how values are read, and their JSON schema."""

import types
from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_KINDS: dict[Any, tuple[str, str]] = {
    int: ("integer", "a number"),
    float: ("number", "a number"),
    str: ("string", "text"),
    bool: ("boolean", "true or false"),
}
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Described(NamedTuple):
    """The parts of an annotation."""

    kind: Any
    optional: bool
    help: str


def describe(annotation: Any) -> Described:
    """`Annotated[int, "A broker's id"] | None` is an int, optional, and a broker's id."""
    text, optional = "", False
    while True:
        if get_origin(annotation) is Annotated:
            annotation, text = get_args(annotation)[:2]
        elif get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation):
            rest = [each for each in get_args(annotation) if each is not type(None)]
            annotation, optional = Union[tuple(rest)], True  # noqa: UP007
        else:
            return Described(annotation, optional, text)


def read(annotation: Any, value: Any, *, text: bool = False) -> Any:
    """`value` as the annotated type; with `text`, also from text. ValueError says what to give instead."""
    kind, optional, _ = describe(annotation)
    if value is None and optional:
        return None
    if get_origin(kind) is list:
        [item] = get_args(kind)
        values = value if isinstance(value, list) else [value]
        return [read(item, each, text=text) for each in values]
    if get_origin(kind) is dict:
        return _read_pairs(kind, value)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"give {in_words(kind)}")
        return value
    if get_origin(kind) in (Union, types.UnionType):
        for each in get_args(kind):
            try:
                return read(each, value, text=text)
            except ValueError:
                continue
        raise ValueError(f"give {' or '.join(in_words(each) for each in get_args(kind))}")
    if text:
        value = _from_text(kind, value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in _KINDS and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
        raise ValueError(f"give {in_words(kind)}")
    return value


def _from_text(kind: Any, value: Any) -> Any:
    try:
        if kind is bool:
            return _BOOLEANS[str(value).lower()]
        return kind(value) if kind in (int, float) else value
    except (KeyError, ValueError):
        raise ValueError(f"give {in_words(kind)}") from None


def _read_pairs(kind: Any, value: Any) -> dict[str, Any]:
    """An object, or texts NAME=VALUE."""
    item = get_args(kind)[1]
    if isinstance(value, Mapping):
        return {name: read(item, each) for name, each in value.items()}
    pairs = {}
    for each in value if isinstance(value, list) else [value]:
        name, equals, rest = each.partition("=") if isinstance(each, str) else ("", "", "")
        if not name or not equals:
            raise ValueError(f"give {in_words(kind)}")
        pairs[name] = read(item, rest, text=True)
    return pairs


def in_words(kind: Any) -> str:
    """A type in a few words."""
    if get_origin(kind) is dict:
        return "names and values: an object, or NAME=VALUE"
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    return _KINDS[kind][1] if kind in _KINDS else "a list"


def json_schema(annotation: Any) -> dict[str, Any]:
    """The JSON schema of values of that type."""
    kind, optional, help_text = describe(annotation)
    schema = _of(kind)
    if optional:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "description": help_text} if help_text else schema


def _of(kind: Any) -> dict[str, Any]:
    if kind in _KINDS:
        return {"type": _KINDS[kind][0]}
    if kind in (None, type(None)):
        return {"type": "null"}
    if get_origin(kind) is list:
        return {"type": "array", "items": json_schema(get_args(kind)[0])}
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    if get_origin(kind) in (Union, types.UnionType):
        return {"anyOf": [_of(each) for each in get_args(kind)]}
    if is_typeddict(kind):
        hints: Mapping[str, Any] = get_type_hints(kind, include_extras=True)
        return {
            "type": "object",
            "properties": {name: json_schema(each) for name, each in hints.items()},
            "required": sorted(kind.__required_keys__),
        }
    if get_origin(kind) is dict and get_args(kind)[1] in _KINDS:
        return {"type": "object", "additionalProperties": _of(get_args(kind)[1])}
    return {"type": "object"} if kind is dict or get_origin(kind) is dict else {}
