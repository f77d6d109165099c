"""Answers that a fault makes or changes; these are copies, because the core may keep its answers."""

import collections.abc
import functools
import importlib
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, NamedTuple

from ..cluster.call import Call
from ..outcome import CLOSE
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from .about import PARTITION_NAMES, partition_of, topic_of
from .match import FaultError, Match, api_name

LEVELS: Final = ("top", "topic", "partition", "group", "member", "coordinator", "transaction", "resource")
"""Where an answer may have an error code."""

_LEVEL_OF: Final = {
    "group_id": "group",
    "member_id": "member",
    "transactional_id": "transaction",
    "resource_name": "resource",
    "entity": "resource",
    "user": "resource",
}
"""An entry's level, by a field that it has."""

_USUAL_LEVEL: Final = {
    ApiKey.LEAVE_GROUP: "top",
    ApiKey.METADATA: "topic",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "topic",
    ApiKey.OFFSET_FETCH: "group",
    ApiKey.UPDATE_FEATURES: "top",
}
"""Where a broker puts most errors, if that is not the innermost place."""

_SOURCES: Final = {
    "responses": ("topic_data", "topics", "resources"),
    "partition_responses": ("partition_data",),
    "topics": ("topics",),
    "partitions": ("partitions", "partition_indexes"),
    "members": ("members",),
    "results": ("topics", "groups_names", "resources", "creations", "users", "upsertions", "feature_updates"),
    "filter_results": ("filters",),
    "groups": ("groups", "group_ids"),
    "results_by_transaction": ("transactions",),
    "topic_results": ("topics",),
    "results_by_partition": ("partitions",),
    "markers": ("markers",),
    "entries": ("entries",),
    "replica_election_results": ("topic_partitions",),
    "partition_result": ("partitions",),
}
"""A list of entries in an answer, and the lists in a request of which one has an entry for each of them."""

_UNSET: Final = {
    "base_offset": -1,
    "offset": -1,
    "timestamp": -1,
    "high_watermark": -1,
    "last_stable_offset": -1,
    "low_watermark": -1,
    "generation_id": -1,
    "producer_id": -1,
    "producer_epoch": -1,
    "num_partitions": -1,
    "replication_factor": -1,
    "member_epoch": 0,
}
"""Values of fields beside an error, if that is not their default."""

_UNEXPECTED: Final = "The server experienced an unexpected error when processing the request."
"""Only DescribeConfigs has this message; the other APIs have none."""

_WRITING: Final = frozenset(
    {
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.OFFSET_COMMIT,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.DELETE_RECORDS,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.WRITE_TXN_MARKERS,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.DELETE_GROUPS,
        ApiKey.ELECT_LEADERS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.OFFSET_DELETE,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.UPDATE_FEATURES,
        ApiKey.UNREGISTER_BROKER,
    }
)
"""APIs that change something or wait. The others can be carried out: their own answers are the best ones to
put errors into."""


class Place(NamedTuple):
    """One entry of an answer: its level, what it is for, and the names of the fields that lead to it."""

    level: str
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    path: tuple[str, ...] = ()


Change = Callable[[Place, Any], Any]
"""Returns the entry that replaces another one, or the same entry."""


def changed(answer: Any, call: Call, change: Change) -> Any:
    """A copy of the answer in which every entry was replaced by `change`, the innermost first."""
    return _changed(answer, Place("top"), call, change)


def _changed(entity: Any, place: Place, call: Call, change: Change) -> Any:
    values: dict[str, Any] = {}
    for each in fields(entity):
        value = getattr(entity, each.name)
        if isinstance(value, list | tuple) and value and is_dataclass(value[0]):
            values[each.name] = [
                _changed(entry, _place(each.name, entry, place, call), call, change) for entry in value
            ]
        elif is_dataclass(value):
            values[each.name] = _changed(value, _part(each.name, place), call, change)
    return change(place, replace(entity, **values) if values else entity)


def _part(name: str, outer: Place) -> Place:
    return outer._replace(level=name, path=(*outer.path, name))


def _place(name: str, entry: Any, outer: Place, call: Call) -> Place:
    level = _level(name, type(entry), outer.level)
    place = outer._replace(level=level, path=(*outer.path, name))
    if level == "topic":
        return place._replace(topic=topic_of(entry, call.cluster))
    if level == "partition":
        return place._replace(partition=partition_of(entry))
    if level == "group":
        return place._replace(group=entry.group_id)
    return place


def _level(name: str, model: type, outer: str) -> str:
    """The level of the entries of an answer's list `name`, which is in an entry of level `outer`."""
    if outer == "topic" and any(hasattr(model, each) for each in PARTITION_NAMES):
        return "partition"
    for field_name, level in _LEVEL_OF.items():
        if hasattr(model, field_name):
            return level
    if "Acl" in model.__name__ or "Feature" in model.__name__:
        return "resource"
    if "topic" in name or name in ("responses", "results", "replica_election_results"):
        return "topic"
    return "coordinator" if name == "coordinators" else name


@dataclass(frozen=True, slots=True)
class Errors:
    """Sets an error code in every entry of an answer that a fault is for."""

    code: int
    match: Match
    level: str

    @classmethod
    def of(cls, api: ApiKey, version: int, code: int, match: Match, level: str | None) -> "Errors":
        """FaultError if the API's answers have no error code at that level."""
        has = levels(api)
        level = level or usual_level(api, version)
        if level not in has:
            why = f"{api_name(api)} has error codes at {' or '.join(has)} level, not at {level!r}"
            raise FaultError(why, "level")
        return cls(code, match, level)

    def __call__(self, place: Place, entity: Any) -> Any:
        if place.level != self.level or not meant(place, self.match):
            return entity
        name = error_field(entity.__class__)
        return replace(entity, **{name: self.code}) if name else entity


