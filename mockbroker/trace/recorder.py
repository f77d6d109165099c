"""Keeps the last events of a cluster that is traced, and tells listeners."""

import math
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from ..faults.about import about
from ..outcome import Unanswered
from ..policies.watched import WatchedPolicies
from ..protocol.api_keys import ApiKey
from ..protocol.messages.produce import ProduceResponse
from . import events, exchanges, produced
from .codes import error_codes
from .decisions import Decisions
from .event import Event
from .events import NOT_KEPT
from .exchanges import MOST_NAMES, Asked, KnownTopics, names_in, names_of_produce
from .finding import fits
from .group_events import SharePartition
from .kept import Entry, Kept, event_of, packed
from .looks import Change
from .plain import shortened, weight
from .states import States

if TYPE_CHECKING:
    from ..cluster.call import Call
    from ..cluster.cluster import Cluster
    from ..faults.exchange import Handler

KEPT: Final = 10_000
KEPT_WITH_DETAILS: Final = 100_000
_BETWEEN_KEYFRAMES: Final = 1_000
"""The least number of events from one keyframe to the next; four times as many as it has rows, if that is
more."""
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
_NAMES_KEPT: Final = 10_000
_LONGEST_NAME: Final = 249
"""That of a topic."""
_FEW: Final = 100
"""As long as there are no more things than that which are no partitions, all are inspected before and after
every request. Of partitions, only those that have changed ever are."""
_OTHERS_PER_MS: Final = 2
"""How many are inspected, if there are more, for each millisecond between two inspections that nothing but
quiet requests and time call for."""
_HANDED_OVER: Final = 1_000
"""So many events are handed over at once, so that each costs little."""
_KIND: Final = itemgetter(0)
_RESTS: Final = 5
"""After so many while the cluster's clock stands still, everything is inspected."""


