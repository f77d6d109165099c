"""Answers to what a client may not do."""

import functools
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, Literal

from ..acls import Operation, ResourceType
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..faults.answers import error_everywhere, unanswered
from ..faults.places import lists_of, request_class, response_class
from ..policies.security.refused_operation import refused_operation
from ..portions import PORTION, Pace, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from .verdict import Judging, Rule, Verdict, Walk

CODES = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


def refused(call: Call, api: ApiKey, request: Any, kind: ResourceType, message: str | None = None) -> Judging:
    """The request is refused as a whole."""
    answer = None
    lists = () if unanswered(api, request) else _answered_lists(api)
    for name in lists:
        for piece, continues in _pieces(getattr(request, name) or []):
            asked = replace(request, **{**dict.fromkeys(lists, ()), name: piece})
            part = error_everywhere(call, api, asked, CODES[kind], message=message)
            answer = part if answer is None else _joined(answer, part, continues)
            yield
    if answer is None:
        answer = error_everywhere(call, api, request, CODES[kind], message=message)
    return Verdict(request, answer)


@functools.cache
def _answered_lists(api: ApiKey) -> tuple[str, ...]:
    """The lists of a request for whose entries the answer has one each (`places`)."""
    found = [name for field, _ in lists_of(response_class(api)) for name in field.metadata.get("of", ())]
    there = {each.name for each in fields(request_class(api))}
    return tuple(name for name in dict.fromkeys(found) if name in there)


Told = Literal["request", "error"]
REQUEST: Final = "request"
ERROR: Final = "error"