def usual_level(api: ApiKey, version: int) -> str:
    """Where a broker puts most errors."""
    if api is ApiKey.OFFSET_FETCH and version < 2:
        return "partition"  # there is no other place yet
    return _USUAL_LEVEL.get(api) or levels(api)[-1]


def meant(place: Place, match: Match) -> bool:
    """Whether a fault with that match is for the entry at `place`."""
    if place.topic is not None and not match.covers(place.topic, place.partition):
        return False
    return place.group is None or match.covers_group(place.group)


def refuses(api: ApiKey) -> bool:
    """Whether an error instead of the work needs a made-up answer, because the API changes something, or
    waits."""
    return api in _WRITING


def unanswered(api: ApiKey, request: Any) -> bool:
    """Whether the client expects no answer."""
    return api is ApiKey.PRODUCE and request.acks == 0


def refusal(api: ApiKey, request: Any) -> Any:
    """An answer to `request` that reports no work, to be filled with error codes."""
    return _mirrored(response_class(api), request)


def unknown_server_error(call: Call, api: ApiKey, request: Any) -> Any:
    """The answer of a broker that failed: CLOSE if the client expects no answer, as in Kafka
    (KafkaApis.handleProduceRequest)."""
    if unanswered(api, request):
        return CLOSE
    level = usual_level(api, call.version)
    told = {"error_message": _UNEXPECTED} if api is ApiKey.DESCRIBE_CONFIGS else {}

    def change(place: Place, entity: Any) -> Any:
        name = error_field(entity.__class__)
        here = place.level in (level, "top")
        if not name or not here:
            return entity
        if api is ApiKey.OFFSET_FETCH and call.version >= 2 and place.level == "group":
            entity = replace(entity, topics=[])
        return replace(entity, **{name: int(ErrorCode.UNKNOWN_SERVER_ERROR)}, **told)

    return _changed(refusal(api, request), Place("top"), call, change)


def _mirrored(model: type, request: Any) -> Any:
    values: dict[str, Any] = {}
    hints = typing.get_type_hints(model)
    for each in fields(model):
        inner = _entity_of(hints[each.name])
        if inner is not None:
            entries = _source(each.name, request)
            values[each.name] = [_mirrored(inner, entry) for entry in entries]
        elif each.name in PARTITION_NAMES and (index := partition_of(request)) is not None:
            values[each.name] = index
        elif isinstance(request, str) and each.name == "group_id":
            values[each.name] = request
        elif each.name in _UNSET:
            values[each.name] = _UNSET[each.name]
        elif each.name == "member_id" and type(None) in typing.get_args(hints[each.name]):
            values[each.name] = None
        elif each.name not in ("configs", "metadata", "protocol_type") and hasattr(request, each.name):
            values[each.name] = getattr(request, each.name)
    return model(**values)


def _source(name: str, request: Any) -> Sequence[Any]:
    for each in _SOURCES.get(name, ()):
        if entries := getattr(request, each, None):
            return typing.cast(Sequence[Any], entries)
    return ()


def response_class(api: ApiKey) -> type:
    return _model(api, "Response")


def request_class(api: ApiKey) -> type:
    return _model(api, "Request")


def _model(api: ApiKey, what: str) -> type:
    module = importlib.import_module(f"mockbroker.protocol.messages.{api.name.lower()}")
    return getattr(module, api_name(api) + what)  # type: ignore[no-any-return]


@functools.cache
def error_field(model: type) -> str | None:
    """The field of an entry that has its error code."""
    names = [each.name for each in fields(model)]
    return next((name for name in ("error_code", "partition_error_code") if name in names), None)


@functools.cache
def levels(api: ApiKey) -> tuple[str, ...]:
    """Where the answers of an API have error codes, the innermost last."""
    return tuple(dict.fromkeys(_levels(response_class(api), "top")))


def _levels(model: type, level: str) -> Iterator[str]:
    if error_field(model):
        yield level
    hints = typing.get_type_hints(model)
    for each in fields(model):
        inner = _entity_of(hints[each.name])
        if inner is not None:
            yield from _levels(inner, _level(each.name, inner, level))


def place_of(model: type, path: Sequence[str], level: str = "top") -> str | None:
    """The level of what is in the lists `path` of an answer; None if there are no such lists."""
    if not path:
        return level
    hint = typing.get_type_hints(model).get(path[0])
    inner = _entity_of(hint)
    return place_of(inner, path[1:], _level(path[0], inner, level)) if inner else None


def _entity_of(hint: Any) -> type | None:
    """The model of a list's entries, None if the field is not a list of models."""
    for origin in (hint, *typing.get_args(hint)):
        if typing.get_origin(origin) in (list, collections.abc.Sequence):
            (inner,) = typing.get_args(origin)
            return inner if is_dataclass(inner) else None  # type: ignore[return-value]
    return None


@functools.cache
def paths(model: type) -> tuple[tuple[str, ...], ...]:
    """The names that lead to every plain field of an answer."""
    return tuple(_paths(model, ()))


def _paths(model: type, before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    hints: dict[str, Any] = typing.get_type_hints(model)
    for each in fields(model):
        hint = hints[each.name]
        inner: Any = _entity_of(hint) or (hint if is_dataclass(hint) else None)
        if inner is None:
            yield (*before, each.name)
        else:
            yield from _paths(inner, (*before, each.name))
