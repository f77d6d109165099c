"""Makes what operations return from what the cluster holds: dictionaries, by their types."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints, is_typeddict

T = TypeVar("T")


def shaped(kind: type[T], source: object, **other: Any) -> T:
    """A dictionary of the TypedDict `kind`: each field is an attribute of `source` with the same name, unless
    `other` has it."""
    return cast(
        T,
        {
            name: other[name] if name in other else _plain(hint, getattr(source, name))
            for name, hint in _hints(cast(Any, kind)).items()
        },
    )


def _plain(hint: Any, value: Any) -> Any:
    """Sequences become lists, mappings dictionaries, and what has a TypedDict one of those."""
    if is_typeddict(hint):
        return shaped(hint, value)
    if isinstance(value, tuple | list):
        lists = (each for each in (hint, *get_args(hint)) if get_origin(each) is list)
        (item,) = get_args(next(lists, list[Any]))
        return [_plain(item, each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
