"""Tables as text: in a pipe one line for each row; on a terminal no wider than that, or a block for each row.

No borders, so that they can be cut and searched, and no colours.
"""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..shown import shown

_GAP: Final = "  "
_NOTHING: Final = "-"
_INDENT: Final = "    "
_TEXT_COLUMNS: Final = 100


def width() -> int | None:
    """The number of columns of the terminal; None if lines may have any length."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def text_width() -> int:
    """The number of columns for text that is wrapped, with or without a terminal."""
    return width() or _TEXT_COLUMNS


def of_answer(answer: Any, within: int | None) -> Iterator[str]:
    """The lines for any JSON: a table for a list of objects, the fields of an object, or the value itself."""
    if isinstance(answer, list) and _objects(answer):
        titles = list(dict.fromkeys(name for row in answer for name in row))
        yield from table(titles, [[cell(row.get(name)) for name in titles] for row in answer], within)
    elif isinstance(answer, Mapping):
        plain = {name: value for name, value in answer.items() if not _objects(value)}
        yield from fields({name: cell(value) for name, value in plain.items()}, within)
        for name, value in answer.items():
            if _objects(value):
                yield ""
                yield f"{name}:"
                yield from of_answer(value, within)
    else:
        yield "none" if answer == [] else cell(answer)


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], within: int | None) -> Iterator[str]:
    """A line of titles, then the rows; a block for each row if not even the longest words would fit."""
    natural = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    if within is None or _total(natural) <= within:
        for row in (titles, *rows):
            yield _line(row, natural)
        return
    # Titles may be broken between words too.
    least = [
        max(len(word) for text in column for word in text.split() or [""])
        for column in zip([title.replace("_", " ") for title in titles], *rows, strict=True)
    ]
    if _total(least) > within:
        for number, row in enumerate(rows):
            if number:
                yield ""
            yield from fields(dict(zip(titles, row, strict=True)), within)
        return
    wanted = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths = _shared(_shared(least, wanted, within), natural, within)
    for row in ([title.replace("_", " ") for title in titles], *rows):
        wrapped = [_wrapped(text, size) for text, size in zip(row, widths, strict=True)]
        for number in range(max(map(len, wrapped))):
            yield _line([part[number] if number < len(part) else "" for part in wrapped], widths)


def fields(values: Mapping[str, str], within: int | None) -> Iterator[str]:
    """Name and value, one line each; long values continue below where they began."""
    indent = max(map(len, values), default=0) + len(_GAP)
    room = None if within is None or within - indent < len(_INDENT) else within - indent
    for name, value in values.items():
        first, *rest = [value] if room is None else _wrapped(value, room)
        yield f"{name:{indent}}{first}".rstrip()
        for line in rest:
            yield " " * indent + line


def cell(value: Any) -> str:
    """A value in one line."""
    if value is None or value == "" or value == [] or value == {}:
        return _NOTHING
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{shown(name)} {cell(each)}" for name, each in value.items())
    if isinstance(value, list):
        if _objects(value):
            return "; ".join(map(cell, value))
        return ", ".join(
            ":".join(map(cell, each)) if isinstance(each, list) else cell(each) for each in value
        )
    return json.dumps(value)


def write(lines: Iterator[str]) -> None:
    """Writes to stdout."""
    for line in lines:
        sys.stdout.write(line + "\n")


def _objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(f"{text:{size}}" for text, size in zip(row, widths, strict=True)).rstrip()


def _shared(least: Sequence[int], wanted: Sequence[int], within: int) -> list[int]:
    """Widths between `least` and `wanted`: the columns that lack most get more."""
    widths = list(least)
    for _ in range(within - _total(least)):
        lacking = [want - width for want, width in zip(wanted, widths, strict=True)]
        if max(lacking) <= 0:
            break
        widths[lacking.index(max(lacking))] += 1
    return widths


def _wrapped(text: str, size: int) -> list[str]:
    return textwrap.wrap(text, size, break_on_hyphens=False) or [""]
