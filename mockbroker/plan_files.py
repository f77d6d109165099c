"""Files of experiments: histories, plans, sessions and sequences, to be kept, edited and played again.

A file is JSON: an object that begins with its `schema` and `version`, and, where an experiment is a list of
steps, one more object a line. Lines before it that begin with `#` are comments.
"""

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

from .errors import MockBrokerError
from .nearest import nearest

T = TypeVar("T")
COMMENT: Final = "#"
Row = dict[str, Any]


class PlanError(MockBrokerError, ValueError):
    """A file that is not what it should be, or that this version can't play."""


def read_file(path: Path, read: Callable[[str], T]) -> T:
    """What a file holds. PlanError that names it, OSError."""
    try:
        return read(path.read_text())
    except PlanError as error:
        raise PlanError(f"{path} is {error}") from None


@dataclass(frozen=True)
class Schema:
    """A kind of file. `version` goes up when a field changes its meaning or is removed; `what` a file is, in
    messages. Those of `unversioned` kinds were once written without schema and version: an object, or a list
    of rows. Fields that it `needs` have to be there although they have defaults."""

    name: str
    version: int
    what: str
    unversioned: bool = False
    needs: tuple[str, ...] = ()

    def text(
        self, head: Mapping[str, Any], rows: Iterable[Row] | None = None, about: Iterable[str] = ()
    ) -> str:
        """The text of a file, always the same for the same content; bytes are in hex."""
        named = {"schema": self.name, "version": self.version, **head}
        lines = [f"{COMMENT} {line}" for line in about]
        lines.append(json.dumps(named, indent=1 if rows is None else None, default=bytes.hex))
        lines += [json.dumps(row, default=bytes.hex) for row in rows or ()]
        return "\n".join(lines) + "\n"

    def read(self, text: str) -> tuple[Row, list[Row]]:
        """The object, without schema and version, and the rows. PlanError."""
        try:
            head, *rows = _values(text)
        except (ValueError, RecursionError) as error:
            raise self.error(str(error)) from None
        if self.unversioned and isinstance(head, list):
            return {}, head
        if not isinstance(head, dict):
            raise self.error("it is no JSON object")
        if "schema" in head or not self.unversioned:
            if (name := head.pop("schema", None)) != self.name:
                raise self.error(f"its schema is {name!r}, not {self.name!r}")
            if (version := head.pop("version", None)) != self.version:
                raise PlanError(f"{self.what} of version {version}: this mockbroker knows {self.version}")
        return head, rows

    def error(self, why: str) -> PlanError:
        """What to raise for a file that is not of this kind."""
        return PlanError(f"not {self.what}: {why}")

    def built(self, kind: type[T], row: Any) -> T:
        """An instance of a dataclass from its fields, as JSON has them. PlanError."""
        try:
            return kind(**_fields(kind, row, self.needs))
        except (TypeError, ValueError) as error:
            raise self.error(str(error)) from None


def _values(text: str) -> Iterator[Any]:
    """The JSON values of a text, one after the other. ValueError, RecursionError."""
    while text.startswith(COMMENT):
        text = text.partition("\n")[2]
    decoder, text = json.JSONDecoder(), text.strip()
    value, at = decoder.raw_decode(text)
    yield value
    while at < len(text):
        if not text[at].isspace():
            value, at = decoder.raw_decode(text, at)
            yield value
        else:
            at += 1


def as_row(value: Any) -> Row:
    """The fields of a dataclass that differ from their defaults, or have none."""
    return {
        each.name: getattr(value, each.name)
        for each in fields(value)
        if each.default is MISSING or each.default != getattr(value, each.name)
    }


_hints = functools.cache(get_type_hints)


def _built(kind: Any, value: Any) -> Any:
    """A value of that type. TypeError, ValueError."""
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**_fields(kind, value))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is bytes:
        return bytes.fromhex(value)
    tuples = [get_args(each) for each in (kind, *get_args(kind)) if get_origin(each) is tuple]
    if not tuples or not (isinstance(value, list) or get_origin(kind) is tuple):
        return value
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    inner, *others = tuples[0]
    kinds = [inner] * len(value) if others == [...] else tuples[0]
    return tuple(map(_built, kinds, value))


def _fields(kind: Any, value: Any, needs: Iterable[str] = ()) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} has no fields")
    hints = _hints(kind)
    for name in value:
        if name not in hints:
            raise TypeError(f"there is no {name!r}{nearest(name, hints)}")
    required = [each.name for each in fields(kind) if each.default is each.default_factory is MISSING]
    for name in (*needs, *required):
        if name not in value:
            raise TypeError(f"it lacks {name!r}")
    return {name: _built(hints[name], each) for name, each in value.items()}
