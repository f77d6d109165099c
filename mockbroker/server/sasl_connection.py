"""A connection of a listener with SASL: until its client has logged in, it answers only what that takes."""

import struct
from typing import Any, Final

from ..apis.registry import Handler
from ..cluster.broker import Broker
from ..cluster.call import Call
from ..cluster.cluster import Cluster
from ..faults import Faults
from ..faults.answers import error_everywhere
from ..faults.exchange import End, Exchange
from ..outcome import CLOSE
from ..protocol.api_keys import ApiKey
from ..protocol.codecs import Codec
from ..protocol.errors import ErrorCode
from ..protocol.headers import MAX_FRAME_BYTES, MalformedRequestError
from ..protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from ..protocol.messages.sasl_handshake import SaslHandshakeResponse
from ..sasl.client import Gate, Logins, SaslClient
from ..sasl.mechanism import InvalidLoginError, LoginFailedError
from ..trace import Trace
from . import masking
from .capture import Wire
from .connection import Connection
from .foreign import other
from .observer import Observer
from .slices import ENDLESS, Slice

_KEY: Final = struct.Struct(">h").unpack_from
_SIZE: Final = struct.Struct(">i")


class SaslConnection(Connection):
    """Its client is a `SaslClient`."""

    __slots__ = ("_gate", "_secrets", "login", "tls", "wire")

    tells_wire = True
    answers_at_once = False

    def __init__(
        self,
        cluster: Cluster,
        broker: Broker,
        name: str,
        host: str,
        observer: Observer,
        on_ready: Any,
        faults: Faults | None = None,
        trace: Trace | None = None,
        slice_: Slice = ENDLESS,
        listener: str = "",
        *,
        logins: Logins,
    ) -> None:
        super().__init__(cluster, broker, name, host, observer, on_ready, faults, trace, slice_, listener)
        self.client = self.login = SaslClient(host, name, listener, broker, logins, self._logged_in)
        self.tls = ""
        """Version and cipher, if there is TLS."""
        self.wire: Wire | None = None
        """The capture, which gets no tokens."""
        self._secrets: tuple[bytes, ...] = ()
        """What it is not to get of the next answer."""
        self._gate = Gate.OPEN

    def _answer_frame(self, frame: memoryview) -> None:
        login = self.login
        if login.failed:
            return
        if self.wire is not None:
            masked = masking.token if login.sends_token else masking.request
            self.wire.received(self, masked(bytes(frame)))
        most = login.most_bytes
        if most is not None and len(frame) > most:
            raise MalformedRequestError(self._too_much(len(frame), most))
        if login.sends_token:
            self._take_token(bytes(frame))
            return
        (key,) = _KEY(frame) if len(frame) >= 2 else (-1,)
        self._gate = gate = login.gate(key)
        if gate is Gate.SHUT:
            raise MalformedRequestError(self._shut(key))
        if gate is Gate.LATE:
            login.refused()
            self._close_later()
            return
        super()._answer_frame(frame)

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
        if self._gate is Gate.REFUSED:
            handler = self._refusing(found.api_key)
        super()._answer(found, handler, correlation_id, call, request, frame, offset)

    def _refusing(self, api_key: ApiKey) -> Handler:
        def refuse(call: Call, request: Any) -> object:
            self.login.refused()
            answer = error_everywhere(call, api_key, request, ErrorCode.ILLEGAL_SASL_STATE)
            return CLOSE if answer is CLOSE else self.login.later(call, answer)

        return refuse

    def _deliver(self, found: Codec, correlation_id: int, call: Call, request: Any, answer: Any) -> bool:
        given = answer.answer if type(answer) is Exchange else answer
        self._secrets = () if self.wire is None else masking.secrets_of(given)
        if type(given) is SaslAuthenticateResponse or type(given) is SaslHandshakeResponse:
            self.login.answered(given.error_code)
        sent = super()._deliver(found, correlation_id, call, request, answer)
        if self.login.failed and sent:
            self.end(End.CLOSE)
        return sent

    def _go_on(self) -> None:
        if self.login.failed and not self.owes_nothing:
            self.end(End.CLOSE)
        super()._go_on()

    def _take_token(self, token: bytes) -> None:
        """A token without a header, after SaslHandshake v0; its answer has none either."""
        try:
            answer = self.login.evaluate(token)
        except (LoginFailedError, InvalidLoginError):
            self._close_later()
            return
        if answer is None:
            self.end(End.CLOSE)
        else:
            self._secrets = (answer,)
            self.send(_SIZE.pack(len(answer)) + answer)

    def send(self, frame: Any) -> None:
        super().send(frame)
        if self.wire is not None:
            data = b"".join(map(bytes, frame)) if type(frame) is list else bytes(frame)
            self.wire.sent(self, masking.answer(data, self._secrets))

    def _close_later(self) -> None:
        """Closes the connection without an answer."""

        def close() -> None:
            self.end(End.CLOSE)
            self.on_ready(self)

        self.owes_nothing = True
        if delay_ms := self.login.delay_ms:
            self.broker.environment.wait(delay_ms, close, owned=False)
        else:
            close()

    def _keep(self, beginning: memoryview) -> None:
        """Refuses a frame that is too large as soon as its size has come."""
        most = self.login.most_bytes
        if most is not None and len(beginning) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(beginning)
            if most < size <= MAX_FRAME_BYTES:
                self.wants_close = True
                self._malformed(self._too_much(size, most))
                return
        super()._keep(beginning)

    def _too_much(self, size: int, most: int) -> str:
        return f"a frame of {size} bytes before it has logged in: {most} is sasl.server.max.receive.size"

    def _shut(self, key: int) -> str:
        if self.login.logged_in:
            return "its session is over (connections.max.reauth.ms, or the expiry of its token)"
        name = ApiKey(key).name if key in ApiKey.__members__.values() else f"api key {key}"
        return f"it sent {name} before it has logged in, and {other(self._endpoint.protocol)}"

    def _logged_in(self, mechanism: str, why: str) -> None:
        endpoint, who = self._endpoint, self.client.principal
        how = endpoint.name, endpoint.protocol, mechanism, self.tls, who, why
        self.trace.login(self.broker.id, self.name, self.client_id, *how)
        self.cluster.notes.came_in(self.client_id, endpoint.name, why)
        if why:
            self.observer.mismatched(self, f"login failed: {why}")
