"""One client's connection: frames in, answers out, in order. Knows no socket."""

import struct
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..apis.advertised import answered
from ..apis.registry import HANDLERS, Handler
from ..cluster.call import CLOSE, PARKED, Call, Client, Outcome
from ..faults import Faults
from ..faults.answers import unknown_server_error
from ..faults.exchange import Exchange
from ..policies import OwnPolicyError
from ..protocol.codecs import Codec, codec
from ..protocol.headers import MAX_FRAME_BYTES, MalformedRequestError, parse_header, skip_tags
from ..trace import Trace
from .delivery import Deliveries

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from .observer import Observer

_INT32: Final = struct.Struct(">i").unpack_from
_HEADER: Final = struct.Struct(">hhih").unpack_from
_API_VERSIONS: Final = 18
_NO_CLIENT_ID_YET: Final = 1 << 16
"""No size that a client id can have."""
PENDING_BYTES: Final = 4 * 1024 * 1024
"""With this much unsent, no further request of the connection is answered."""

OWNED_BYTES: Final = 64 * 1024
"""Frames from this size on are handed over with their buffer, so that records need not be copied."""
_LEAST_STORE: Final = 4096
BACKLOG_BYTES: Final = 1024 * 1024
"""With this much waiting behind a parked request, no more is read from the connection."""

Buffer = bytes | bytearray | memoryview


