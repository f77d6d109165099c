"""One client's connection: frames in, answers out, in order. Knows no socket."""

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
from ..protocol.headers import MAX_FRAME_BYTES, MalformedRequestError, parse_header, skip_tags
from ..protocol.primitives import TextTooLongError
from ..trace import Trace
from .delivery import Deliveries
from .failures import RequestFailedError
from .slices import ENDLESS, Slice
from .too_long import frame_instead

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from .observer import Observer

_INT32: Final = struct.Struct(">i").unpack_from
_HEADER: Final = struct.Struct(">hhih").unpack_from
_API_VERSIONS: Final = 18
_NO_CLIENT_ID_YET: Final = 1 << 16
"""No size that a client id can have."""
UNSENT_BYTES: Final = 1024 * 1024
"""With this much unsent, no further request of the connection is answered."""

OWNED_BYTES: Final = 64 * 1024
"""Frames from this size on are handed over with their buffer, so that records need not be copied."""
LEAST_STORE_BYTES: Final = 16 * 1024
"""As much as this is reserved for a frame of which only the size is there."""
MOST_FORESEEN_BYTES: Final = 2 * 1024 * 1024
"""As much as this is reserved where the connection has sent a frame as large before."""
_GROWTH: Final = 4
"""Otherwise, this many times what is there of the frame."""
BACKLOG_BYTES: Final = 256 * 1024
"""With this much waiting behind a parked request, no more is read from the connection."""

Buffer = bytes | bytearray | memoryview


