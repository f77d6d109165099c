"""The error codes in an answer, found without making plain values of it: a function for each kind of
answer."""

import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final

Codes = Callable[[Any], Sequence[int]]


def error_codes(answer: Any) -> Sequence[int]:
    """Those that are not NONE, each once, in the order of the answer."""
    model = type(answer)
    found = _COMPILED.get(model)
    if found is None:
        found = _COMPILED[model] = _compiled(model)
    return found(answer)


_COMPILED: Final[dict[type, Codes]] = {}


def _compiled(model: type) -> Codes:
    lines = [
        "def codes(entity0):",
        "    found = None",
        *_lines(model, "entity0", 1),
        "    return () if found is None else tuple(found)",
    ]
    made: dict[str, Codes] = {}
    exec("\n".join(lines), made)
    return made["codes"]


def _lines(model: type, entity: str, depth: int) -> Iterator[str]:
    """Lines that add the codes of an entity to `found`; none if it has no field for them."""
    margin = "    " * depth
    hints = typing.get_type_hints(model)
    inner = f"entity{depth}"
    for each in fields(model):
        value = f"{entity}.{each.name}"
        if each.name.endswith("error_code"):
            yield f"{margin}if {value}:"
            yield f"{margin}    found = found or {{}}"
            yield f"{margin}    found[int({value})] = None"
        elif (of := _entity_in(hints[each.name])) and (within := list(_lines(of, inner, depth + 1))):
            entries = (
                f"{value} or ()" if _is_list(hints[each.name]) else f"() if {value} is None else ({value},)"
            )
            yield f"{margin}for {inner} in {entries}:"
            yield from within


def _is_list(hint: Any) -> bool:
    return any(typing.get_origin(each) in (list, Sequence) for each in (hint, *typing.get_args(hint)))


def _entity_in(hint: Any) -> type | None:
    """The model of a field, or of the elements of its list."""
    if is_dataclass(hint):
        return hint  # type: ignore[return-value]
    return next(filter(None, map(_entity_in, typing.get_args(hint))), None)
