"""What a cluster keeps: everything that can be reached from it, counted by kind and by where it is kept."""

import functools
import gc
import types
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, Final

_CONTAINERS: Final = (dict, list, set, frozenset, tuple, deque)
_NOT_ENTERED: Final = (
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.CodeType,
    str,
    bytes,
    bytearray,
    int,
    float,
    bool,
    type(None),
)
ALL: Final = "all that Python tracks"


def kept(*roots: object) -> Counter[str]:
    """How many instances of each class are kept, and how many entries each `Class.attribute` holds in all."""
    gc.collect()
    counts: Counter[str] = Counter({ALL: len(gc.get_objects())})
    seen = {id(root) for root in roots}
    waiting: list[Any] = list(roots)
    while waiting:
        one = waiting.pop()
        if not isinstance(one, (*_CONTAINERS, types.FunctionType, types.MethodType, types.CellType)):
            counts[type(one).__qualname__] += 1
        for name, value in _parts(one):
            if isinstance(value, _CONTAINERS) and name:
                counts[f"{type(one).__qualname__}.{name}"] += len(value)
            if not isinstance(value, _NOT_ENTERED) and id(value) not in seen:
                seen.add(id(value))
                waiting.append(value)
    return counts


def _parts(one: Any) -> Iterable[tuple[str, Any]]:
    """What an object refers to, with the names of attributes."""
    if isinstance(one, dict):
        yield from (("", each) for pair in one.items() for each in pair)
    elif isinstance(one, _CONTAINERS):
        yield from (("", each) for each in one)
    elif isinstance(one, types.FunctionType):
        yield from (("", each) for each in one.__closure__ or ())
        yield from (("", each) for each in one.__defaults__ or ())
    elif isinstance(one, types.CellType):
        try:
            yield "", one.cell_contents
        except ValueError:
            return
    elif isinstance(one, types.MethodType):
        yield "", one.__self__
    elif isinstance(one, functools.partial):
        yield from (("", each) for each in (one.func, one.args, one.keywords))
    else:
        yield from vars(one).items() if hasattr(one, "__dict__") else ()
        for kind in type(one).__mro__:
            for name in _slots(kind):
                if hasattr(one, name):
                    yield name, getattr(one, name)


@functools.cache
def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(
        f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") else name
        for name in names
        if name not in ("__dict__", "__weakref__")
    )