class Connection:
    """Answers one request after the other, as a broker does: while one is parked, the next wait.

    `receive` takes what was read; while `target` is set, the next bytes belong there (`filled`), which saves
    large requests a copy. Bytes of requests for which the slice has no time, or that come after one that is
    parked, are `waiting`; `behind` says that `resume` would go on with them. `out` holds what has to be
    written; `wants_close` says that nothing more will be answered.
    """

    __slots__ = (
        "_backlog",
        "_client_id_bytes",
        "_client_id_size",
        "_deliveries",
        "_foreseen",
        "_have",
        "_held",
        "_served",
        "_store",
        "_taken",
        "_total",
        "announced",
        "broker",
        "client",
        "client_id",
        "faults",
        "name",
        "observer",
        "on_ready",
        "out",
        "out_bytes",
        "parked",
        "slice",
        "target",
        "trace",
        "waiting",
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
        slice_: Slice = ENDLESS,
    ) -> None:
        self.broker = broker
        self.slice = slice_
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
        self.parked: tuple[Call, Codec, int, Any] | None = None
        """The request that waits for its answer: its call, codec, correlation id and values."""
        self.wants_close = False
        self._backlog: deque[bytearray] = deque()
        """What waits behind a request that is parked, or for the next slice: as it came, `_taken` bytes of
        the first being answered."""
        self._taken = 0
        self.waiting = 0
        self._held = False
        """Whether whole requests were left for a later slice."""
        self._store = bytearray()
        """Where a frame that came in part is put together; kept, since its pages are then there already."""
        self._total = 0
        self._have = 0
        self._foreseen = LEAST_STORE_BYTES
        self.target: memoryview | None = None
        self._served: dict[int, tuple[Codec, Handler]] = {}
        self.announced = False
        self._client_id_bytes = b""
        self._client_id_size = _NO_CLIENT_ID_YET

    def receive(self, data: memoryview) -> None:
        """Takes bytes off the wire, and answers the requests in them for as long as the slice lasts."""
        if self.parked is not None or self._backlog:
            self._queue(data)
            self.resume()
            return
        used = self._take(data) if self.target is not None else self._answer_frames(data)
        if used == len(data) or self.wants_close:
            return
        if self._held or self.parked is not None:
            self._queue(data[used:])
        else:
            self._keep(data[used:])

    def filled(self, size: int) -> None:
        """Takes `size` bytes that were read straight into `target`."""
        self._have += size
        if self._have < self._total:
            self._reserve()
            return
        self.target = None
        frame = memoryview(self._store)[: self._total]
        if self._total >= OWNED_BYTES:
            # The log keeps what is in it: the next frame gets a store of its own.
            self._store = bytearray()
            self._foreseen = max(self._foreseen, min(self._total, MOST_FORESEEN_BYTES))
        else:
            frame = frame.toreadonly()
        used = self._answer_frames(frame)
        if used < self._total and not self.wants_close:
            # Only the size was there: now it is known how much belongs to the frame.
            self._keep(frame[used:])

    def resume(self) -> None:
        """Answers what waits for as long as the slice lasts, unless a request is parked or much unsent."""
        backlog = self._backlog
        while backlog and self.parked is None and not self.wants_close and self.out_bytes <= UNSENT_BYTES:
            rest = memoryview(backlog[0]).toreadonly()[self._taken :]
            used = self._take(rest)
            self.waiting -= used
            if used < len(rest):
                self._taken += used
                return
            backlog.popleft()
            self._taken = 0
            if self.slice.over:
                return

    @property
    def behind(self) -> bool:
        """Whether there is something to resume."""
        return bool(self._backlog) and self.parked is None and not self.wants_close

    @property
    def stuffed(self) -> bool:
        """Whether so much waits behind a parked request that no more should be read."""
        return self.waiting > BACKLOG_BYTES

    def _queue(self, data: memoryview) -> None:
        backlog = self._backlog
        self.waiting += len(data)
        # Requests may still look into the first.
        if len(backlog) > 1 and len(backlog[-1]) < OWNED_BYTES:
            backlog[-1] += data
        else:
            backlog.append(bytearray(data))

    def _take(self, data: memoryview) -> int:
        """Answers requests, and keeps the beginning of one that is not whole. Returns how many bytes were
        used: all, unless requests have to wait."""
        at = 0
        while self.target is not None and at < len(data):
            size = min(len(self.target), len(data) - at)
            self.target[:size] = data[at : at + size]
            at += size
            self.filled(size)
        if at == len(data) or self.parked is not None or self.wants_close:
            return at
        if at and self.slice.over:
            self._held = True
            return at
        at += self._answer_frames(data[at:] if at else data)
        if at < len(data) and not (self._held or self.parked is not None or self.wants_close):
            self._keep(data[at:])
            at = len(data)
        return at

    def _keep(self, beginning: memoryview) -> None:
        """Keeps the beginning of a frame."""
        self._have = have = len(beginning)
        self._total = 4 + _INT32(beginning)[0] if have >= 4 else 4
        room = self._room()
        if room > len(self._store):
            self._store = bytearray(max(room, LEAST_STORE_BYTES))
        memoryview(self._store)[:have] = beginning
        self._reserve()

    def _reserve(self) -> None:
        """Points `target` at room for what is missing of the frame, or for a part of it."""
        if self._have == len(self._store):
            store = bytearray(self._room())
            memoryview(store)[: self._have] = memoryview(self._store)[: self._have]
            self._store = store
        self.target = memoryview(self._store)[self._have : self._total]

    def _room(self) -> int:
        """How much to reserve for the frame: no more than what the client has shown that it sends."""
        return min(self._total, max(self._foreseen, _GROWTH * self._have))

    def _answer_frames(self, data: memoryview) -> int:
        """Answers frame after frame, at least one; returns how many bytes were used."""
        start = position = 0
        end = len(data)
        clock, until = self.slice.clock, self.slice.end
        self._held = False
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
                if position and (clock() >= until or self.out_bytes > UNSENT_BYTES):
                    self._held = True
                    break
                frame = data[position + 4 : after]
                start, position = position, after
                self._answer_frame(frame)
                if self.parked is not None or self.wants_close:
                    break
        except MalformedRequestError as error:
            self.wants_close = True
            self.observer.malformed(self, str(error))
        except Exception as error:
            key, version, _, _ = _HEADER(data, start + 4)
            self._failed(key, version, error)
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
        found = codec(key, version)
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

    def _failed(self, key: int | None, version: int, error: Exception) -> None:
        """An error of ours ends the connection, and nothing else."""
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
