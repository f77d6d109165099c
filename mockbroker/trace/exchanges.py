"""Requests and answers of a trace: what is noted at once, and what that becomes when somebody reads it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..faults.about import About, about, topic_of
from ..faults.match import api_name
from ..outcome import CLOSE, NEVER, NO_ANSWER, Unanswered
from ..protocol.api_keys import ApiKey
from ..protocol.errors import error_name
from . import events
from .event import Event

if TYPE_CHECKING:
    from uuid import UUID

    from ..cluster.call import Call
    from ..cluster.cluster import Cluster
    from ..cluster.topic import Topic
    from ..faults import Fault

_TOPICS_KEPT: Final = 10_000
MOST_NAMES: Final = 1_000
"""How many of the partitions, topics, groups and transactional ids that a request names are kept."""
_OUTCOMES: Final = {NO_ANSWER: "none", CLOSE: "closed", NEVER: "silence"}


class Asked:
    """A request that waits for its answer; `faults` are those that acted on it."""

    __slots__ = (
        "_common",
        "api",
        "call",
        "connection",
        "correlation_id",
        "faults",
        "names",
        "number",
        "time_ms",
    )

    def __init__(
        self, number: int, time_ms: int, call: "Call", api: ApiKey, connection: str, correlation_id: int
    ) -> None:
        self.number = number
        self.time_ms = time_ms
        self.call = call
        self.api = api
        self.connection = connection
        self.correlation_id = correlation_id
        self.faults: Sequence[Fault] = ()
        self._common: tuple[Any, ...] = ()
        self.names: Any = ()
        """A tuple; or the request, as long as nobody wants to know the names."""

    def common(self, cluster: Any) -> tuple[Any, ...]:
        """The fields that the events of request and answer have in common, which precede the request's
        body."""
        if self._common:
            return self._common
        names = self.names
        if type(names) is not tuple:
            names = self.names = names_in(about(self.api, names, cluster, MOST_NAMES))
        call = self.call
        who = (call.broker.id, self.connection, call.client_id)
        self._common = found = (*who, api_name(self.api), call.version, self.correlation_id, names)
        return found


class _Named(NamedTuple):
    name: str


class KnownTopics:
    """The names of a cluster's topics, including deleted ones that existed when the trace looked."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._seen: dict[UUID, _Named] = {}
        self._count = 0

    @property
    def topics(self) -> "Mapping[str, Topic]":
        return self._cluster.topics

    @property
    def topic_ids(self) -> "Mapping[UUID, _Named]":
        return self._seen

    def look(self) -> None:
        there = self._cluster.topic_ids
        if len(there) != self._count:
            self._count = len(there)
            if len(self._seen) > _TOPICS_KEPT:
                self._seen.clear()
            self._seen.update((each, _Named(topic.name)) for each, topic in there.items())


def request(number: int, asked: Asked, known: KnownTopics, body: dict[str, Any]) -> Event:
    make: Callable[..., Event] = events.Request
    return make(number, asked.time_ms, *asked.common(known), body)


def answer(number: int, asked: Asked, known: KnownTopics, rest: tuple[int, Any, dict[str, Any]]) -> Event:
    make: Callable[..., Event] = events.Answer
    return make(number, *answered(asked, known, *rest))


def answered(asked: Asked, known: KnownTopics, now_ms: int, codes: Any, body: Any) -> tuple[Any, ...]:
    """The fields of an answer's event but its number; `codes` are its error codes, or it is Unanswered."""
    outcome = "answer"
    errors: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    if type(codes) is Unanswered:
        outcome = _OUTCOMES[codes]
    elif codes:
        errors = tuple(map(error_name, codes))
    if asked.faults:
        faults = tuple(each.told for each in asked.faults)
    return (now_ms, *asked.common(known), outcome, errors, faults, body, now_ms - asked.time_ms)


def names_of_produce(request: Any, cluster: "Cluster") -> tuple[str, ...]:
    """As for other requests, but faster."""
    names: list[str] = []
    for topic in request.topic_data:
        name = topic.name or topic_of(topic, cluster)
        if name is not None:
            names += [f"{name}-{each.index}" for each in topic.partition_data[: MOST_NAMES - len(names)]]
            if len(names) >= MOST_NAMES:
                break
    if len(names) > 1:
        names = sorted(set(names))
    if request.transactional_id:
        names.append(request.transactional_id)
    return tuple(names)


def names_in(what: About) -> tuple[str, ...]:
    named = {topic for topic, _ in what.partitions}
    return (
        *sorted(f"{topic}-{index}" for topic, index in what.partitions),
        *sorted(what.topics - named),
        *sorted(what.groups),
        *sorted(what.transactional_ids),
    )
