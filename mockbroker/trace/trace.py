"""Keeps the last events of a cluster, and tells listeners."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..cluster.call import CLOSE, NO_ANSWER, PARKED, Outcome
from ..errors import OptionError
from ..faults.about import About, about
from ..faults.match import api_name
from ..nearest import nearest
from ..policies.watched import WatchedPolicies
from ..protocol.api_keys import ApiKey
from . import events
from .decisions import Decisions
from .events import KINDS, Event
from .plain import errors, plain
from .states import States

if TYPE_CHECKING:
    from ..cluster.call import Call
    from ..cluster.cluster import Cluster
    from ..faults import Fault
    from ..faults.exchange import Handler

KEPT: Final = 10_000


class Asked:
    """A request that waits for its answer. `common` are the fields of both events; `faults` touch it."""

    __slots__ = ("common", "faults", "number")

    def __init__(self, number: int, common: tuple[Any, ...]) -> None:
        self.number = number
        self.common = common
        self.faults: Sequence[Fault] = ()


class Trace:
    """Events since `start`; nothing is looked at before, and costs nothing. `events` are the last of them."""

    def __init__(self, cluster: "Cluster", kept: int = KEPT) -> None:
        self._cluster = cluster
        self.events: deque[Event] = deque(maxlen=kept)
        self.listeners: list[Callable[[Event], None]] = []
        self.failed: Callable[[Exception], None] | None = None
        """Hears of a listener that raised, and is told no more; unless it is set, that raises."""
        self.on = False
        self._states: States | None = None
        self._decisions = Decisions(self._add)
        self._number = 0

    def start(self) -> None:
        """From now on everything is kept. Fine to call twice."""
        if not self.on:
            self.on = True
            self._states = States(self._cluster)
            self._cluster.policies = WatchedPolicies(self._cluster.policies, self._decisions.decided)

    def requested(
        self, call: "Call", api: ApiKey, request: Any, connection: str, correlation_id: int
    ) -> Asked:
        """A request came."""
        self.changed()
        common = (
            *(call.broker.id, connection, call.client_id, api_name(api), call.version, correlation_id),
            _names_in(about(api, request, call.cluster)),
        )
        self._add(events.Request, *common, plain(request))
        return Asked(self._number, common)

    def during(self, asked: Asked, handler: "Handler") -> "Handler":
        """The handler; what is decided until it returns is decided for that request."""
        return self._decisions.during(asked.number, handler)

    def answered(self, asked: Asked, answer: Any) -> None:
        """A request got its answer, or an Outcome in its place; PARKED is silence."""
        self.changed()
        outcome = _OUTCOMES[answer] if type(answer) is Outcome else "answer"
        body = plain(answer) if outcome == "answer" else {}
        faults = tuple(map(str, asked.faults))
        self._add(events.Answer, *asked.common, outcome, tuple(dict.fromkeys(errors(body))), faults, body)

    def malformed(self, broker: int, connection: str, client_id: str | None, reason: str) -> None:
        """What came was no request that a broker answers: its connection is closed."""
        if self.on:
            self.changed()
            self._add(events.Malformed, broker, connection, client_id, reason)

    def changed(self) -> None:
        """Looks for changes of state."""
        if self._states is None:
            return
        try:
            for kind, values in self._states.changes():
                self._add(kind, *values)
            self._decisions.forget_all_but(self._cluster.topics)
        except Exception as error:
            if self.failed is None:
                raise
            self.failed(error)

    def policy(self, name: str, answer: str, topic: str | None, broker: int | None) -> None:
        """A behaviour was given another answer."""
        if self.on:
            self._add(events.Policy, name, answer, topic, broker)

    def find(self, kind: str | None = None, **wanted: Any) -> Iterator[Event]:
        """The events of a kind whose fields are as wanted; `topic` and `group` look into `names` too.

        ValueError for a kind or a field that there is not.
        """
        check(kind, wanted)
        return (event for event in list(self.events) if fits(event, kind, wanted))

    def _add(self, kind: Callable[..., Event], *values: Any) -> None:
        self._number += 1
        self._keep(kind(self._number, self._cluster.now_ms, *values))

    def _keep(self, event: Event) -> None:
        self.events.append(event)
        for listener in list(self.listeners):
            try:
                listener(event)
            except Exception as error:
                if self.failed is None:
                    raise
                self.listeners.remove(listener)
                self.failed(error)


def _names_in(what: About) -> tuple[str, ...]:
    named = {topic for topic, _ in what.partitions}
    return (
        *sorted(f"{topic}-{index}" for topic, index in what.partitions),
        *sorted(what.topics - named),
        *sorted(what.groups),
        *sorted(what.transactional_ids),
    )


_OUTCOMES: Final = {NO_ANSWER: "none", CLOSE: "closed", PARKED: "silence"}


def check(kind: str | None, wanted: dict[str, Any]) -> None:
    """ValueError for a kind, a field or an API that there is not; it names the nearest one."""
    if kind is not None and kind not in KINDS:
        raise OptionError(f"no kind of event {kind!r}{nearest(kind, KINDS)}")
    kinds = list(KINDS.values()) if kind is None else [KINDS[kind]]
    known = {name for each in kinds for name in each.__dataclass_fields__}
    for name in wanted:
        if name not in known | _IN_NAMES:
            raise OptionError(f"no event has {name!r}{nearest(name, known | _IN_NAMES)}")
    if "api" in wanted and wanted["api"] not in (apis := [api_name(each) for each in ApiKey]):
        raise OptionError(f"no API {wanted['api']!r}{nearest(wanted['api'], apis)}")


_IN_NAMES: Final = {"topic", "group", "transactional_id"}


def fits(event: Event, kind: str | None, wanted: dict[str, Any]) -> bool:
    """Whether an event is of a kind and has the wanted values."""
    if kind is not None and event.kind != kind:
        return False
    for name, value in wanted.items():
        if hasattr(event, name):
            if getattr(event, name) != value:
                return False
        elif name not in _IN_NAMES or not _names(event, str(value)):
            return False
    return True


def _names(event: Event, name: str) -> bool:
    """Whether a request is about a topic (any partition of it), a group or a transactional id."""
    names: tuple[str, ...] = getattr(event, "names", ())
    return any(each == name or each.rpartition("-")[0] == name for each in names)
