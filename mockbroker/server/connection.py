"""One client's connection: takes requests, gives answers, in order. Knows no socket."""

import struct
from collections.abc import Callable
from typing import Any, Final

from ..apis.advertised import answered
from ..apis.registry import HANDLERS, AtOnce, Handler, declared
from ..cluster.broker import Broker
from ..cluster.call import Call
from ..cluster.cluster import Cluster
from ..cluster.endpoint import Endpoint
from ..faults import CallbackError, Faults
from ..faults.answers import unknown_server_error
from ..faults.exchange import Exchange, Touch
from ..faults.throttling import quota
from ..outcome import CLOSE, PARKED, Client, Failed
from ..policies import OwnPolicyError
from ..protocol.codecs import AnswerTooLargeError, Codec, codec
from ..protocol.headers import MalformedRequestError, parse_header, skip_tags
from ..protocol.primitives import TextTooLongError
from ..trace import Trace
from .failures import RequestFailedError
from .foreign import SASL_HANDSHAKE, no_frame, no_sasl
from .observer import Observer
from .sending import Part, Sending
from .slices import ENDLESS, Slice

_HEADER: Final = struct.Struct(">hhih").unpack_from
_API_VERSIONS: Final = 18
LARGE_BYTES: Final = 16 * 1024
"""Larger requests are read in parts."""
_NO_CLIENT_ID_YET: Final = 1 << 16
"""Larger than the size of any client id."""

Buffer = bytes | bytearray | memoryview


