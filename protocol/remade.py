"""Classes like kio's for what kio lacks: made of those of another version, or anew, they can be read and
written like kio's."""

import functools
import operator
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from typing import Any, Final, NamedTuple

_KEPT: Final = ("__type__", "__api_key__")


class Member(NamedTuple):
    """A field that the other version does not have; without `kafka_type` it has a class of its own."""

    name: str
    annotation: Any
    kafka_type: str | None = None
    default: Any = MISSING

    @property
    def field(self) -> tuple[str, Any, Any]:
        metadata = {} if self.kafka_type is None else {"kafka_type": self.kafka_type}
        return self.name, self.annotation, field(default=self.default, metadata=metadata)


Layouts = Mapping[str, tuple[str | Member, ...]]
"""The fields of a class in their order, those of the other version by name; by the name of the class. Classes
that are not there have the same fields."""


def remade(other: type, version: int, layouts: Layouts, header: type | None = None) -> type:
    """`other`, a class of kio's, and the classes in it, as those of `version`; not flexible, if there is
    another class for its `header`."""
    known = {each.name: each for each in fields(other)}
    members = []
    for each in layouts.get(other.__name__, tuple(known)):
        if isinstance(each, Member):
            members.append(each.field)
        else:
            kept = known[each]
            annotation = _annotation(kept.type, version, layouts, header)
            members.append((each, annotation, field(default=kept.default, metadata=kept.metadata)))
    attributes = {name: getattr(other, name) for name in _KEPT}
    attributes["__flexible__"] = header is None and other.__flexible__  # type: ignore[attr-defined]
    attributes["__header_schema__"] = header or other.__header_schema__  # type: ignore[attr-defined]
    return _class(other.__name__, members, {**attributes, "__version__": version})


def anew(name: str, members: Iterable[Member], **attributes: object) -> type:
    """A flexible class of version 0 with these fields; `attributes` are those of kio's classes besides."""
    return _class(
        name, [each.field for each in members], {"__flexible__": True, "__version__": 0, **attributes}
    )


def several(inner: type) -> Any:
    """The type of an array of a class."""
    return types.GenericAlias(tuple, (inner, ...))


def _class(name: str, members: list[tuple[str, Any, Any]], attributes: Mapping[str, object]) -> type:
    return make_dataclass(name, members, frozen=True, slots=True, kw_only=True, namespace=dict(attributes))


def _annotation(annotation: Any, version: int, layouts: Layouts, header: type | None) -> Any:
    if typing.get_origin(annotation) is tuple:
        inner, _ = typing.get_args(annotation)
        if is_dataclass(inner):
            return several(remade(inner, version, layouts, header))  # type: ignore[arg-type]
    if isinstance(annotation, types.UnionType):
        members = [_annotation(each, version, layouts, header) for each in typing.get_args(annotation)]
        return functools.reduce(operator.or_, members)
    return annotation
