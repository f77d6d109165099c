"""Versions of requests and answers that kio does not have yet, with the schemas of kafka-clients 4.4.0.

Each class is made of kio's newest version, like which it can be read and written.
"""

import functools
import types
import typing
import uuid
from collections.abc import Mapping
from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from typing import Any, Final, NamedTuple

from .kio_modules import kio_module

NEWEST: Final = {"api_versions": 5, "delete_groups": 3, "txn_offset_commit": 6}
"""The one version of each API that is here."""
_KEPT: Final = ("__type__", "__flexible__", "__api_key__", "__header_schema__")


class _Member(NamedTuple):
    """A field, and the one that it stands in place of; None if it comes last."""

    name: str
    annotation: Any
    kafka_type: str
    instead_of: str | None = None
    default: Any = MISSING


_TOPIC_ID: Final = _Member("topic_id", uuid.UUID | None, "uuid", instead_of="name")
_CHANGES: Final[Mapping[str, tuple[_Member, ...]]] = {
    "ApiVersionsRequest": (  # KIP-1242
        _Member("cluster_id", str | None, "string", default=None),
        _Member("node_id", int, "int32", default=-1),
    ),
    "DeletableGroupResult": (_Member("error_message", str | None, "string"),),
    "TxnOffsetCommitRequestTopic": (_TOPIC_ID,),
    "TxnOffsetCommitResponseTopic": (_TOPIC_ID,),
}
"""What differs from kio's newest version, by the name of the class."""


@functools.cache
def load(api: str, kind: str) -> type:
    """The class of the `NEWEST` version of `api` (such as `delete_groups`); `kind` is Request or Response."""
    before = NEWEST[api] - 1
    module = kio_module(f"schema.{api}.v{before}.{kind.lower()}")
    name = "".join(part.capitalize() for part in api.split("_")) + kind
    return _next(getattr(module, name), NEWEST[api])


def _next(before: type, version: int) -> type:
    members = [
        (each.name, _annotation(each.type, version), field(default=each.default, metadata=each.metadata))
        for each in fields(before)
    ]
    for new in _CHANGES.get(before.__name__, ()):
        member = new.name, new.annotation, field(default=new.default, metadata={"kafka_type": new.kafka_type})
        names = [name for name, *_ in members]
        if new.instead_of is None:
            members.append(member)
        else:
            members[names.index(new.instead_of)] = member
    kept = {name: getattr(before, name) for name in _KEPT}
    return make_dataclass(
        before.__name__,
        members,
        frozen=True,
        slots=True,
        kw_only=True,
        namespace={**kept, "__version__": version},
    )


def _annotation(annotation: Any, version: int) -> Any:
    if typing.get_origin(annotation) is tuple:
        inner, _ = typing.get_args(annotation)
        if is_dataclass(inner):
            return types.GenericAlias(tuple, (_next(inner, version), ...))  # type: ignore[arg-type]
    return annotation