class Connection(Sending):
    """Answers one request after the other, as a broker does: while one is parked, the next ones wait."""

    tells_wire = False
    """Whether it tells a capture itself what comes and goes."""
    answers_at_once = True
    """Whether nothing has to look at the values of common requests."""

    __slots__ = (
        "_client_id_bytes",
        "_client_id_size",
        "_served",
        "announced",
        "client",
        "client_id",
        "faults",
        "name",
        "observer",
    )

    def __init__(
        self,
        cluster: Cluster,
        broker: Broker,
        name: str,
        host: str,
        observer: Observer,
        on_ready: "Callable[[Connection], None]",
        faults: Faults | None = None,
        trace: Trace | None = None,
        slice_: Slice = ENDLESS,
        listener: str = "",
    ) -> None:
        super().__init__(cluster, broker, on_ready, trace or Trace(cluster), slice_)
        self.faults = faults or Faults(cluster)
        self.name = name
        self.client = Client(host, name, listener)
        self.client_id: str | None = None
        self.observer = observer
        self._served: dict[int, tuple[Codec, Handler, AtOnce | None]] = {}
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
        self.client.requests += 1
        found, handler, at_once = served
        call = Call(self.cluster, self.broker, version, self.client, self.client_id, self._complete)
        if at_once is not None and not (self.trace.on or self.faults.armed or self._deliveries):
            self.broker.environment.at_work = call
            try:
                answer = at_once(call, found, correlation_id, frame, offset)
            except Exception as error:
                answer = self._raised(found, call, found.decode(frame, offset), error)
            if type(answer) is bytes:
                self.out.append(answer)
                self.out_bytes += len(answer)
                return
            if answer is not None:
                request = found.decode(frame, offset)
                self._answer(found, lambda *_: answer, correlation_id, call, request, frame, offset)
                return
        if len(frame) > LARGE_BYTES and not found.keeps_view:
            # It outlives the buffer of the frame.
            frame = memoryview(bytes(frame))
            request = self._read_large(found, handler, correlation_id, call, frame, offset)
            if request is PARKED:
                self.parked = (call, found, correlation_id, None)
                return
        else:
            request = found.decode(frame, offset)
        self._answer(found, handler, correlation_id, call, request, frame, offset)

    def _answer(
        self,
        found: Codec,
        handler: Handler,
        correlation_id: int,
        call: Call,
        request: Any,
        frame: memoryview,
        offset: int,
    ) -> None:
        """Answers a request that was read, or parks it."""
        if self.trace.on:
            handler = self._traced(found, handler, correlation_id, call, request, len(frame))
        if self.faults.armed and found.api_key in self.faults.armed:
            handler = self._touched(found, handler, call, request, frame, offset)
        self.broker.environment.at_work = call
        try:
            answer = handler(call, request)
        except Exception as error:
            answer = self._raised(found, call, request, error)
        if not self.announced:
            self.announced = True
            self.observer.identified(self)
        if answer is PARKED or not self._deliver(found, correlation_id, call, request, answer):
            self.parked = (call, found, correlation_id, None if self.owes_nothing else request)

    def _read_large(
        self,
        found: Codec,
        handler: Handler,
        correlation_id: int,
        call: Call,
        frame: memoryview,
        offset: int,
    ) -> Any:
        """The request; PARKED if it is read in parts: then it is answered once that is done."""
        call.long = True

        def done(request: Any) -> None:
            if not self.wants_close:
                self.parked = None
                self._answer(found, handler, correlation_id, call, request, frame, offset)
                if self.parked is None:
                    self.on_ready(self)

        def failed(error: Exception) -> None:
            if isinstance(error, MalformedRequestError):
                self.wants_close = True
                self._malformed(str(error))
            else:
                self._failed(found.api_key, found.version, error)
            self._go_on()

        return self.cluster.work.begin(Part(done, failed), found.decode_in_parts(frame, offset))

    def _traced(
        self, found: Codec, handler: Handler, correlation_id: int, call: Call, request: Any, size: int
    ) -> Handler:
        """Adds a request to the trace; returns a handler that attributes its decisions to it."""
        trace = self.trace
        self._asked = asked = trace.requested(call, found.api_key, request, self.name, correlation_id, size)
        return trace.during(asked, handler)

    def _touched(
        self, found: Codec, handler: Handler, call: Call, request: Any, frame: memoryview, offset: int
    ) -> Handler:
        """The handler, or what faults put in its place."""
        faults = self.faults.touching(found.api_key, call, request)
        limit = quota(found.api_key, call, request, len(frame))
        if not faults and limit is None:
            return handler
        if self._asked is not None:
            self._asked.faults = faults
        if found.api_key == _API_VERSIONS:
            # Faults may prevent the handler from being called.
            from ..apis.api_versions import note_software

            note_software(self.client, request)
        if found.keeps_view:
            # A fault may keep the request after the buffer of the frame has been used for others.
            request = found.decode(memoryview(bytearray(frame)), offset)
        touches: list[Touch] = [*faults] if limit is None else [*faults, limit]
        in_session = declared(found.api_key).in_session
        exchange = Exchange(call, found.api_key, request, handler, touches, in_session)
        return lambda *_: exchange.begin()

    def _raised(self, found: Codec, call: Call, request: Any, error: Exception) -> Any:
        """The answer to a request whose handler raised, unless that ends the connection."""
        if self._excuse(error):
            return unknown_server_error(call, found.api_key, request)
        if isinstance(error, AnswerTooLargeError):
            self._too_large(found, error)
            return CLOSE
        if self.trace.on:
            self._tell(CLOSE)
        raise error

    def _identify(self, frame: memoryview) -> int:
        """Reads the client id, which is the same in most requests; returns the offset after it."""
        _, _, _, self.client_id, offset = parse_header(frame)
        self._client_id_bytes = bytes(frame[10:offset])
        self._client_id_size = -1 if self.client_id is None else offset - 10
        return offset

    def _serve(
        self, key: int, version: int, correlation_id: int, frame: memoryview, offset: int
    ) -> tuple[Codec, Handler, AtOnce | None] | None:
        """None if the request was answered already: an ApiVersions of an unknown version."""
        release = self.cluster.release
        if not answered(release, key, version, self.cluster.configs.unstable):
            if key != _API_VERSIONS:
                self.cluster.notes.not_served(self.client_id, key, version)
                raise MalformedRequestError(f"api key {key} v{version} is not served by Kafka {release}")
            if version >= 3:
                skip_tags(frame, offset)
            from ..apis.api_versions import unsupported

            self.send(codec(key, 0).encode(correlation_id, unsupported(release)))
            return None
        if key == SASL_HANDSHAKE and not self._endpoint.sasl:
            self.observer.mismatched(self, no_sasl(self._endpoint.protocol))
        found = codec(key, version)
        self.faults.note(found.api_key, self.client_id)
        handler = HANDLERS[found.api_key]
        at_once = declared(found.api_key).at_once if self.answers_at_once else None
        if self.cluster.authorizer is not None:
            from ..authorization import guarded

            handler, at_once = guarded(found.api_key, handler, self.cluster.authorizer), None
        served = self._served[key << 16 | version] = found, handler, at_once
        return served

    def _complete(self, call: Call, answer: Any) -> None:
        """Sends the answer to a parked request, and continues with the requests after it."""
        if self.parked is None or self.parked[0] is not call:
            if type(answer) is Failed:
                self._failed(None, call.version, answer.error)
                self.on_ready(self)
            return
        _, found, correlation_id, request = self.parked
        try:
            if type(answer) is Failed:
                answer = self._raised(found, call, request, answer.error)
            if not self._deliver(found, correlation_id, call, request, answer):
                return
        except Exception as error:
            self._failed(found.api_key, found.version, error)
        self._go_on()

    def _excuse(self, error: Exception) -> bool:
        """Whether the error is answered with UNKNOWN_SERVER_ERROR: a user's policy or callback failed, or a
        request has a text that is too long for the logs."""
        if isinstance(error, OwnPolicyError | CallbackError):
            self.observer.policy_failed(error)
            return True
        return isinstance(error, TextTooLongError)

    @property
    def _endpoint(self) -> Endpoint:
        """The listener by which the client came."""
        return self.broker.told_at(self.client.listener)

    def _no_frame(self, beginning: bytes, size: int) -> str:
        return no_frame(beginning, size, self._endpoint.protocol)

    def refused(self, why: str) -> None:
        """The connection ends before it has come to a request."""
        self.wants_close = True
        self._malformed(why)

    def _malformed(self, reason: str) -> None:
        self.trace.malformed(self.broker.id, self.name, self.client_id, reason)
        self.observer.malformed(self, reason)

    def _failed(self, key: int | None, version: int, error: Exception) -> None:
        self.wants_close = True
        self.observer.failed(self, RequestFailedError(self, key, version, error))
