"""The requests of a connection on which faults and behaviours act, one at a time. Knows no socket."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ..cluster.call import Call
from ..faults import Fault
from ..faults.exchange import Exchange, Handler
from ..outcome import CLOSE, NEVER, NO_ANSWER, PARKED, Client, Unanswered
from ..protocol.answers import answer_codec
from ..protocol.api_keys import ApiKey
from ..server.delivery import Deliveries, Outlet
from .deciding.dialogue import Dialogue, ToBroker
from .deciding.steps import Steps
from .fetch_sessions import ending
from .pending import Pending
from .requesting import request_frame
from .upstream import Upstream

if TYPE_CHECKING:
    from ..trace.exchanges import Asked


class Wire(Outlet, Protocol):
    """The two sides, as who acts on a request sees them."""

    def forward(self, pending: Pending, frame: bytes) -> bool:
        """Passes a request on, which has no length yet; False if it will not be answered."""

    def go_on(self) -> None:
        """Takes the requests that come next."""

    def ready(self) -> None:
        """There is more to write, although no bytes came."""


class Acting:
    """`tell` is called with what a user should know."""

    def __init__(self, wire: Wire, upstream: Upstream, client: Client, tell: Callable[[str], None]) -> None:
        self.silent = False
        """Whether nothing is answered any more."""
        self._wire = wire
        self._upstream = upstream
        self._client = client
        self._tell = tell
        self._exchange: Exchange | None = None
        self._correlation_id = 0
        self._asked: Asked | None = None
        """What the trace has of the request of `_exchange`."""
        self._passed_on = False
        """Whether the broker gets something of the request of `_exchange`."""
        self.deliveries = Deliveries(wire, upstream.environment.wait, wire.ready, self._delivered)

    @property
    def under_way(self) -> bool:
        """Whether the connection has to wait for it."""
        return self._exchange is not None or self.silent

    def prepared(
        self,
        call: Call,
        request: Any,
        frame: bytes,
        correlation_id: int,
        touches: Sequence[Fault],
        steps: Steps | None,
        asked: "Asked | None",
    ) -> Callable[[], None]:
        """What begins with a request, once it has its turn."""
        upstream, version = self._upstream, call.version
        api = ApiKey(int.from_bytes(frame[:2]))

        def work(inner: Call, wanted: Any) -> Any:
            self._passed_on = True
            decided, data = steps, frame
            if wanted is not request:
                # The rest of it, where faults refuse some.
                decided = upstream.decider.begin(call, api, wanted, self._tell)
                data = request_frame(api, version, wanted, correlation_id, call.client_id)
            if decided is not None:
                Dialogue(decided, inner, wanted, data, self._ask).begin()
                return PARKED
            expects = self._wire.forward(Pending(api, version, correlation_id, inner.answer), data)
            self._wire.ready()
            return PARKED if expects else NO_ANSWER

        handler: Handler = work
        if asked is not None:
            asked.faults = touches
            handler = upstream.trace.during(asked, work)
        exchange = Exchange(call, api, request, handler, touches)
        return partial(self._begin, exchange, correlation_id, asked)

    def answered(self, codec: Any) -> None:
        """The broker's answer is of this kind."""
        self._codec = codec

    def give_up(self) -> None:
        """The broker's answer can't be read, and was passed on."""
        self._exchange = None

    def complete(self, call: Call, answer: Any) -> None:
        """A call has its answer."""
        if self._exchange is not None and self._exchange.received is call:
            self._finish(self._exchange)
            self._wire.go_on()
            self._wire.ready()

    def _begin(self, exchange: Exchange, correlation_id: int, asked: "Asked | None") -> None:
        self._exchange, self._correlation_id, self._asked = exchange, correlation_id, asked
        self._passed_on = False
        self._codec = answer_codec(exchange.api, exchange.call.version)
        outcome = exchange.begin()
        if outcome is not PARKED:
            self._finish(exchange)

    def _ask(self, what: ToBroker, take: Callable[[Any], None]) -> None:
        if self._asked is not None:
            take = self._attributed(self._asked, take)
        pending = Pending(what.key, what.version, what.correlation_id, take, own=what.own)
        self._wire.forward(pending, what.frame)
        self._wire.ready()

    def _attributed(self, asked: "Asked", take: Callable[[Any], None]) -> Callable[[Any], None]:
        """What is decided in `take` is attributed to the request, as in its handler."""
        decide = self._upstream.trace.during(asked, lambda _, answer: take(answer))
        return partial(decide, asked.call)

    def _finish(self, exchange: Exchange) -> None:
        try:
            self._deliver(exchange)
        except Exception as error:
            self._tell(
                f"{self._client.address}: closed, because {exchange.api.name} could not be answered: {error}"
            )
            self._wire.wants_close = True

    def _deliver(self, exchange: Exchange) -> None:
        if exchange.error is not None:
            raise exchange.error
        answer = exchange.answer
        if not self._passed_on and exchange.has_answer and (last := ending(exchange)) is not None:
            self._tell_broker(exchange, last)
            answer = replace(answer, session_id=0)
        if self._asked is not None:
            self._upstream.trace.answered(self._asked, answer)
        if type(answer) is Unanswered:
            self._exchange = None
            if answer is CLOSE:
                self._wire.end(exchange.ending)
            self.silent = answer is NEVER
            return
        frame = self._codec.encode(self._correlation_id, answer)
        if self.deliveries.deliver(exchange.delivery(frame)):
            self._exchange = None

    def _tell_broker(self, exchange: Exchange, request: Any) -> None:
        """Sends it a request of its own, whose answer is for nobody."""
        api, call, correlation_id = exchange.api, exchange.call, self._correlation_id
        frame = request_frame(api, call.version, request, correlation_id, call.client_id)
        self._wire.forward(Pending(api, call.version, correlation_id, lambda _: None, own=True), frame)

    def _delivered(self) -> None:
        """What was sent late, or in parts, is sent."""
        self._exchange = None
        self._wire.go_on()
        self._wire.ready()
