"""One client's connection: requests in, answers out, in order. Knows no socket."""

import struct
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..apis.advertised import answered
from ..apis.registry import HANDLERS, Handler
from ..cluster.call import CLOSE, PARKED, Call, Client, Failed, Outcome
from ..faults import Faults
from ..faults.answers import unknown_server_error
from ..faults.exchange import Exchange
from ..policies import OwnPolicyError
from ..protocol.codecs import Codec, Frame, codec
from ..protocol.headers import MalformedRequestError, parse_header, skip_tags
from ..protocol.primitives import TextTooLongError
from ..trace import Trace
from .delivery import Deliveries
from .failures import RequestFailedError
from .foreign import SASL, SASL_HANDSHAKE
from .frames import Frames
from .slices import ENDLESS, Slice
from .too_long import frame_instead

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from .observer import Observer

_HEADER: Final = struct.Struct(">hhih").unpack_from
_API_VERSIONS: Final = 18
_NO_CLIENT_ID_YET: Final = 1 << 16
"""No size that a client id can have."""

Buffer = bytes | bytearray | memoryview


class Connection(Frames):
    """Answers one request after the other, as a broker does: while one is parked, the next wait. `out` holds
    what has to be written."""

    __slots__ = (
        "_client_id_bytes",
        "_client_id_size",
        "_deliveries",
        "_served",
        "announced",
        "broker",
        "client",
        "client_id",
        "faults",
        "name",
        "observer",
        "on_ready",
        "out",
        "trace",
    )

    def __init__(
        self,
        broker: "Broker",
        name: str,
        host: str,
        observer: "Observer",
        on_ready: "Callable[[Connection], None]",
        faults: Faults | None = None,
        trace: Trace | None = None,
        slice_: Slice = ENDLESS,
    ) -> None:
        super().__init__(slice_)
        self.broker = broker
        self.faults = faults or Faults(broker.cluster)
        self.trace = trace
        self._deliveries: Deliveries | None = None
        self.name = name
        self.client = Client(host)
        self.client_id: str | None = None
        self.observer = observer
        self.on_ready = on_ready
        self.out: deque[Buffer] = deque()
        self._served: dict[int, tuple[Codec, Handler]] = {}
        self.announced = False
        self._client_id_bytes = b""
        self._client_id_size = _NO_CLIENT_ID_YET

    def _answer_frame(self, frame: memoryview) -> None:
        try:
            key, version, correlation_id, size = _HEADER(frame)
        except struct.error:
            raise MalformedRequestError(f"{len(frame)} bytes are shorter than a request header") from None
        offset = 10 + size if size > 0 else 10
        if size != self._client_id_size or frame[10:offset] != self._client_id_bytes:
            offset = self._identify(frame)
        served = self._served.get(key << 16 | version)
        if served is None:
            served = self._serve(key, version, correlation_id, frame, offset)
            if served is None:
                return
        found, handler = served
        if self.faults.armed:
            self._answer_faulty(found, handler, correlation_id, frame, offset)
            return
        request = found.decode(frame, offset)
        call = Call(self.broker, version, self.client, self.client_id, self._complete)
        self.broker.cluster.at_work = call
        try:
            answer = handler(call, request)
        except (OwnPolicyError, TextTooLongError) as error:
            self._excuse(error)
            answer = unknown_server_error(call, found.api_key, request)
        if not self.announced:
            self.announced = True
            self.observer.identified(self)
        if type(answer) is not Outcome:
            try:
                written: Frame | None = found.encode(correlation_id, answer)
            except TextTooLongError:
                written = frame_instead(found, correlation_id, call, request)
            if written is not None:
                self.send(written)
                return
            answer = PARKED
        if answer is PARKED:
            self.parked = (call, found, correlation_id, request)
        elif answer is CLOSE:
            self.wants_close = True

    def _answer_faulty(
        self, found: Codec, handler: Handler, correlation_id: int, frame: memoryview, offset: int
    ) -> None:
        """As `_answer_frame`, but the answer, or the work, may come later, otherwise or never."""
        request = found.decode(memoryview(bytearray(frame)), offset)
        call = Call(self.broker, found.version, self.client, self.client_id, self._complete)
        self.broker.cluster.at_work = call
        self.parked = (call, found, correlation_id, request)
        if not self.announced:
            self.announced = True
            if found.api_key == _API_VERSIONS:
                # A fault may keep it from its handler.
                from ..apis.api_versions import note_software

                note_software(self.client, request)
            self.observer.identified(self)
        exchange = self.faults.exchange(call, found.api_key, request, handler, self._end_exchange)
        if self.trace is not None and self.trace.on:
            self.trace.requested(exchange, self.name, correlation_id)
        exchange.go_on()

    def _end_exchange(self, exchange: Exchange) -> None:
        if self.parked is None or self.parked[0] is not exchange.received:
            return
        _, found, correlation_id, _ = self.parked
        try:
            self._deliver(exchange, found, correlation_id)
        except Exception as error:
            self._failed(found.api_key, found.version, error)
            self._go_on()

    def _deliver(self, exchange: Exchange, found: Codec, correlation_id: int) -> None:
        answer = exchange.answer
        if self.trace is not None and self.trace.on:
            hit = tuple(str(fault) for fault in exchange.faults)
            self.trace.answered(exchange, self.name, correlation_id, hit)
        if answer is PARKED:
            return
        error = exchange.error
        if error is not None and self._excuse(error):
            answer, error = unknown_server_error(exchange.call, exchange.api, exchange.request), None
        if type(answer) is not Outcome:
            if self._deliveries is None:
                self._deliveries = Deliveries(self, self._go_on)
            try:
                self._deliveries.deliver(
                    lambda correlation: found.encode(correlation, answer), correlation_id, exchange.delivery
                )
                return
            except Exception as raised:
                if type(raised) is TextTooLongError and not exchange.replaced:
                    self._deliver_instead(exchange, found, correlation_id)
                    return
                answer, error = CLOSE, raised  # a fault gave a field a value that it can't have
        self.wants_close = answer is CLOSE
        if error is not None:
            self._failed(found.api_key, found.version, error)
        self._go_on()

    def _deliver_instead(self, exchange: Exchange, found: Codec, correlation_id: int) -> None:
        assert self._deliveries
        given = correlation_id + exchange.delivery.correlation_shift
        frame = frame_instead(found, given, exchange.call, exchange.request)
        if frame is not None:
            self._deliveries.deliver(lambda _: frame, correlation_id, exchange.delivery)

    def _go_on(self) -> None:
        """The parked request is done with: goes on with those behind it."""
        self.parked = None
        self.on_ready(self)

    def _identify(self, frame: memoryview) -> int:
        """Reads the client id, which is the same in most requests; returns the offset behind it."""
        _, _, _, self.client_id, offset = parse_header(frame)
        self._client_id_bytes = bytes(frame[10:offset])
        self._client_id_size = -1 if self.client_id is None else offset - 10
        return offset

    def _serve(
        self, key: int, version: int, correlation_id: int, frame: memoryview, offset: int
    ) -> tuple[Codec, Handler] | None:
        """None when the request was answered already: an ApiVersions of a version that is not known."""
        release = self.broker.cluster.release
        if not answered(release, key, version):
            if key != _API_VERSIONS:
                raise MalformedRequestError(f"api key {key} v{version} is not served by Kafka {release}")
            if version >= 3:
                skip_tags(frame, offset)
            from ..apis.api_versions import unsupported

            self.send(codec(key, 0).encode(correlation_id, unsupported(release)))
            return None
        if key == SASL_HANDSHAKE:
            self.observer.mismatched(self, SASL)
        found = codec(key, version)
        self.faults.came[found.api_key] = None
        served = self._served[key << 16 | version] = found, HANDLERS[found.api_key]
        return served

    def _complete(self, call: Call, answer: Any) -> None:
        """A parked request is answered: sends it, and goes on with those behind it."""
        if self.parked is None or self.parked[0] is not call:
            if type(answer) is Failed:
                self._failed(None, call.version, answer.error)
                self.on_ready(self)
            return
        _, found, correlation_id, request = self.parked
        try:
            if type(answer) is Failed:
                if not self._excuse(answer.error):
                    raise answer.error
                answer = unknown_server_error(call, found.api_key, request)
            if type(answer) is not Outcome:
                try:
                    frame: Frame | None = found.encode(correlation_id, answer)
                except TextTooLongError:
                    frame = frame_instead(found, correlation_id, call, request)
                if frame is None:
                    return
                self.send(frame)
            elif answer is CLOSE:
                self.wants_close = True
        except Exception as error:
            self._failed(found.api_key, found.version, error)
        self._go_on()

    def _excuse(self, error: Exception) -> bool:
        """Whether it is answered with UNKNOWN_SERVER_ERROR: a user's policy failed, or a request has a text
        that is too long for the logs."""
        if isinstance(error, OwnPolicyError):
            self.observer.policy_failed(error)
            return True
        return isinstance(error, TextTooLongError)

    def _malformed(self, reason: str) -> None:
        self.observer.malformed(self, reason)

    def _failed(self, key: int | None, version: int, error: Exception) -> None:
        self.wants_close = True
        self.observer.failed(self, RequestFailedError(self, key, version, error))

    def send(self, frame: Any) -> None:
        """Adds an answer, or a part of one, to what has to be written."""
        if type(frame) is list:
            # An empty buffer would look like a socket that takes nothing.
            self.out += filter(len, frame)
            self.out_bytes += sum(map(len, frame))
        else:
            self.out.append(frame)
            self.out_bytes += len(frame)
