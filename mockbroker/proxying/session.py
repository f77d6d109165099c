"""One client's connection through the proxy, and the one to its broker. Knows no socket.

Frames pass as they are, and as they come, unless a fault may act on the request or its answer names brokers.
A request on which a fault acts has the connection for itself, as with a broker: it begins when all requests
before it are answered, and those after it wait until it is.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..apis.advertised import answered
from ..apis.api_versions import unsupported
from ..cluster.call import Call
from ..faults.exchange import End
from ..outcome import NO_ANSWER, Client
from ..protocol.answers import answer_codec
from ..protocol.api_keys import ApiKey
from ..protocol.codecs import codec
from ..protocol.headers import MAX_FRAME_BYTES, MalformedRequestError, parse_header
from ..protocol.releases import Release
from .acting import Acting
from .framing import Framing, Outlet
from .peeking import expects_answer, head_of
from .pending import TOKEN, Awaited, Pending
from .rewriting import names_brokers, rewrite
from .tokens import tokens_after, tokens_follow
from .upstream import Upstream, UpstreamBroker, broker_of

if TYPE_CHECKING:
    from ..trace.exchanges import Asked

_LEAST_BYTES: Final = 14
"""Of a request: its length and its header."""
_ENOUGH_BYTES: Final = 4096
"""Of a request: all that has to be known is there, unless somebody has a very long name."""
UNSENT_BYTES: Final = 1 << 20
"""While a side has not taken more than this, the other one is not read."""


class Session:
    """Takes the bytes of either side; `to_client` and `to_broker` are what has to be written to them.

    `on_ready` is called when there is more to write although no bytes came, `tell` with what a user should
    know. With `wants_close` both connections end once everything is written, with `resets` by RST.
    """

    def __init__(
        self,
        upstream: Upstream,
        broker: UpstreamBroker,
        client: Client,
        on_ready: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        self.to_client = Outlet()
        self.to_broker = Outlet()
        self.wants_close = self.resets = False
        self._upstream = upstream
        self._broker = broker
        self._client = client
        self.ready = on_ready
        self._tell = tell
        self._requests = Framing(MAX_FRAME_BYTES)
        self._answers = Framing(None)
        self._pending = Awaited()
        self._held: Callable[[], None] | None = None
        """What becomes of a request that waits for the answers before it."""
        self._tokens = 0
        """How many frames of the client without a header come next."""
        self._shaking = False
        """Whether that is still to be found out."""
        self._within = False
        self._acting = Acting(self, upstream, client, tell)
        self._deliveries = self._acting.deliveries

    # -- as a `Wire`

    def send(self, frame: bytes) -> None:
        self.to_client.add(frame)

    def end(self, how: End) -> None:
        self.wants_close = True
        self.resets = how is End.RESET

    def forward(self, pending: Pending, frame: bytes) -> bool:
        """As `Wire.forward`."""
        return self._pass_on(pending, len(frame).to_bytes(4) + frame)

    # -- what comes

    @property
    def is_full(self) -> bool:
        """Whether the client should not be read now."""
        return self._requests.size > UNSENT_BYTES and (self._waits or self.to_broker.size > UNSENT_BYTES)

    @property
    def _waits(self) -> bool:
        return self._acting.under_way or self._held is not None or self._shaking

    def passes_request(self, data: bytes) -> bool:
        """Whether bytes of the client are a request that may be sent to the broker at once, as it is. Then
        `request_passed` has to be called in place of `from_client`."""
        if self._waits or self._tokens or self.wants_close or self.to_broker.size:
            return False
        if len(data) < _LEAST_BYTES or not self._requests.is_next(data):
            return False
        key, version, _ = head_of(data, 4)
        return self._passes(key, version)

    def request_passed(self, data: bytes, sent: int) -> bool:
        """So many bytes of the request were sent. False if there is more to do."""
        self._client.requests += 1
        if sent < len(data):
            self.to_broker.add(memoryview(data)[sent:])
        key, version, correlation_id = head_of(data, 4)
        try:
            if key != ApiKey.PRODUCE or expects_answer(memoryview(data)[4:], version):
                self._pending.add(Pending(key, version, correlation_id))
        except MalformedRequestError as error:
            self._malformed(error)
            return False
        return sent == len(data)

    def passes_answer(self, data: bytes) -> bool:
        """Whether bytes of the broker are an answer that may be sent to the client at once, as it is. Then
        `answer_passed` has to be called in place of `from_broker`."""
        if self._waits or self.wants_close or self.to_client.size or self._deliveries.withholds:
            return False
        return self._answers.is_next(data) and self._pending.passes(data)

    def answer_passed(self, data: bytes, sent: int) -> bool:
        """So many bytes of the answer were sent. False if there is more to do."""
        if sent < len(data):
            self.to_client.add(memoryview(data)[sent:])
        self._pending.first_is_answered()
        return sent == len(data)

    def from_client(self, data: bytes) -> None:
        """Takes bytes of the client."""
        if part := self._requests.add(data):
            self.to_broker.add(part)
        self.go_on()

    def from_broker(self, data: bytes) -> None:
        """Takes bytes of the broker."""
        if part := self._answers.add(data):
            self.to_client.add(part)
            if not self._answers.left:
                self._pending.first_is_answered()
                self._deliveries.send_withheld()
        try:
            while not self.wants_close and (whole := self._answers.next()) is not None:
                self._answered(whole)
            self._pass_answer_as_it_comes()
        except MalformedRequestError as error:
            self._tell(f"{self._broker}: {error}")
            self.wants_close = True
        self.go_on()

    def go_on(self) -> None:
        """Takes requests until one waits."""
        if self._within:
            return
        self._within = True
        try:
            self._take()
        except MalformedRequestError as error:
            self._malformed(error)
        finally:
            self._within = False

    def _malformed(self, error: MalformedRequestError) -> None:
        self._tell(f"{self._client.host.lstrip('/')}: closed, {error}")
        self._upstream.trace.malformed(self._broker.id, self._client.address, None, str(error))
        self.wants_close = True

    def _take(self) -> None:
        while not self.wants_close:
            if self._held is not None and not self._pending:
                begin, self._held = self._held, None
                begin()
                continue
            if self._waits:
                return
            if (whole := self._requests.next()) is None:
                self._pass_request_as_it_comes()
                return
            self._request(whole)

    def _pass_request_as_it_comes(self) -> None:
        """What has come of it is not kept until the rest comes, if its beginning says that it passes."""
        beginning = self._requests.beginning(_ENOUGH_BYTES)
        if len(beginning) < _ENOUGH_BYTES or self._tokens:
            return
        key, version, correlation_id = head_of(beginning)
        try:
            if not self._passes(key, version):
                return
            expects = key != ApiKey.PRODUCE or expects_answer(beginning, version)
        except MalformedRequestError:
            # Its end may be what is wrong with it, or that more comes before its acks.
            return
        self._client.requests += 1
        self.to_broker.add(self._requests.begun())
        if expects:
            self._pending.add(Pending(key, version, correlation_id))

    def _request(self, whole: bytes) -> None:
        """Takes a frame with its length."""
        if self._tokens:
            self._tokens -= 1
            self._pass_on(Pending(TOKEN, 0, 0), whole)
            return
        if len(whole) < _LEAST_BYTES:
            raise MalformedRequestError(f"{len(whole) - 4} bytes are shorter than a request header")
        key, version, correlation_id = head_of(whole, 4)
        self._client.requests += 1
        shown = self._upstream.shown
        if self._passes(key, version):
            self._pass_on(Pending(key, version, correlation_id), whole)
        elif shown is not None and not answered(shown, key, version):
            self._held = partial(self._refuse, shown, key, version, correlation_id)
        elif tokens_follow(key, version):
            self._shake(correlation_id, whole[4:])
        else:
            self._look_at(key, version, correlation_id, whole[4:])

    def _passes(self, key: int, version: int) -> bool:
        """Whether nothing but the beginning of such a request has to be known."""
        upstream, shown = self._upstream, self._upstream.shown
        if upstream.trace.on or key in upstream.faults.armed or key in upstream.decider.apis:
            return False
        return not tokens_follow(key, version) and (shown is None or answered(shown, key, version))

    def _shake(self, correlation_id: int, frame: bytes) -> None:
        """Passes on a SaslHandshake; what comes after it is known by its answer."""
        tokens = tokens_after(frame)

        def take(answer: Any) -> None:
            self._shaking = False
            self._tokens = 0 if answer.error_code else tokens
            self.send(answer_codec(ApiKey.SASL_HANDSHAKE, 0).encode(correlation_id, answer))
            self._deliveries.send_withheld()

        self._shaking = True
        self.forward(Pending(ApiKey.SASL_HANDSHAKE, 0, correlation_id, take, own=True), frame)

    def _refuse(self, release: Release, key: int, version: int, correlation_id: int) -> None:
        """As brokers of the release do."""
        if key != ApiKey.API_VERSIONS:
            raise MalformedRequestError(f"api key {key} v{version} is not served by Kafka {release}")
        self.send(answer_codec(key, 0).encode(correlation_id, unsupported(release)))
        self._deliveries.send_withheld()

    def _look_at(self, key: int, version: int, correlation_id: int, frame: bytes) -> None:
        """Passes on a request that faults, behaviours or the trace have to see. If a fault or a behaviour may
        act on it, it waits for its turn."""
        header = parse_header(frame)
        try:
            found = codec(key, version)
            request = found.decode(memoryview(bytearray(frame)) if found.keeps_view else frame, header.size)
        except MalformedRequestError as error:
            self._tell(f"a request of {header.client_id} was passed on as it is: {error}")
            self.forward(Pending(key, version, correlation_id), frame)
            return
        upstream, api = self._upstream, found.api_key
        upstream.faults.note(api, header.client_id)
        cluster, broker = upstream.as_cluster, broker_of(self._broker)
        call = Call(cluster, broker, version, self._client, header.client_id, self._acting.complete)
        asked = self._traced(call, api, request, correlation_id, len(frame))
        touches = upstream.faults.touching(api, call, request) if key in upstream.faults.armed else []
        steps = upstream.decider.begin(call, api, request, self._tell)
        if touches or steps is not None:
            self._held = self._acting.prepared(call, request, frame, correlation_id, touches, steps, asked)
        else:
            self.forward(Pending(key, version, correlation_id, asked=asked), frame)

    def _traced(
        self, call: Call, api: ApiKey, request: Any, correlation_id: int, size: int
    ) -> "Asked | None":
        trace = self._upstream.trace
        if not trace.on:
            return None
        return trace.requested(call, api, request, self._client.address, correlation_id, size)

    def _pass_on(self, pending: Pending, whole: bytes) -> bool:
        """The same with its length in front."""
        self.to_broker.add(whole)
        if pending.key == ApiKey.PRODUCE and not expects_answer(memoryview(whole)[4:], pending.version):
            if pending.asked is not None:
                self._upstream.trace.answered(pending.asked, NO_ANSWER)
            return False
        self._pending.add(pending)
        return True

    # -- answers

    def _answered(self, whole: bytes) -> None:
        """Takes a frame with its length."""
        pending = self._pending.answered_by(whole, 4)
        self._pending.first_is_answered()
        if pending.passes:
            self._pass(whole)
            return
        frame = whole[4:]
        try:
            found = pending.codec_of(frame)
            answer = found.decode(frame)
        except MalformedRequestError as error:
            if pending.own:
                raise
            self._tell(f"passed on as it is, with addresses that it may have and without faults: {error}")
            self._pass(whole)
            if pending.take is not None:
                self._acting.give_up()
            return
        names = names_brokers(pending.key, pending.version)
        changed = names and rewrite(found.api_key, answer, self._upstream)
        if pending.asked is not None:
            self._upstream.trace.answered(pending.asked, answer)
        if pending.take is not None:
            if not pending.own:
                self._acting.answered(found)
            pending.take(answer)
        elif changed:
            self.send(found.encode(pending.correlation_id, answer))
            self._deliveries.send_withheld()
        else:
            self._pass(whole)

    def _pass_answer_as_it_comes(self) -> None:
        """What has come of it is not kept until the rest comes, if it passes as it is."""
        beginning = self._answers.beginning(4)
        if len(beginning) < 4 or self.wants_close or self._deliveries.withholds:
            return
        if self._pending.answered_by(beginning).passes:
            self.to_client.add(self._answers.begun())

    def _pass(self, whole: bytes) -> None:
        self.to_client.add(whole)
        self._deliveries.send_withheld()
