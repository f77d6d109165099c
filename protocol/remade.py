"""Classes like kio's for versions that kio lacks: made of those of another version, like which they can be
read and written."""

import functools
import operator
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from typing import Any, Final, NamedTuple

_KEPT: Final = ("__type__", "__api_key__")


class Member(NamedTuple):
    """A field that the other version does not have."""

    name: str
    annotation: Any
    kafka_type: str
    default: Any = MISSING


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
            metadata = {"kafka_type": each.kafka_type}
            members.append((each.name, each.annotation, field(default=each.default, metadata=metadata)))
        else:
            kept = known[each]
            annotation = _annotation(kept.type, version, layouts, header)
            members.append((each, annotation, field(default=kept.default, metadata=kept.metadata)))
    attributes = {name: getattr(other, name) for name in _KEPT}
    attributes["__flexible__"] = header is None and other.__flexible__  # type: ignore[attr-defined]
    attributes["__header_schema__"] = header or other.__header_schema__  # type: ignore[attr-defined]
    return make_dataclass(
        other.__name__,
        members,
        frozen=True,
        slots=True,
        kw_only=True,
        namespace={**attributes, "__version__": version},
    )


def _annotation(annotation: Any, version: int, layouts: Layouts, header: type | None) -> Any:
    if typing.get_origin(annotation) is tuple:
        inner, _ = typing.get_args(annotation)
        if is_dataclass(inner):
            made = remade(inner, version, layouts, header)  # type: ignore[arg-type]
            return types.GenericAlias(tuple, (made, ...))
    if isinstance(annotation, types.UnionType):
        members = [_annotation(each, version, layouts, header) for each in typing.get_args(annotation)]
        return functools.reduce(operator.or_, members)
    return annotation