class Recorder:
    """What a trace does once it has been started. `events` are the last of them: `kept`, or as many as there
    is room for, which are more if bodies are kept. `tell` tells a listener or a taker, `failed` of what went
    wrong."""

    def __init__(
        self,
        cluster: "Cluster",
        kept: int | None,
        listeners: list[Callable[[Event], None]],
        takers: list[Callable[[list[Entry]], None]],
        tell: Callable[[Callable[[Any], None], Any], None],
        failed: Callable[[Exception], None],
        *,
        bodies: bool,
    ) -> None:
        self._cluster, self._environment = cluster, cluster.environment
        self._listeners = listeners
        self._takers = takers
        self._tell = tell
        self._failed = failed
        self.bodies = bodies
        room = KEPT_WITH_DETAILS if bodies else KEPT
        self.events = Kept(room if kept is None else kept)
        self._fresh: list[Entry] = []
        """Those that takers have not got yet."""
        self._most_fresh = _HANDED_OVER
        self._decisions = Decisions(self._add_decision)
        self._known = KnownTopics(cluster)
        self._names: dict[tuple[object, int], tuple[str, ...]] = {}
        """By topic or its id, and partition."""
        self._number = 0
        self._keyframe_at = 0
        self._looked_ms = self._looks_ms = 0
        self._stale = False
        """Whether quiet requests have changed something that was not looked for since."""
        self._rests = 0
        self._rested_ms = 0
        self._states = States(cluster, details=bodies)
        self._known.look()
        cluster.policies = WatchedPolicies(cluster.policies, self._decisions.decided)

    def begin(self) -> None:
        """Tells of what there is."""
        if self.bodies:
            self._add_keyframe(self._states)

    def requested(
        self, call: "Call", api: ApiKey, request: Any, connection: str, correlation_id: int, size: int = 0
    ) -> Asked:
        """A request of `size` bytes came."""
        if self.bodies:
            return self._noted(call, api, request, connection, correlation_id)
        quiet = api in _QUIET
        if not quiet:
            self.changed()
        self._number = number = self._number + 1
        asked = Asked(number, self._environment.now_ms, call, api, connection, correlation_id)
        if api is ApiKey.PRODUCE:
            asked.names = self._names_of_produce(request)
        elif quiet and size <= _SMALL_BYTES:
            asked.names = request
        else:
            asked.names = names_in(about(api, request, call.cluster, MOST_NAMES))
        if size > _SMALL_BYTES and len(asked.names) > 1:
            self.events.weigh(number, len(asked.names))
        self._keep((number, exchanges.request, asked, self._known, NOT_KEPT))
        return asked

    def _noted(self, call: "Call", api: ApiKey, request: Any, connection: str, correlation_id: int) -> Asked:
        """A request whose body is kept."""
        self._look(api in _QUIET)
        self._number = number = self._number + 1
        asked = Asked(number, self._environment.now_ms, call, api, connection, correlation_id)
        body: Any = None
        if api is ApiKey.PRODUCE:
            asked.names = self._names_of_produce(request)
            body = produced.of_request(request)
        else:
            asked.names = names_in(about(api, request, call.cluster, MOST_NAMES))
        if body is None:
            body = self._packed(number, request)
        self._keep((number, events.Request, asked.time_ms, *asked.common(self._known), body))
        return asked

    def during(self, asked: Asked, handler: "Handler") -> "Handler":
        """The handler; what is decided until it returns is attributed to that request."""
        return self._decisions.during(asked.number, handler)

    def answered(self, asked: Asked, answer: Any) -> None:
        """A request got its answer, or is Unanswered."""
        quiet = asked.api in _QUIET and not asked.faults
        if self.bodies or not quiet:
            self._look(quiet)
        else:
            self._stale = True
        self._number = number = self._number + 1
        now_ms = self._environment.now_ms
        if not self.bodies:
            codes = answer if type(answer) is Unanswered else error_codes(answer)
            self._keep((number, exchanges.answer, asked, self._known, (now_ms, codes, NOT_KEPT)))
            return
        codes, body = (), None
        if type(answer) is Unanswered:
            codes, body = answer, packed({})
        elif type(answer) is ProduceResponse:
            body = produced.of_answer(answer)
        if body is None:
            codes, body = error_codes(answer), self._packed(number, answer)
        told = exchanges.answered(asked, self._known, now_ms, codes, body)
        self._keep((number, events.Answer, *told))

    def _packed(self, number: int, message: Any) -> Any:
        """The body of event `number`."""
        body, entries = shortened(message)
        if entries > _FEW_ENTRIES:
            self.events.weigh(number, entries)
        return packed(body)

    def _names_of_produce(self, request: Any) -> tuple[str, ...]:
        """Those of a partition are kept once."""
        topics = request.topic_data
        if len(topics) != 1 or len(topics[0].partition_data) != 1 or request.transactional_id:
            return names_of_produce(request, self._cluster)
        (topic,) = topics
        where = topic.name or topic.topic_id, topic.partition_data[0].index
        names = self._names.get(where)
        if names is None:
            names = names_of_produce(request, self._cluster)
            if len(self._names) >= _NAMES_KEPT:
                self._names.clear()
            if names and len(topic.name) <= _LONGEST_NAME:
                self._names[where] = names
        return names

    def malformed(self, broker: int, connection: str, client_id: str | None, reason: str) -> None:
        """A client sent something that no broker answers: its connection is closed."""
        self.changed()
        self._add(events.Malformed, broker, connection, client_id, reason)

    def login(self, broker: int, connection: str, client_id: str | None, *how: str) -> None:
        """A client proved who it is, or failed to."""
        self.changed()
        self._add(events.Login, broker, connection, client_id, *how)

    def changed(self) -> None:
        """Looks for changes of state."""
        self._stale = False
        self._take(self._states.changes())

    def _look(self, quiet: bool) -> None:
        """Looks for what a request may have changed."""
        if quiet and self._states.others > _FEW:
            self._stale = True
            self._look_at_partitions()
        else:
            self.changed()

    def _look_at_partitions(self) -> None:
        states = self._states
        if states.are_quiet:
            return
        if states.have_news or self._listeners:
            self._take(states.changes_of_partitions())
            return
        try:
            if found := states.changed_partitions(self._number, self._environment.now_ms):
                self._number = found[-1][0]
                self.events.extend(found)
                if self._takers:
                    self._offer(found)
            if self._number >= self._keyframe_at:
                self._keyframe_if_due()
        except Exception as error:
            self._failed(error)

    @property
    def _interval_ms(self) -> int:
        """The time between two looks at everything that is affordable."""
        others = self._states.others
        return others // _OTHERS_PER_MS if others > _FEW else 0

    def _take(self, changes: Iterable[Change]) -> None:
        try:
            self._known.look()
            if self._listeners:
                # Which may have the cluster do something: it is told as it comes.
                for each in changes:
                    self._keep_all([each])
            elif found := list(changes):
                self._keep_all(found)
            self._decisions.forget_all_but(self._cluster.topics)
            self._keyframe_if_due()
        except Exception as error:
            self._failed(error)

    def time_went_by(self) -> None:
        """Looks for changes of state: of partitions at once if bodies are kept, of everything no more often
        than is affordable."""
        now_ms = self._environment.now_ms
        if self._looked_ms <= now_ms < self._looks_ms:
            if self.bodies:
                self._look_at_partitions()
            return
        self._looked_ms = now_ms
        self._looks_ms = now_ms + self._interval_ms
        self.changed()

    def rest(self) -> None:
        """There is nothing else to do: looks for what quiet requests have changed."""
        if not self._stale:
            return
        now_ms = self._environment.now_ms
        self._rests = self._rests + 1 if now_ms == self._rested_ms else 0
        self._rested_ms = now_ms
        if self._rests < _RESTS:
            self.time_went_by()
        else:
            self._rests = 0
            self.changed()

    @property
    def ms_left(self) -> float:
        """How long it may take until the next look, in ms."""
        return max(self._looks_ms - self._environment.now_ms, 0) if self._stale else math.inf

    def policy(self, name: str, answer: str, topic: str | None, broker: int | None) -> None:
        """The answer of a behaviour was changed."""
        self._states.look_at_all()
        self._add(events.Policy, name, answer, topic, broker)

    def find(self, kind: str | None, wanted: dict[str, Any]) -> Iterator[Event]:
        """As `Trace.find`, with names that were checked."""
        self.changed()
        return (event for event in self.events if fits(event, kind, wanted))

    def whole(self) -> list[Event]:
        """All events that are kept."""
        self.changed()
        return list(self.events)

    def entries(self) -> list[Entry]:
        """The same, as they are kept."""
        self.changed()
        return self.events.entries()

    def _add(self, kind: Callable[..., Event], *values: Any) -> None:
        self._number += 1
        self._keep((self._number, kind, self._environment.now_ms, *values))

    def _keyframe_if_due(self) -> None:
        if self.bodies and self._number >= self._keyframe_at:
            self._add_keyframe(self._states)

    def _add_keyframe(self, states: States) -> None:
        self.hand_over()
        snapshot = states.snapshot()
        self._add(events.Keyframe, snapshot)
        self._keyframe_at = self._number + max(_BETWEEN_KEYFRAMES, 4 * len(snapshot))

    def _add_decision(self, request: int | None, told: tuple[Any, ...]) -> None:
        self._number = number = self._number + 1
        self._keep((number, events.Decision, self._environment.now_ms, request, *told))

    def _keep(self, entry: Entry) -> None:
        if self._listeners:
            entry = event_of(entry)
        self.events.append(entry)
        if self._takers:
            self._fresh.append(entry)
            if len(self._fresh) >= self._most_fresh:
                self.hand_over()
        if self._listeners:
            for listener in list(self._listeners):
                self._tell(listener, entry)

    def _keep_all(self, changes: list[Change]) -> None:
        number, now_ms = self._number, self._environment.now_ms
        found: list[Any] = [
            (place, kind, now_ms, *values) for place, (kind, values) in enumerate(changes, number + 1)
        ]
        self._number = number + len(found)
        if SharePartition in map(_KIND, changes):
            for place, (kind, values) in enumerate(changes, number + 1):
                if kind is SharePartition and (entries := weight(list(values))) > _FEW_ENTRIES:
                    self.events.weigh(place, entries)
        if self._listeners:
            for entry in found:
                self._keep(entry)
            return
        self.events.extend(found)
        if self._takers:
            self._offer(found)

    def _offer(self, entries: Iterable[Entry]) -> None:
        self._fresh += entries
        if len(self._fresh) >= self._most_fresh:
            self.hand_over()

    def hand_over(self) -> None:
        """Gives takers what they have not got yet."""
        if self._fresh:
            entries, self._fresh, self._most_fresh = self._fresh, [], _HANDED_OVER
            for take in list(self._takers):
                self._tell(take, entries)

    def be_eager(self) -> None:
        """Gives takers the next event as soon as it comes."""
        self._most_fresh = 1
