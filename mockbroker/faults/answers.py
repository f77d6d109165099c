"""Answers that a fault makes or changes; these are copies, because the core may keep its answers."""

import functools
import sys
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ..apis.registry import declared
from ..cluster.call import Call
from ..outcome import CLOSE
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from .about import PARTITION_NAMES, partition_of, resources_of, topic_id_of, topic_of
from .legal import usual_level
from .match import FaultError, Match, api_name
from .places import error_field, level_in, level_of, levels, lists_of, response_class

if TYPE_CHECKING:
    from ..protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest
    from ..protocol.messages.metadata import MetadataResponse

_UNSET: Final = {
    "base_offset": -1,
    "offset": -1,
    "committed_offset": -1,
    "leader_epoch": -1,
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


_TOP_ONLY_SINCE: Final = {
    ApiKey.LEAVE_GROUP: 3,
    ApiKey.ADD_PARTITIONS_TO_TXN: 4,
    ApiKey.DESCRIBE_LOG_DIRS: 0,
    ApiKey.OFFSET_DELETE: 0,
    ApiKey.DESCRIBE_QUORUM: 0,
    ApiKey.UPDATE_FEATURES: 0,
    ApiKey.SHARE_FETCH: 0,
    ApiKey.SHARE_ACKNOWLEDGE: 0,
}
"""The versions from which on the answer to a request that fails as a whole names nothing of it."""
_WITH_MESSAGE: Final = (ApiKey.DESCRIBE_CONFIGS, ApiKey.FIND_COORDINATOR)
"""The other APIs have no message then."""
_LEADERLESS: Final = (ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.LISTENER_NOT_FOUND)
_LEADER_TOLD: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
_HIDDEN: Final = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


class PlaceInAnswer(NamedTuple):
    """One entry of an answer: its level, what it is for, and the names of the fields that lead to it."""

    level: str
    topic: str | None = None
    topic_id: str | None = None
    partition: int | None = None
    group: str | None = None
    resources: frozenset[str] = frozenset()
    path: tuple[str, ...] = ()


_OF_RESOURCES: Final = ("member", "resource")
_OWN: Final = ("auth_bytes", "configs", "metadata", "protocol_type", "protocol_name")
"""Fields of answers that are called like one of the request, and mean something else."""

Change = Callable[[PlaceInAnswer, Any], Any]
"""Returns the entry that replaces another one, or the same entry."""


def changed(answer: Any, call: Call, request: Any, change: Change) -> Any:
    """A copy of the answer to `request` in which `change` has replaced every entry, the innermost first."""
    return _changed(answer, PlaceInAnswer("top"), call, request, change)


def _changed(entity: Any, place: PlaceInAnswer, call: Call, request: Any, change: Change) -> Any:
    values: dict[str, Any] = {}
    for each in fields(entity):
        value = getattr(entity, each.name)
        if isinstance(value, list | tuple) and value and is_dataclass(value[0]):
            values[each.name] = [
                _changed(entry, place_of(each, entry, asked, place, call), call, request, change)
                for entry, asked in zip(value, _asked(each, len(value), request), strict=True)
            ]
        elif is_dataclass(value):
            values[each.name] = _changed(value, _part(each.name, place), call, request, change)
    return change(place, replace(entity, **values) if values else entity)


def _part(name: str, outer: PlaceInAnswer) -> PlaceInAnswer:
    return outer._replace(level=name, path=(*outer.path, name))


def _asked(field: Field[Any], count: int, request: Any) -> Iterable[Any]:
    """The entries of the request to which those of an answer's list belong, in their order; None for each if
    they don't have one each."""
    entries = _source(field.metadata.get("of", ()), request) if level_of(field) in _OF_RESOURCES else ()
    return entries if len(entries) == count else repeat(None, count)


def place_of(field: Field[Any], entry: Any, asked: Any, outer: PlaceInAnswer, call: Call) -> PlaceInAnswer:
    """What an entry of the list `field` is for; so is the entry `asked` of the request."""
    level = level_of(field)
    place = outer._replace(level=level, path=(*outer.path, field.name))
    if level == "topic":
        return place._replace(topic=topic_of(entry, call.cluster), topic_id=topic_id_of(entry))
    if level == "partition":
        return place._replace(partition=partition_of(entry))
    if level == "group":
        return place._replace(group=entry if isinstance(entry, str) else entry.group_id)
    if level in _OF_RESOURCES:
        return place._replace(resources=resources_of(entry, asked) or outer.resources)
    return place


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
        level = level or _level_of_resource(api, version, match) or usual_level(api, version)
        if level not in has:
            why = f"{api_name(api)} has error codes at {' or '.join(has)} level, not at {level!r}"
            raise FaultError(why, "level")
        return cls(code, match, level)

    def __call__(self, place: PlaceInAnswer, entity: Any) -> Any:
        if place.level != self.level or not meant(place, self.match):
            return entity
        name = error_field(entity.__class__)
        if not name:
            return entity
        # No leader, or none that the client can reach.
        nobody = self.code in _LEADERLESS and hasattr(entity, "leader_id")
        values: dict[str, Any] = {name: self.code, **({"leader_id": -1} if nobody else {})}
        if self.code in _LEADER_TOLD and hasattr(entity, "current_leader"):
            from ..protocol.messages.common import NO_LEADER, NOBODY_TOLD

            if entity.current_leader == NOBODY_TOLD:
                # Else it is broker 0, and clients believe it (twmb/franz-go 1519).
                values["current_leader"] = NO_LEADER
        if hasattr(entity, "acknowledge_error_code"):
            # Acknowledgements that came with a ShareFetch are not carried out either.
            values["acknowledge_error_code"] = self.code
        if place.level == "top" and hasattr(entity, "acquisition_lock_timeout_ms"):
            values["responses"] = []
        if place.level == "group":
            # Brokers tell nothing else of a group then.
            values |= {each.name: [] for each, _ in lists_of(entity.__class__)}
        return replace(entity, **values)


def _level_of_resource(api: ApiKey, version: int, match: Match) -> str | None:
    found = next((each for each in _OF_RESOURCES if match.resource is not None and each in levels(api)), None)
    return level_in(api, version, found) if found else None


def meant(place: PlaceInAnswer, match: Match) -> bool:
    """Whether a fault with that match is for the entry at `place`."""
    if place.topic is not None and not match.covers(place.topic, place.partition):
        return False
    if place.topic_id is not None and not match.covers_topic_id({place.topic_id}):
        return False
    if place.resources and not match.covers_resource(place.resources):
        return False
    return place.group is None or match.covers_group(place.group)


def for_all_topics(answer: "MetadataResponse", call: Call, code: int, match: Match) -> "MetadataResponse":
    """The answer to a Metadata request for all topics: no topic has an error then, only partitions have, and
    topics that are unknown or forbidden are left out (KafkaApis.handleTopicMetadataRequest)."""
    if code in _HIDDEN:
        return replace(answer, topics=[each for each in answer.topics if not match.covers(each.name, None)])
    level = "partition" if code in _LEADERLESS else "topic"
    return cast("MetadataResponse", changed(answer, call, None, Errors(code, match, level)))


def refuses(api: ApiKey) -> bool:
    """Whether an error instead of the work needs a made-up answer, because the API changes something, or
    waits."""
    return declared(api).changes


def unanswered(api: ApiKey, request: Any) -> bool:
    """Whether the client expects no answer."""
    return api is ApiKey.PRODUCE and request.acks == 0


def refusal(api: ApiKey, request: Any) -> Any:
    """An answer to `request` that reports no work, to be filled with error codes."""
    return _mirrored(response_class(api), request)


def unknown_server_error(call: Call, api: ApiKey, request: Any) -> Any:
    """The answer of a broker that failed, as `error_everywhere`."""
    return error_everywhere(call, api, request, ErrorCode.UNKNOWN_SERVER_ERROR)


def error_everywhere(
    call: Call,
    api: ApiKey,
    request: Any,
    error: ErrorCode,
    *,
    message: str | None = None,
    top: bool = True,
) -> Any:
    """The answer to a request that fails as a whole (`AbstractRequest.getErrorResponse`): CLOSE if the client
    expects no answer, as in Kafka (KafkaApis.handleProduceRequest). Without `top`, only what the request
    names has the error."""
    if unanswered(api, request):
        return CLOSE
    level = usual_level(api, call.version)
    if message is None and api in _WITH_MESSAGE:
        message = default_message(error)

    def change(place: PlaceInAnswer, entity: Any) -> Any:
        name = error_field(entity.__class__)
        here = place.level == level or (top and place.level == "top")
        if not name or not here:
            return entity
        if api is ApiKey.OFFSET_FETCH and call.version >= 2 and place.level == "group":
            entity = replace(entity, topics=[])
        if api is ApiKey.OFFSET_FETCH and place.level == "partition":
            entity = replace(entity, metadata="")
        if hasattr(entity, "error_message"):
            entity = replace(entity, error_message=message)
        return replace(entity, **{name: int(error)})

    answer = refusal(api, request)
    if top and (call.version >= _TOP_ONLY_SINCE.get(api, sys.maxsize)):
        answer = replace(answer, **{field.name: [] for field, _ in lists_of(answer.__class__)})
    if api is ApiKey.DESCRIBE_CLIENT_QUOTAS:
        answer = replace(answer, entries=None)
    if api is ApiKey.FIND_COORDINATOR:
        return replace(answer, coordinators=_nowhere(request, error, message))
    return changed(answer, call, request, change)


def _nowhere(request: "FindCoordinatorRequest", error: ErrorCode, message: str | None) -> "list[Coordinator]":
    """An error for each key (FindCoordinatorResponse.prepareErrorResponse, prepareOldResponse)."""
    from ..protocol.messages.find_coordinator import Coordinator

    return [Coordinator(key, -1, "", -1, error, message) for key in request.coordinator_keys]


@functools.cache
def _hints(model: type) -> dict[str, Any]:
    return typing.get_type_hints(model)


def _mirrored(model: type, request: Any, *, within: bool = False) -> Any:
    """An answer, or an entry `within` it."""
    values: dict[str, Any] = {}
    lists = dict(lists_of(model))
    for each in fields(model):
        if each in lists:
            of = each.metadata.get("of", ())
            entries = _source(of, request)
            values[each.name] = [_mirrored(lists[each], entry, within=True) for entry in entries]
            if not of and within and each.name not in _OWN and hasattr(request, each.name):
                values[each.name] = getattr(request, each.name)
        elif each.name in PARTITION_NAMES and (index := partition_of(request)) is not None:
            values[each.name] = index
        elif each.name == "topic_name" and hasattr(request, "name"):
            values[each.name] = request.name
        elif isinstance(request, str) and each.name == "group_id":
            values[each.name] = request
        elif each.name == "user" and hasattr(request, "mechanism"):
            values[each.name] = request.name
        elif each.name in _UNSET and not (within and each.name == "producer_id"):
            values[each.name] = _UNSET[each.name]
        elif each.name == "member_id" and type(None) in typing.get_args(_hints(model)[each.name]):
            values[each.name] = None
        elif each.name not in _OWN and hasattr(request, each.name):
            values[each.name] = getattr(request, each.name)
    return model(**values)


def _source(of: Sequence[str], request: Any) -> Sequence[Any]:
    """The entries of a request for which an answer has one each (`places`)."""
    found: list[Any] = []
    for path in of:
        outer, _, inner = path.rpartition(".")
        within = getattr(request, outer) if outer else (request,)
        found += [entry for each in within for entry in getattr(each, inner, None) or ()]
    return found
