"""What one connection sends: answers, whole or in parts, or its end. Knows no socket."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..cluster.broker import Broker
from ..cluster.call import Call
from ..cluster.cluster import Cluster
from ..faults.exchange import End, Exchange
from ..faults.match import api_name
from ..outcome import CLOSE, NEVER, PARKED, Unanswered
from ..protocol.codecs import AnswerTooLargeError, Codec, Frame
from ..protocol.primitives import TextTooLongError
from ..trace import Trace
from .delivery import Deliveries
from .frames import Frames
from .slices import Slice
from .too_long import frame_instead

if TYPE_CHECKING:
    from ..trace.exchanges import Asked

Buffer = bytes | bytearray | memoryview

_ENCODING_ERRORS: Final = (AnswerTooLargeError, TextTooLongError)
_LARGER_ANSWERS: Final = (
    ". A name that is given more than once is answered more than once. mockbroker.max.response.bytes allows "
    "larger answers."
)


class Part:
    """Reads a request, or writes an answer, while others have their turns: `done` gets the result, `failed`
    the error."""

    __slots__ = ("answer", "ended_by")

    gone = False

    def __init__(self, done: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
        self.answer = done
        self.ended_by = failed


class Sending(Frames):
    """Sends the answers to requests: `out` has what is to be written. `on_ready` is called when there is more
    to write, or to answer, outside the connection's own calls."""

    __slots__ = (
        "_asked",
        "_deliveries",
        "_most_bytes",
        "broker",
        "cluster",
        "on_ready",
        "out",
        "resets",
        "trace",
    )

    def __init__(
        self,
        cluster: Cluster,
        broker: Broker,
        on_ready: Callable[[Any], None],
        trace: Trace,
        slice_: Slice,
    ) -> None:
        super().__init__(slice_)
        self.cluster = cluster
        self.broker = broker
        self.on_ready = on_ready
        self.trace = trace
        self._asked: Asked | None = None
        """The number of the request in the trace that has no answer yet."""
        self._deliveries: Deliveries | None = None
        self._most_bytes = broker.environment.configs.broker_int("mockbroker.max.response.bytes")
        self.out: deque[Buffer] = deque()
        self.resets = False
        """Whether the connection ends with a reset."""

    def _deliver(self, found: Codec, correlation_id: int, call: Call, request: Any, answer: Any) -> bool:
        """Sends an answer, or ends the connection; False if the answer has not been sent yet, or never will
        be."""
        if self.trace.on:
            self._tell(answer)
        kind = type(answer)
        if kind is Unanswered:
            return self._end(answer)
        exchange: Exchange | None = None
        if kind is Exchange:
            exchange = answer
            call, request, answer = exchange.call, exchange.request, exchange.answer
            if type(answer) is Unanswered:
                return self._end(answer, exchange.ending)
            if self.wants_close:
                # The client has disconnected meanwhile.
                return False
        if call.long:
            return self._write_large(found, correlation_id, call, request, answer, exchange)
        try:
            frame = found.encode(correlation_id, answer, self._most_bytes)
        except _ENCODING_ERRORS as error:
            return self._send_instead(error, found, correlation_id, call, request, exchange)
        if exchange is not None or self._deliveries is not None:
            return self._send_whole(frame, exchange)
        self.send(frame)
        return True

    def _write_large(
        self,
        found: Codec,
        correlation_id: int,
        call: Call,
        request: Any,
        answer: Any,
        exchange: Exchange | None,
    ) -> bool:
        """As `_deliver`, in parts."""

        def done(frame: Frame) -> None:
            if not self.wants_close and self._send_whole(frame, exchange):
                self._go_on()

        def failed(error: Exception) -> None:
            try:
                if not self._send_instead(error, found, correlation_id, call, request, exchange):
                    return
            except Exception as other:
                self._failed(found.api_key, found.version, other)
            self._go_on()

        steps = found.encode_in_parts(correlation_id, answer, self._most_bytes)
        frame: Any
        try:
            frame = self.cluster.work.begin(Part(done, failed), steps)
        except _ENCODING_ERRORS as error:
            return self._send_instead(error, found, correlation_id, call, request, exchange)
        return frame is not PARKED and self._send_whole(frame, exchange)

    def _send_instead(
        self,
        error: Exception,
        found: Codec,
        correlation_id: int,
        call: Call,
        request: Any,
        exchange: Exchange | None,
    ) -> bool:
        """Sends something else instead of an answer that can't be encoded. Raises `error` if that is due to a
        fault that replaced values, or to a bug."""
        if isinstance(error, AnswerTooLargeError):
            self._too_large(found, error)
            return True
        if not isinstance(error, TextTooLongError) or (exchange is not None and exchange.replaced):
            raise error
        frame = frame_instead(found, correlation_id, call, request)
        if frame is None:
            self._never_answered()
            return False
        return self._send_whole(frame, exchange)

    def _send_whole(self, frame: Frame, exchange: Exchange | None) -> bool:
        """Sends a frame as faults want it to be sent."""
        if exchange is None or (self._deliveries is None and not exchange.on_the_way):
            self.send(frame)
            if exchange is None and self._deliveries is not None:
                self._deliveries.send_withheld()
                self._deliveries = None
            return True
        if self._deliveries is None:
            wait = self.broker.environment.wait
            self._deliveries = Deliveries(self, wait, lambda: self.on_ready(self), self._go_on)
        data = b"".join(frame) if isinstance(frame, list) else bytes(frame)
        return self._deliveries.deliver(exchange.delivery(data))

    def _too_large(self, found: Codec, error: AnswerTooLargeError) -> None:
        """The answer was given up: the client can only be told by the end of the connection."""
        self.wants_close = True
        self._malformed(f"{api_name(found.api_key)} v{found.version}: {error}{_LARGER_ANSWERS}")

    def dropped(self) -> None:
        """The socket is closed. A parked request refers to the connection, and the connection to it: a server
        hardly ever looks for such circles."""
        self.wants_close = True
        self.parked = self._deliveries = None

    def end(self, how: End) -> None:
        """Ends the connection once everything that was sent is on its way."""
        self.wants_close = True
        self.resets = how is End.RESET

    def _end(self, outcome: Unanswered, how: End = End.CLOSE) -> bool:
        if outcome is CLOSE:
            self.end(how)
        if outcome is NEVER:
            self._never_answered()
        return outcome is not NEVER

    def _never_answered(self) -> None:
        """The request and those after it are never answered: nothing of them is kept, and a client that has
        closed its side need not wait."""
        self.owes_nothing = True
        self.forget_waiting()
        if self.parked is not None:
            self.parked = (*self.parked[:3], None)
        self.on_ready(self)

    def _tell(self, answer: Any) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            self.trace.answered(asked, answer.answer if type(answer) is Exchange else answer)

    def _go_on(self) -> None:
        """The parked request is done: continues with the requests after it."""
        self.parked = None
        self.on_ready(self)

    def send(self, frame: Any) -> None:
        """Adds an answer, or a part of one, to what has to be written."""
        if type(frame) is list:
            # Writing an empty buffer returns 0, which looks as if the socket took nothing.
            self.out += filter(len, frame)
            self.out_bytes += sum(map(len, frame))
        else:
            self.out.append(frame)
            self.out_bytes += len(frame)
