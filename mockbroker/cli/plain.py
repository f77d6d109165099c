"""Reads a command line with which nothing is wrong. Errors, help and all that is rare are left to typer."""

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

Limits = Mapping[str, tuple[int, int | None]]
"""The least and the most that an option may be, by its keyword."""


def plain(
    function: Callable[..., None], words: list[str], limits: Limits, short: Mapping[str, str]
) -> dict[str, Any] | None:
    """The keywords that options give to a function, by its annotations. None where anything is unusual.

    `short` has the long form of short options.
    """
    options = {f"--{name.replace('_', '-')}": name for name in function.__annotations__ if name != "return"}
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        option, equals, text = short.get(word, word).partition("=")
        name = options.get(option)
        if name is None:
            return None
        kind: Any = function.__annotations__[name]
        kind = next((each for each in get_args(kind) if each is not NoneType), kind)
        several = get_origin(kind) is list
        if kind is bool:
            value: Any = not equals or None
        else:
            value = _value(
                get_args(kind)[0] if several else kind, text if equals else next(rest, ""), limits.get(name)
            )
        if value is None:
            return None
        if several:
            found.setdefault(name, []).append(value)
        elif name in found:
            return None
        else:
            found[name] = value
    return found


def _value(kind: Any, text: str, limits: tuple[int, int | None] | None) -> Any:
    """None for a text that may be wrong."""
    if not text or text.startswith("-"):
        return None
    if kind is int:
        if not (text.isascii() and text.isdecimal()):
            return None
        least, most = limits or (0, None)
        value = int(text)
        return value if value >= least and (most is None or value <= most) else None
    if kind is Path:
        return Path(text)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((each for each in kind if each.value == text), None)
    return text
