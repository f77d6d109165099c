"""Keeps the last events of a cluster, and calls listeners."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from ..errors import OptionError
from ..faults.about import about
from ..faults.match import api_name
from ..nearest import nearest
from ..outcome import Unanswered
from ..policies.watched import WatchedPolicies
from ..protocol.api_keys import CODEC_VERSIONS, ApiKey
from . import events, exchanges
from .codes import error_codes
from .decisions import Decisions
from .events import DETAILS, KINDS, NOT_KEPT, Event
from .exchanges import MOST_NAMES, Asked, KnownTopics, names_in, names_of_produce
from .kept import Kept, Unread
from .looks import as_rows
from .plain import shortened, weight
from .states import States

if TYPE_CHECKING:
    from ..cluster.call import Call
    from ..cluster.cluster import Cluster
    from ..faults.exchange import Handler
    from ..policies.watched import Decision as Decided

KEPT: Final = 10_000
KEPT_WITH_DETAILS: Final = 100_000
_BETWEEN_KEYFRAMES: Final = 1_000
"""The least number of events from one keyframe to the next; more if it has more rows."""
_QUIET: Final = frozenset(
    {
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.HEARTBEAT,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
    }
)
"""Clients send these all the time, and they change little except high watermarks: if bodies are not kept,
their effects are looked for a little later."""
_SMALL_BYTES: Final = 256
"""The names in larger requests are extracted at once, so that the requests need not be kept."""
_FEW_ENTRIES: Final = 50
"""Requests and answers with more count as large."""
_PARTITIONS_PER_MS: Final = 256
"""How many partitions are inspected for each millisecond between two inspections, if bodies are not kept."""
_DETAILED_PER_MS: Final = 32
"""The same with details, if there are many partitions."""
_RESTS: Final = 50
"""After so many, all partitions are inspected even if the cluster's clock stands still."""
_MANY: Final = 100
"""With more partitions, not all of them are inspected before and after every request."""


