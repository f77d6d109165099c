"""Events as JSON, at the price of writing their values: a function is made for each kind."""

import json
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any, Final

from .event import Event

encode: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_SHORT: Final = 10


def as_json(event: Event) -> str:
    """The row of an event, without line breaks."""
    kind = type(event)
    made = _MADE.get(kind)
    if made is None:
        made = _MADE[kind] = _made(kind, ["event"], "event.")
    return made(event)


def values_as_json(values: tuple[Any, ...]) -> str:
    """The same of an event's number, its kind, and its other fields; the last ones may be missing."""
    kind = values[1]
    made = _MADE_OF_VALUES.get(kind)
    if made is None:
        # No field hides what is called.
        names = [f"own_{each.name}" for each in fields(kind)]
        defaults = tuple(each.default for each in fields(kind) if each.default is not MISSING)
        made = _MADE_OF_VALUES[kind] = _made(kind, [names[0], "kind", *names[1:]], "own_")
        made.__defaults__ = defaults
    return made(*values)


_MADE: Final[dict[type[Event], Callable[..., str]]] = {}
_MADE_OF_VALUES: Final[dict[type[Event], Callable[..., str]]] = {}


def _made(kind: type[Event], parameters: Iterable[str], of: str) -> Callable[..., str]:
    """`of` is what comes before the name of a field."""
    parts = [f'{{{{"kind":"{kind.kind}"']
    for each in fields(kind):
        value = f"{of}{each.name}"
        if each.type is int:
            text = f"{value} if type({value}) is int else encode({value})"
        elif each.type is str:
            text = f"quoted({value})"
        elif each.type is Any or "dict" in str(each.type):
            text = f"encode({value})"
        else:
            text = f"written({value})"
        parts.append(f'"{each.name}":{{{text}}}')
    found: dict[str, Any] = {"encode": encode, "quoted": encode_basestring_ascii, "written": _written}
    exec(f"def made({', '.join(parameters)}):\n    return f'{','.join(parts)}}}}}'", found)
    made: Callable[..., str] = found["made"]
    return made


def _written(value: Any) -> str:
    # The same few names, brokers and epochs come again and again. There is no bool in a tuple of an event: to
    # the cache, True in one would be 1.
    kind = type(value)
    return _known(value) if kind is str or (kind is tuple and len(value) < _SHORT) else encode(value)


_known = lru_cache(1_000, typed=True)(encode)