class Connection:
    """Answers one request after the other, as a broker does: while one is parked, the next wait.

    `receive` takes what was read; while `target` is set, the next bytes belong there (`filled`), which saves
    large requests a copy. `out` holds what has to be written; `wants_close` says that nothing more will be
    answered.
    """

    __slots__ = (
        "_backlog",
        "_client_id_bytes",
        "_client_id_size",
        "_deliveries",
        "_have",
        "_running",
        "_served",
        "_store",
        "_total",
        "announced",
        "broker",
        "client",
        "client_id",
        "faults",
        "has_pending",
        "name",
        "observer",
        "on_ready",
        "out",
        "out_bytes",
        "parked",
        "target",
        "trace",
        "wants_close",
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
    ) -> None:
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
        self.out_bytes = 0
        self.parked: tuple[Call, Codec, int] | None = None
        self.wants_close = False
        self.has_pending = False
        self._backlog = bytearray()
        self._store = bytearray()
        """Where a frame that came in part is put together; kept, since its pages are then there already."""
        self._total = 0
        self._have = 0
        self.target: memoryview | None = None
        self._served: dict[int, tuple[Codec, Handler]] = {}
        self._running = False
        self.announced = False
        self._client_id_bytes = b""
        self._client_id_size = _NO_CLIENT_ID_YET

    def receive(self, data: memoryview) -> None:
        """Takes bytes off the wire and answers every complete request among them."""
        while self.target is not None and data:
            size = min(len(self.target), len(data))
            self.target[:size] = data[:size]
            self.filled(size)
            data = data[size:]
        if self.parked is not None or self._backlog:
            self._backlog += data
            self.resume()
            return
        used = self._answer_frames(data)
        if used < len(data) and not self.wants_close:
            self._keep(data[used:])

    def filled(self, size: int) -> None:
        """Takes `size` bytes that were read straight into `target`."""
        self._have += size
        view = memoryview(self._store)
        if self._have < self._total:
            self.target = view[self._have : self._total]
            return
        self.target = None
        frame = view[: self._total]
        if self._total >= OWNED_BYTES:
            # The log keeps what is in it: the next frame gets a store of its own.
            self._store = bytearray()
        else:
            frame = frame.toreadonly()
        used = self._answer_frames(frame)
        if used < self._total and not self.wants_close:
            # Only the size was there: now the frame's own buffer can be made.
            self._keep(frame[used:])

    def resume(self) -> None:
        """Answers what was received while a request was parked, or while too much was unsent."""
        backlog = self._backlog
        if not backlog or self.parked is not None or self.wants_close or self._running:
            return
        self._backlog = bytearray()
        view = memoryview(backlog).toreadonly()
        used = self._answer_frames(view)
        if used < len(backlog) and not self.wants_close:
            self._keep(view[used:])

    @property
    def stuffed(self) -> bool:
        """Whether so much waits behind a parked request that no more should be read."""
        return len(self._backlog) > BACKLOG_BYTES

    def _keep(self, rest: memoryview) -> None:
        """Keeps what can't be answered yet: a frame's beginning, or requests behind a parked one."""
        if self.parked is not None or self.has_pending:
            self._backlog += rest
            return
        have = len(rest)
        total = 4 + _INT32(rest)[0] if have >= 4 else 4
        if total > len(self._store):
            self._store = bytearray(max(total, _LEAST_STORE))
        view = memoryview(self._store)
        view[:have] = rest
        self._have, self._total = have, total
        self.target = view[have:total]

    def _answer_frames(self, data: memoryview) -> int:
        """Answers frame after frame; returns how many bytes were used."""
        position, end = 0, len(data)
        self._running = True
        self.has_pending = False
        try:
            while position + 4 <= end:
                (size,) = _INT32(data, position)
                if not 0 <= size <= MAX_FRAME_BYTES:
                    raise MalformedRequestError(
                        f"a frame of {size} bytes: from 0 to {MAX_FRAME_BYTES} is what a broker takes"
                    )
                after = position + 4 + size
                if after > end:
                    break
                if self.out_bytes > PENDING_BYTES:
                    self.has_pending = True
                    break
                frame = data[position + 4 : after]
                position = after
                self._answer_frame(frame)
                if self.parked is not None or self.wants_close:
                    break
        except MalformedRequestError as error:
            self.wants_close = True
            self.observer.malformed(self, str(error))
        except Exception as error:
            self.wants_close = True
            self.observer.failed(self, error)
        finally:
            self._running = False
        return position

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
        try:
            answer = handler(call, request)
        except OwnPolicyError as error:
            self.observer.policy_failed(error)
            answer = unknown_server_error(call, found.api_key, request)
        if not self.announced:
            self.announced = True
            self.observer.identified(self)
        if type(answer) is not Outcome:
            self.send(found.encode(correlation_id, answer))
        elif answer is PARKED:
            self.parked = (call, found, correlation_id)
        elif answer is CLOSE:
            self.wants_close = True

    def _answer_faulty(
        self, found: Codec, handler: Handler, correlation_id: int, frame: memoryview, offset: int
    ) -> None:
        """As `_answer_frame`, but the answer, or the work, may come later, otherwise or never."""
        request = found.decode(memoryview(bytearray(frame)), offset)
        call = Call(self.broker, found.version, self.client, self.client_id, self._complete)
        self.parked = (call, found, correlation_id)
        if not self.announced:
            self.announced = True
            self.observer.identified(self)
        exchange = self.faults.exchange(call, found.api_key, request, handler, self._end_exchange)
        if self.trace is not None and self.trace.on:
            self.trace.requested(exchange, self.name, correlation_id)
        exchange.go_on()

    def _end_exchange(self, exchange: Exchange) -> None:
        if self.parked is None or self.parked[0] is not exchange.received:
            return
        _, found, correlation_id = self.parked
        answer = exchange.answer
        if self.trace is not None and self.trace.on:
            hit = tuple(str(fault) for fault in exchange.faults)
            self.trace.answered(exchange, self.name, correlation_id, hit)
        if answer is PARKED:
            return
        error = exchange.error
        if isinstance(error, OwnPolicyError):
            self.observer.policy_failed(error)
            answer, error = unknown_server_error(exchange.call, exchange.api, exchange.request), None
        if type(answer) is not Outcome:
            if self._deliveries is None:
                self._deliveries = Deliveries(self, self._go_on)
            try:
                self._deliveries.deliver(
                    lambda correlation: found.encode(correlation, answer), correlation_id, exchange.delivery
                )
                return
            except Exception as raised:  # a fault gave a field a value that it can't have
                answer, error = CLOSE, raised
        if error is not None:
            self.observer.failed(self, error)
        self.wants_close = answer is CLOSE
        self._go_on()

    def _go_on(self) -> None:
        """The parked request is done with: goes on with those behind it."""
        self.parked = None
        self.has_pending = bool(self._backlog)
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
        found = codec(key, version)
        served = self._served[key << 16 | version] = found, HANDLERS[found.api_key]
        return served

    def _complete(self, call: Call, answer: Any) -> None:
        """A parked request is answered: sends it, and goes on with those behind it."""
        if self.parked is None or self.parked[0] is not call:
            return
        _, found, correlation_id = self.parked
        self.send(found.encode(correlation_id, answer))
        self._go_on()

    def send(self, frame: Any) -> None:
        """Adds an answer, or a part of one, to what has to be written."""
        if type(frame) is list:
            # An empty buffer would look like a socket that takes nothing.
            self.out += filter(len, frame)
            self.out_bytes += sum(map(len, frame))
        else:
            self.out.append(frame)
            self.out_bytes += len(frame)