class Trace:
    """Events since `start`; before that, nothing is looked at and nothing costs time. `events` are the last
    of them: `kept`, or as many as there is room for, which are more if bodies are kept."""

    def __init__(self, cluster: "Cluster", kept: int | None = None) -> None:
        self._cluster = cluster
        self.events = Kept(KEPT if kept is None else kept)
        self._kept = kept
        self.listeners: list[Callable[[Event], None]] = []
        self.failed: Callable[[Exception], None] | None = None
        """Called with the error of a listener that raised, which is then removed; if this is not set, the
        error is raised."""
        self.on = False
        self.bodies = True
        self._states: States | None = None
        self._decisions = Decisions(self._add_decision)
        self._known = KnownTopics(cluster)
        self._number = 0
        self._keyframe_at = 0
        self._looked_ms = self._looks_ms = 0
        self._stale = False
        self._rests = 0

    def start(self, *, bodies: bool = True) -> None:
        """Keeps everything from now on; without the bodies of requests and answers, no details either.
        Further calls change nothing."""
        if not self.on:
            self.on, self.bodies = True, bodies
            self._states = States(self._cluster, details=bodies)
            self._known.look()
            self._cluster.policies = WatchedPolicies(self._cluster.policies, self._decisions.decided)
            if bodies:
                self.events = Kept(KEPT_WITH_DETAILS if self._kept is None else self._kept)
                self._add_keyframe(self._states)

    def requested(
        self, call: "Call", api: ApiKey, request: Any, connection: str, correlation_id: int, size: int = 0
    ) -> Asked:
        """A request of `size` bytes came."""
        quiet = not self.bodies and api in _QUIET
        if not quiet and not (api in _QUIET and self._many):
            self.changed()
        self._number = number = self._number + 1
        asked = Asked(number, self._cluster.now_ms, call, api, connection, correlation_id)
        if api is ApiKey.PRODUCE:
            asked.names = names_of_produce(request, call.cluster)
        elif quiet and size <= _SMALL_BYTES:
            asked.names = request
        else:
            asked.names = names_in(about(api, request, call.cluster, MOST_NAMES))
        if self.bodies:
            body = shortened(request)
            self._weigh(number, body)
            self._keep(exchanges.request(number, asked, self._known, body))
        else:
            if size > _SMALL_BYTES and len(asked.names) > 1:
                self.events.weigh(number, len(asked.names))
            self._keep((number, exchanges.request, asked, self._known, NOT_KEPT))
        return asked

    def during(self, asked: Asked, handler: "Handler") -> "Handler":
        """The handler; what is decided until it returns is attributed to that request."""
        return self._decisions.during(asked.number, handler)

    def answered(self, asked: Asked, answer: Any) -> None:
        """A request got its answer, or is Unanswered."""
        if asked.faults or asked.api not in _QUIET or not (self._many or not self.bodies):
            self.changed()
        else:
            self._stale = True
            if self.bodies:
                self._changed_at(asked.names)
        self._number = number = self._number + 1
        now_ms = self._cluster.now_ms
        if not self.bodies:
            codes = answer if type(answer) is Unanswered else error_codes(answer)
            self._keep((number, exchanges.answer, asked, self._known, (now_ms, codes, NOT_KEPT)))
        else:
            outcome = type(answer) is Unanswered
            codes, body = (answer, {}) if outcome else (error_codes(answer), shortened(answer))
            self._weigh(number, body)
            self._keep(exchanges.answer(number, asked, self._known, (now_ms, codes, body)))

    def _weigh(self, number: int, body: Any) -> None:
        if (entries := weight(body)) > _FEW_ENTRIES:
            self.events.weigh(number, entries)

    def malformed(self, broker: int, connection: str, client_id: str | None, reason: str) -> None:
        """A client sent something that no broker answers: its connection is closed."""
        if self.on:
            self.changed()
            self._add(events.Malformed, broker, connection, client_id, reason)

    def changed(self) -> None:
        """Looks for changes of state."""
        if self._states is None:
            return
        self._stale = False
        try:
            self._known.look()
            for kind, values in self._states.changes():
                self._add(kind, *values)
            self._decisions.forget_all_but(self._cluster.topics)
            if self.bodies and self._number >= self._keyframe_at:
                self._add_keyframe(self._states)
        except Exception as error:
            if self.failed is None:
                raise
            self.failed(error)

    def time_went_by(self) -> None:
        """Looks for changes of state; if bodies are not kept, no more often than is affordable."""
        now_ms = self._cluster.now_ms
        if self._states is None or (self._in_a_hurry and self._looked_ms <= now_ms < self._looks_ms):
            return
        self._looked_ms = now_ms
        per_ms = _DETAILED_PER_MS if self.bodies else _PARTITIONS_PER_MS
        self._looks_ms = now_ms + self._states.partitions // per_ms
        self.changed()

    def rest(self) -> None:
        """There is nothing else to do: looks for what quiet requests have changed."""
        if not self._stale:
            return
        self._rests += 1
        if self._many and self._rests < _RESTS:
            self.time_went_by()
        else:
            self._rests = 0
            self.changed()

    @property
    def ms_left(self) -> float:
        """How long it may take until the next look, in ms."""
        return max(self._looks_ms - self._cluster.now_ms, 0) if self._stale and self._many else math.inf

    @property
    def _many(self) -> bool:
        return self.bodies and self._states is not None and self._states.partitions > _MANY

    @property
    def _in_a_hurry(self) -> bool:
        return not self.bodies or self._many

    def _changed_at(self, names: Iterable[str]) -> None:
        """Looks for changes of the partitions that have these names."""
        assert self._states is not None
        for kind, values in self._states.changes_at(names):
            self._add(kind, *values)

    def policy(self, name: str, answer: str, topic: str | None, broker: int | None) -> None:
        """The answer of a behaviour was changed."""
        if self.on:
            self._add(events.Policy, name, answer, topic, broker)

    def find(self, kind: str | None = None, **wanted: Any) -> Iterator[Event]:
        """The events of a kind with the wanted values, without a kind all but `DETAILS`; `topic` and `group`
        are also looked up in `names`.

        ValueError for a kind or a field that does not exist.
        """
        check(kind, wanted)
        if self._in_a_hurry:
            self.changed()
        return (event for event in self.events if fits(event, kind, wanted))

    def attach(self, listener: Callable[[Event], None]) -> None:
        """Has a listener hear all events that are kept, and from now on each that happens."""
        self.listeners.append(listener)
        for event in self.whole():
            if listener not in self.listeners:
                break
            self._tell(listener, event)

    def whole(self) -> list[Event]:
        """All events that are kept."""
        self.changed()
        return list(self.events)

    def _add(self, kind: Callable[..., Event], *values: Any) -> None:
        self._number += 1
        self._keep(kind(self._number, self._cluster.now_ms, *values))

    def _add_keyframe(self, states: States) -> None:
        rows = as_rows(states.whole())
        self._add(events.Keyframe, rows)
        self._keyframe_at = self._number + max(_BETWEEN_KEYFRAMES, len(rows))

    def _add_decision(self, request: int | None, one: "Decided") -> None:
        self._number = number = self._number + 1
        self._keep((number, _decision, self._cluster.now_ms, request, one))

    def _keep(self, entry: "Event | Unread") -> None:
        self.events.append(entry)
        if not self.listeners:
            return
        event = self.events.made(entry)
        for listener in list(self.listeners):
            self._tell(listener, event)

    def _tell(self, listener: Callable[[Event], None], event: Event) -> None:
        try:
            listener(event)
        except Exception as error:
            if self.failed is None:
                raise
            self.listeners.remove(listener)
            self.failed(error)


def _decision(number: int, now_ms: int, request: int | None, one: "Decided") -> Event:
    kind, scope = one.source
    about = (one.name, one.answer, kind, str(scope), *one.where, one.asked, one.answered)
    return events.Decision(number, now_ms, request, *about)


def check(kind: str | None, wanted: dict[str, Any]) -> None:
    """ValueError for a kind, a field or an API that does not exist; the message names the nearest one."""
    if kind is not None and kind not in KINDS:
        raise OptionError(f"no kind of event {kind!r}{nearest(kind, KINDS)}")
    kinds = list(KINDS.values()) if kind is None else [KINDS[kind]]
    known = {name for each in kinds for name in each.__dataclass_fields__}
    for name in wanted:
        if name not in known | _IN_NAMES:
            raise OptionError(f"no event has a field {name!r}{nearest(name, known | _IN_NAMES)}")
    if "api" in wanted and wanted["api"] not in (apis := [api_name(each) for each in CODEC_VERSIONS]):
        raise OptionError(f"no API {wanted['api']!r}{nearest(wanted['api'], apis)}")


_IN_NAMES: Final = {"topic", "group", "transactional_id"}


def fits(event: Event, kind: str | None, wanted: dict[str, Any]) -> bool:
    """Whether an event is of a kind, or of any but `DETAILS`, and has the wanted values."""
    if event.kind in DETAILS if kind is None else event.kind != kind:
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