def cluster(api: ApiKey, *operations: Operation, told: Told | None = None) -> Rule:
    """Needs one of these operations on the cluster. `told` is what the message names, if there is one: the
    request, where `AuthHelper.authorizeClusterOperation` raised the exception."""

    def rule(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
        *others, last = operations
        if any(asker.may(each, ResourceType.CLUSTER, quietly=True) for each in others):
            return Verdict(request)
        if asker.may(last, ResourceType.CLUSTER):
            return Verdict(request)
        message = default_message(CODES[ResourceType.CLUSTER]) if told else None
        if told == REQUEST:
            message = not_authorized(call, api, last)
        return refused(call, api, request, ResourceType.CLUSTER, message)

    return rule


def not_authorized(call: Call, api: ApiKey, operation: Operation) -> str:
    if call.policies[refused_operation] == "told":
        return f"Request {_shown(call)} needs {operation.name} permission."
    return "" if api is ApiKey.UNREGISTER_BROKER else f"Request {_shown(call)} is not authorized."


def _shown(call: Call) -> str:
    """As Kafka shows a request (`RequestChannel.Request.toString`)."""
    client = call.client
    return f"Request(connectionId={client.address}, session=Session({client.principal},{client.host}))"


def asked_by_handler(asker: Asker, call: Call, request: Any) -> Verdict:
    """The handler asks (`Call.asker`), because only it knows for what: partitions that a fetch session has
    remembered, the owners of delegation tokens."""
    return Verdict(request)


def whole(api: ApiKey, operation: Operation, kind: ResourceType, name: str) -> Rule:
    """Needs an operation on the resource that the field `name` of the request names."""

    def rule(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
        if asker.may(operation, kind, getattr(request, name)):
            return Verdict(request)
        return refused(call, api, request, kind)

    return rule


NameOf = Callable[[Call, Any], str | None]
"""The resource that an entry of a request names; None if that is for the handler to find out."""


def named(_: Call, entry: Any) -> str | None:
    """An entry that is a name, or has one."""
    return entry if isinstance(entry, str) else entry.name


def topic_named(call: Call, entry: Any) -> str | None:
    """An entry that has the name of a topic, or its id."""
    name = str(getattr(entry, "name", "") or getattr(entry, "topic", ""))
    if name or not hasattr(entry, "topic_id"):
        return name
    topic = call.broker.image.topic_ids.get(entry.topic_id)
    return None if topic is None else topic.name


def each(
    api: ApiKey,
    operation: Operation,
    kind: ResourceType,
    entries: str,
    name_of: NameOf = named,
    message: str | None = None,
) -> Walk:
    """Needs an operation on what each of the `entries` names; refuses the others."""

    def rule(asker: Asker, call: Call, request: Any) -> Judging:
        allowed, others = yield from parted(
            call, getattr(request, entries), name_of, lambda name: asker.may(operation, kind, name)
        )
        return (yield from leaving_out(call, api, request, entries, allowed, others, kind, message))

    return rule


def parted(
    call: Call, entries: Sequence[Any], name_of: NameOf, may: Callable[[str], bool]
) -> Generator[None, None, tuple[list[Any], list[Any]]]:
    """The entries that a client may, and may not, name. Each name is asked for once."""
    known: dict[str, bool] = {}
    allowed: list[Any] = []
    others: list[Any] = []
    for portion in portions(entries):
        for entry in portion:
            name = name_of(call, entry)
            if name is not None and name not in known:
                known[name] = may(name)
            (allowed if name is None or known[name] else others).append(entry)
        yield
    return allowed, others


def leaving_out(
    call: Call,
    api: ApiKey,
    request: Any,
    entries: str,
    allowed: list[Any],
    others: list[Any],
    kind: ResourceType,
    message: str | None = None,
) -> Judging:
    """The handler gets only the `allowed` entries, if there are any; the `others` are refused."""
    if not others:
        return Verdict(request)
    refusal = None
    for piece, continues in _pieces(others):
        asked = replace(request, **{entries: piece})
        part = error_everywhere(call, api, asked, CODES[kind], message=message, top=False)
        refusal = part if refusal is None else _joined(refusal, part, continues)
        yield
    return left_to_handler(request, entries, allowed, refusal)


def left_to_handler(request: Any, entries: str, allowed: list[Any], refusal: Any) -> Verdict:
    """The handler gets the `allowed` entries, and its answer gets those of the refusal. If none is allowed,
    the refusal is the answer."""
    if not allowed:
        return Verdict(request, refusal)
    return Verdict(replace(request, **{entries: allowed}), then=lambda answer: merged(answer, refusal))


def _pieces(entries: list[Any]) -> Iterator[tuple[list[Any], bool]]:
    """A few entries at a time, and of one that has many in itself a few of these; then whether the piece goes
    on with the entry before."""
    few: list[Any] = []
    pace = Pace()
    for entry in entries:
        name = None if isinstance(entry, str) else _list_in(entry.__class__)
        inner = (None if name is None else getattr(entry, name)) or ()
        if len(inner) <= PORTION:
            few.append(entry)
            if pace.enough(1 + len(inner)):
                yield few, False
                few = []
            continue
        if few:
            yield few, False
            few = []
        for number, portion in enumerate(portions(inner)):
            yield [replace(entry, **{str(name): portion})], number > 0
    if few:
        yield few, False


@functools.cache
def _list_in(model: type) -> str | None:
    """The list that an entry of a request has, such as the partitions of a topic."""
    if not is_dataclass(model):
        return None
    return next((each.name for each in fields(model) if each.default_factory is list), None)


def _joined(answer: Any, more: Any, continues: bool) -> Any:
    """The answer, to which another part of it was added."""
    for field, _ in lists_of(answer.__class__):
        there, added = getattr(answer, field.name), getattr(more, field.name)
        if continues and there and added:
            for inner, _ in lists_of(added[0].__class__):
                getattr(there[-1], inner.name).extend(getattr(added[0], inner.name))
            added = added[1:]
        there.extend(added)
    return answer


def merged(answer: Any, refusal: Any) -> Any:
    """A copy of the answer, with the entries of the refusal behind its own."""
    more = {
        field.name: [*getattr(answer, field.name), *found]
        for field, _ in lists_of(answer.__class__)
        if (found := getattr(refusal, field.name))
    }
    return replace(answer, **more)
