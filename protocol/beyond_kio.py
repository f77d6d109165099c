"""Requests and answers that kio does not have yet, with the schemas of kafka-clients 4.4.0.

A new version is made of kio's newest one, like which it can be read and written. Of a new API, all is here.
"""

import functools
import types
import typing
import uuid
from collections.abc import Mapping
from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from typing import Any, Final, NamedTuple

from .kio_modules import kio_module

NEWEST: Final = {
    "api_versions": 5,
    "delete_groups": 3,
    "streams_group_describe": 1,
    "streams_group_heartbeat": 1,
    "txn_offset_commit": 6,
}
"""The one version of each API that is here."""
NEW: Final = {"streams_group_topology_description_update": 93, "unregister_controller": 94}
"""The keys of APIs of which kio has nothing. They have one version, 0, and it is flexible."""
_KEPT: Final = ("__type__", "__flexible__", "__api_key__", "__header_schema__")
_LIKE: Final = "unregister_broker"
"""An API of kio's with the headers that the new ones have."""


class _Member(NamedTuple):
    """A field, and the one that it stands in place of, or comes after; otherwise it comes last."""

    name: str
    annotation: Any
    kafka_type: str | None = None
    instead_of: str | None = None
    after: str | None = None
    default: Any = MISSING

    @property
    def field(self) -> tuple[str, Any, Any]:
        metadata = {} if self.kafka_type is None else {"kafka_type": self.kafka_type}
        return self.name, self.annotation, field(default=self.default, metadata=metadata)


def _class(name: str, members: list[tuple[str, Any, Any]], constants: Mapping[str, object]) -> type:
    return make_dataclass(name, members, frozen=True, slots=True, kw_only=True, namespace=dict(constants))


def _struct(name: str, *members: _Member) -> type:
    """What is within a message."""
    return _class(name, [each.field for each in members], {"__flexible__": True, "__version__": 0})


def _several(inner: type) -> Any:
    return types.GenericAlias(tuple, (inner, ...))


_TEXTS: Final = tuple[str, ...]
_THROTTLED: Final = (
    _Member("throttle_time", int, "timedelta_i32"),
    # kio does not know of the newest ones.
    _Member("error_code", int, "int16"),
    _Member("error_message", str | None, "string", default=None),
)
_NODE: Final = _struct(
    "TopologyDescriptionNode",
    _Member("name", str, "string"),
    _Member("node_type", int, "int8"),
    _Member("source_topics", _TEXTS, "string"),
    _Member("sink_topic", str | None, "string", default=None),
    _Member("stores", _TEXTS, "string"),
    _Member("successors", _TEXTS, "string"),
)
_SUBTOPOLOGY: Final = _struct(
    "TopologyDescriptionSubtopology",
    _Member("subtopology_id", str, "string"),
    _Member("nodes", _several(_NODE)),
)
_GLOBAL_STORE: Final = _struct(
    "TopologyDescriptionGlobalStore", _Member("source", _NODE), _Member("processor", _NODE)
)
_DESCRIPTION: Final = _struct(
    "TopologyDescription",
    _Member("subtopologies", _several(_SUBTOPOLOGY)),
    _Member("global_stores", _several(_GLOBAL_STORE)),
)
"""Of a streams group (KIP-1331)."""
_MESSAGES: Final[Mapping[str, tuple[_Member, ...]]] = {
    "StreamsGroupTopologyDescriptionUpdateRequest": (
        _Member("group_id", str, "string"),
        _Member("member_id", str, "string"),
        _Member("topology_epoch", int, "int32"),
        _Member("topology_description", _DESCRIPTION),
    ),
    "StreamsGroupTopologyDescriptionUpdateResponse": _THROTTLED,
    "UnregisterControllerRequest": (_Member("controller_id", int, "int32"),),
    "UnregisterControllerResponse": _THROTTLED,
}
_TOPIC_ID: Final = _Member("topic_id", uuid.UUID | None, "uuid", instead_of="name")
_CHANGES: Final[Mapping[str, tuple[_Member, ...]]] = {
    "ApiVersionsRequest": (  # KIP-1242
        _Member("cluster_id", str | None, "string", default=None),
        _Member("node_id", int, "int32", default=-1),
    ),
    "DeletableGroupResult": (_Member("error_message", str | None, "string"),),
    "StreamsGroupDescribeRequest": (  # KIP-1331
        _Member("include_topology_description", bool, "bool", default=False),
    ),
    "DescribedGroup": (  # KIP-1331, KIP-1357
        _Member("topology_description", _DESCRIPTION | None, default=None),
        _Member("topology_description_status", int, "int8", default=0),
        _Member("assignor_name", str | None, "string", default=None),
    ),
    "StreamsGroupHeartbeatResponse": (  # KIP-1331
        _Member("acceptable_recovery_lag", int, "int64", after="task_offset_interval", default=-1),
        _Member("topology_description_required", bool, "bool", after="warmup_tasks", default=False),
    ),
    "TxnOffsetCommitRequestTopic": (_TOPIC_ID,),
    "TxnOffsetCommitResponseTopic": (_TOPIC_ID,),
}
"""What differs from kio's newest version, by the name of the class."""


@functools.cache
def load(api: str, kind: str) -> type:
    """The class of the `NEWEST` version of `api` (such as `delete_groups`), or of one in `NEW`; `kind` is
    Request or Response."""
    name = "".join(part.capitalize() for part in api.split("_")) + kind
    if api in NEW:
        like = getattr(kio_module(f"schema.{_LIKE}.v0.{kind.lower()}"), f"UnregisterBroker{kind}")
        kept = {each: getattr(like, each) for each in _KEPT} | {"__api_key__": NEW[api], "__version__": 0}
        return _class(name, [each.field for each in _MESSAGES[name]], kept)
    before = NEWEST[api] - 1
    module = kio_module(f"schema.{api}.v{before}.{kind.lower()}")
    return _next(getattr(module, name), NEWEST[api])


def _next(before: type, version: int) -> type:
    members = [
        (each.name, _annotation(each.type, version), field(default=each.default, metadata=each.metadata))
        for each in fields(before)
    ]
    for new in _CHANGES.get(before.__name__, ()):
        # One that is there already changes its place.
        members = [each for each in members if each[0] != new.name]
        names = [name for name, *_ in members]
        if new.instead_of is not None:
            members[names.index(new.instead_of)] = new.field
        elif new.after is not None:
            members.insert(names.index(new.after) + 1, new.field)
        else:
            members.append(new.field)
    kept = {name: getattr(before, name) for name in _KEPT}
    return _class(before.__name__, members, {**kept, "__version__": version})


def _annotation(annotation: Any, version: int) -> Any:
    if typing.get_origin(annotation) is tuple:
        inner, _ = typing.get_args(annotation)
        if is_dataclass(inner):
            return _several(_next(inner, version))  # type: ignore[arg-type]
    return annotation
