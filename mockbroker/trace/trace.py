"""The trace of a cluster. Until it is started it costs nothing, not even the time to import what it needs."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from ..cluster.call import Call
    from ..cluster.cluster import Cluster
    from ..faults.exchange import Handler
    from .event import Event
    from .exchanges import Asked
    from .kept import Entry
    from .recorder import Recorder


class Trace:
    """Events since `start`; before that, nothing is looked at. `kept` is how many of the last are kept; by
    default as many as there is room for. What is about a request may be called only while it is `on`."""

    def __init__(self, cluster: "Cluster", kept: int | None = None) -> None:
        self._cluster = cluster
        self._kept = kept
        self._recorder: Recorder | None = None
        self.listeners: list[Callable[[Event], None]] = []
        self.takers: list[Callable[[list[Entry]], None]] = []
        """As `listeners`, but they get what becomes an event only if somebody reads it, many at once."""
        self.failed: Callable[[Exception], None] | None = None
        """Called with the error of a listener that raised, which is then removed; if this is not set, the
        error is raised."""
        self.on = False

    @property
    def events(self) -> "Sequence[Event]":
        """The last of them. May be read in any thread."""
        return () if self._recorder is None else self._recorder.events

    @property
    def bodies(self) -> bool:
        """Whether bodies of requests and answers are kept."""
        return self._recorder is None or self._recorder.bodies

    def start(self, *, bodies: bool = True) -> None:
        """Keeps everything from now on; without the bodies of requests and answers, no details either.
        Further calls change nothing."""
        if self._recorder is None:
            from .recorder import Recorder

            self._recorder = Recorder(
                self._cluster,
                self._kept,
                self.listeners,
                self.takers,
                self._tell,
                self._fail,
                bodies=bodies,
            )
            # Which are called for each request.
            self.requested = self._recorder.requested  # type: ignore[method-assign]
            self.during = self._recorder.during  # type: ignore[method-assign]
            self.answered = self._recorder.answered  # type: ignore[method-assign]
            self.on = True
            self._recorder.begin()

    @property
    def _started(self) -> "Recorder":
        if self._recorder is None:
            raise RuntimeError("the trace was not started")
        return self._recorder

    def requested(
        self, call: "Call", api: ApiKey, request: Any, connection: str, correlation_id: int, size: int = 0
    ) -> "Asked":
        """A request of `size` bytes came."""
        return self._started.requested(call, api, request, connection, correlation_id, size)

    def during(self, asked: "Asked", handler: "Handler") -> "Handler":
        """The handler; what is decided until it returns is attributed to that request."""
        return self._started.during(asked, handler)

    def answered(self, asked: "Asked", answer: Any) -> None:
        """A request got its answer, or is Unanswered."""
        self._started.answered(asked, answer)

    def malformed(self, broker: int, connection: str, client_id: str | None, reason: str) -> None:
        """A client sent something that no broker answers: its connection is closed."""
        if self._recorder is not None:
            self._recorder.malformed(broker, connection, client_id, reason)

    def login(self, broker: int, connection: str, client_id: str | None, *how: str) -> None:
        """A client proved who it is, or failed to; `how` are the other fields of `events.Login`."""
        if self._recorder is not None:
            self._recorder.login(broker, connection, client_id, *how)

    def policy(self, name: str, answer: str, topic: str | None, broker: int | None) -> None:
        """The answer of a behaviour was changed."""
        if self._recorder is not None:
            self._recorder.policy(name, answer, topic, broker)

    def changed(self) -> None:
        """Looks for changes of state."""
        if self._recorder is not None:
            self._recorder.changed()

    def time_went_by(self) -> None:
        """Looks for changes of state; if bodies are not kept, no more often than is affordable."""
        if self._recorder is not None:
            self._recorder.time_went_by()

    def rest(self) -> None:
        """There is nothing else to do: looks for what quiet requests have changed."""
        if self._recorder is not None:
            self._recorder.rest()

    @property
    def ms_left(self) -> float:
        """How long it may take until the next look, in ms."""
        return math.inf if self._recorder is None else self._recorder.ms_left

    def find(self, kind: str | None = None, **wanted: Any) -> "Iterator[Event]":
        """The events of a kind with the wanted values, without a kind all but `DETAILS`; `topic` and `group`
        are also looked up in `names`.

        ValueError for a kind or a field that does not exist.
        """
        from .finding import check

        check(kind, wanted)
        return iter(()) if self._recorder is None else self._recorder.find(kind, wanted)

    def attach(self, listener: "Callable[[Event], None]") -> None:
        """Has a listener hear all events that are kept, and from now on each that happens."""
        # Which may find events that are new: whoever listened already would hear of them twice.
        events = self.whole()
        self.listeners.append(listener)
        for event in events:
            if listener not in self.listeners:
                break
            self._tell(listener, event)

    def hand_to(self, taker: "Callable[[list[Entry]], None]") -> None:
        """As `attach`, at a fraction of the price: of each entry `event_of` makes an event."""
        entries = [] if self._recorder is None else self._recorder.entries()
        self.hand_over()
        self.takers.append(taker)
        if entries:
            self._tell(taker, entries)

    def hand_over(self, eagerly: bool = False) -> None:
        """Gives takers what they have not got yet; `eagerly`, also the next event as soon as it comes."""
        if self._recorder is not None:
            self._recorder.hand_over()
            if eagerly:
                self._recorder.be_eager()

    def whole(self) -> "list[Event]":
        """All events that are kept."""
        return [] if self._recorder is None else self._recorder.whole()

    def _tell(self, listener: "Callable[[Any], None]", what: Any) -> None:
        try:
            listener(what)
        except Exception as error:
            if self.failed is not None:
                among: list[Any] = self.takers if listener in self.takers else self.listeners
                among.remove(listener)
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self.failed is None:
            raise error
        self.failed(error)
