"""A client of a listener with SASL: what it may ask, and how it logs in (KIP-43, KIP-152, KIP-368,
`SaslServerAuthenticator.java`)."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..cluster.broker import Broker
from ..cluster.call import Call
from ..controller.scram import NUMBERS
from ..metadata.records import UserScramCredentialRecord
from ..outcome import CLOSE, PARKED, Client
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ..protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from .jwks import KeySet
from .mechanism import Exchange, InvalidLoginError, LoginFailedError
from .oauthbearer import Check, OAuthBearer
from .scram import Scram, Token

_LEAST_BETWEEN_MS: Final = 1000
"""Nobody logs in again sooner (`KafkaChannel.MIN_REAUTH_INTERVAL_ONE_SECOND_NANOS`)."""
_NONCE_BITS: Final = 130
_LONGEST_MS: Final = 2**63 - 1
_AGAIN: Final = "SaslAuthenticate request received after successful authentication"


@dataclass(frozen=True)
class Logins:
    """Who may log in and how: the mechanisms in `sasl.enabled.mechanisms`, the passwords for PLAIN,
    and the keys of signed tokens; without keys tokens are unsecured."""

    mechanisms: tuple[str, ...]
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: KeySet | None = None


class Gate(enum.Enum):
    """What becomes of a request."""

    OPEN = "it is handled"
    REFUSED = "it is answered ILLEGAL_SASL_STATE, and the connection is closed"
    SHUT = "the connection is closed"
    LATE = "the connection is closed after `connection.failed.authentication.delay.ms`"


class _State(enum.Enum):
    BEGUN = enum.auto()
    """Nothing has come, or an ApiVersions in vain."""
    VERSIONS_TOLD = enum.auto()
    """ApiVersions was answered, and may not come again."""
    AUTHENTICATING = enum.auto()
    LOGGED_IN = enum.auto()
    WRONG_MECHANISM = enum.auto()
    """It wants to log in again by another mechanism."""
    FAILED = enum.auto()


class SaslClient(Client):
    """`told` hears of each login: the mechanism, and why it failed, or nothing."""

    __slots__ = (
        "_before",
        "_began_again_ms",
        "_broker",
        "_exchange",
        "_expires_ms",
        "_logins",
        "_mechanism",
        "_state",
        "_told",
        "raw",
    )

    def __init__(
        self,
        host: str,
        address: str,
        listener: str,
        broker: Broker,
        logins: Logins,
        told: Callable[[str, str], None],
    ) -> None:
        super().__init__(host, address, listener)
        self._broker = broker
        self._logins = logins
        self._told = told
        self._state = _State.BEGUN
        self._mechanism = ""
        self._exchange: Exchange | None = None
        self._expires_ms: int | None = None
        self._began_again_ms: int | None = None
        self._before: tuple[str, str] | None = None
        """The mechanism and the principal of the first login, while it logs in again."""
        self.raw = False
        """Whether tokens come without headers, after SaslHandshake v0."""

    @property
    def logged_in(self) -> bool:
        return self._state is _State.LOGGED_IN

    @property
    def failed(self) -> bool:
        """Whether it is answered for the last time."""
        return self._state is _State.FAILED

    @property
    def sends_token(self) -> bool:
        """Whether the next frame is a token without a header."""
        return self.raw and self._state is _State.AUTHENTICATING

    @property
    def delay_ms(self) -> int:
        """How long a login that failed is answered later, so that nobody can try many passwords."""
        configs = self._broker.environment.configs
        name = "connection.failed.authentication.delay.ms"
        return configs.broker_int(name, self._broker.id) if name in configs.broker_keys else 0

    @property
    def most_bytes(self) -> int | None:
        """The size of the largest frame; None if it may be any."""
        if self.logged_in:
            return None
        configs = self._broker.environment.configs
        name = "sasl.server.max.receive.size"
        if name not in configs.broker_keys:
            return 524_288
        return configs.listener_int(name, self.listener, broker=self._broker.id)

    def user_of(self, request: Any) -> str:
        if isinstance(request, SaslAuthenticateRequest) and self._exchange is not None:
            return self._exchange.named(bytes(request.auth_bytes))
        return super().user_of(request) if self.logged_in or self._before is not None else ""

    def mechanism_of(self, request: Any) -> str:
        return request.mechanism if isinstance(request, SaslHandshakeRequest) else self._mechanism

    # -- what it may ask

    def gate(self, api_key: int) -> Gate:
        """What becomes of a request."""
        match self._state:
            case _State.LOGGED_IN:
                return self._gate_in(api_key)
            case _State.BEGUN if api_key in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE):
                return Gate.OPEN
            case _State.VERSIONS_TOLD if api_key == ApiKey.SASL_HANDSHAKE:
                return Gate.OPEN
            case _State.AUTHENTICATING:
                return Gate.OPEN if api_key == ApiKey.SASL_AUTHENTICATE else Gate.REFUSED
            case _State.WRONG_MECHANISM:
                return Gate.LATE
            case _:
                return Gate.SHUT

    def _gate_in(self, api_key: int) -> Gate:
        if self._expires_ms is None:
            return Gate.OPEN
        now_ms = self._broker.environment.now_ms
        if api_key == ApiKey.SASL_HANDSHAKE and (
            self._began_again_ms is None or now_ms - self._began_again_ms >= _LEAST_BETWEEN_MS
        ):
            self._began_again_ms = now_ms
            self._before = self._mechanism, self.principal
            self._state = _State.BEGUN
            return Gate.OPEN
        return Gate.SHUT if now_ms > self._expires_ms else Gate.OPEN

    def versions_told(self) -> None:
        if self._state is _State.BEGUN:
            self._state = _State.VERSIONS_TOLD

    def refused(self) -> None:
        """A request came that may not come now."""
        self._fail("a request came in the middle of the login")

    def answered(self, error_code: int) -> None:
        """A step of the login was answered, perhaps otherwise than here: refused, there is no login."""
        if error_code not in (ErrorCode.NONE, ErrorCode.ILLEGAL_SASL_STATE) and not self.failed:
            self._fail(f"the broker answered {ErrorCode(error_code).name}")

    # -- how it logs in

    def handshake(self, call: Call, request: SaslHandshakeRequest) -> object:
        """The answer to a SaslHandshake."""
        if self._state not in (_State.BEGUN, _State.VERSIONS_TOLD):
            return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
        mechanism, enabled = request.mechanism, list(self._logins.mechanisms)
        self.raw = call.version == 0
        if mechanism not in enabled:
            self._fail(f"it asks for the mechanism {mechanism!r}: there is {', '.join(enabled)}")
            if self._before is not None:
                return CLOSE
            return self.later(call, SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, enabled))
        if self._before is not None and self._before[0] != mechanism:
            self._state = _State.WRONG_MECHANISM
        else:
            self._mechanism = mechanism
            self._exchange = self._begun(mechanism)
            self._state = _State.AUTHENTICATING
        return SaslHandshakeResponse(ErrorCode.NONE, enabled)

    def authenticate(self, call: Call, request: SaslAuthenticateRequest) -> object:
        """The answer to a SaslAuthenticate."""
        if self._state is not _State.AUTHENTICATING:
            return SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, _AGAIN)
        again = "re-authentication" if self._before is not None else "authentication"
        try:
            token = self.evaluate(bytes(request.auth_bytes))
        except LoginFailedError as error:
            message = str(error)
        except InvalidLoginError:
            message = f"Authentication failed during {again} due to invalid credentials with SASL mechanism "
            message += self._mechanism
        else:
            return CLOSE if token is None else SaslAuthenticateResponse(0, "", token, self._lasts_ms)
        return self.later(call, SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, message))

    def evaluate(self, message: bytes) -> bytes | None:
        """The server's answer to a token; None if the connection ends without one. LoginFailedError,
        InvalidLoginError."""
        assert self._exchange is not None
        try:
            answer = self._exchange.evaluate(message)
            self._check_same()
        except (LoginFailedError, InvalidLoginError) as error:
            self._fail(error.why if isinstance(error, LoginFailedError) else str(error))
            raise
        except ValueError as error:
            self._fail(str(error))
            return None
        if self._exchange.user is not None:
            self._log_in(self._exchange.user, self._exchange.expires_ms, token=self._exchange.token)
        return answer

    def later(self, call: Call, answer: Any) -> object:
        """For a handler to return: the answer, once the delay is over."""
        if not self.delay_ms:
            return answer
        call.environment.wait(self.delay_ms, lambda: call.answer(answer))
        return PARKED

    def _check_same(self) -> None:
        user = self._exchange.user if self._exchange is not None else None
        if user is not None and self._before is not None and self._before[1] != f"User:{user}":
            was = self._before[1].replace(":", ".", 1)
            raise LoginFailedError(
                f"Cannot change principals during re-authentication from {was}: User.{user}"
            )

    def _log_in(self, user: str, expires_ms: int | None, *, token: bool) -> None:
        now_ms = self._broker.environment.now_ms
        most_ms = self._session_ms()
        ends = [each for each in (expires_ms, now_ms + most_ms if most_ms else None) if each is not None]
        self._expires_ms = min(ends) if ends else None
        self._state, self._exchange, self._before = _State.LOGGED_IN, None, None
        self.principal, self.token_authenticated = f"User:{user}", token
        self._told(self._mechanism, "")

    def _fail(self, why: str) -> None:
        self._state, self._exchange = _State.FAILED, None
        self._told(self._mechanism, why)

    def _session_ms(self) -> int:
        """`connections.max.reauth.ms`; 0 if sessions don't end."""
        configs = self._broker.environment.configs
        name = "connections.max.reauth.ms"
        if name not in configs.broker_keys:
            return 0
        return configs.listener_int(name, self.listener, self._mechanism, self._broker.id)

    @property
    def _lasts_ms(self) -> int:
        """How long the session will last; 0 if it has not begun, or does not end."""
        if self._expires_ms is None or not self.logged_in:
            return 0
        return min(max(self._expires_ms - self._broker.environment.now_ms, 0), _LONGEST_MS)

    def _begun(self, mechanism: str) -> Exchange:
        environment = self._broker.environment
        if mechanism == "PLAIN":
            from .plain import Plain

            return Plain(self._logins.users)
        if mechanism == "OAUTHBEARER":
            return OAuthBearer(self._check_of_tokens())
        nonce = int.from_bytes(environment.random("scram nonces").randbytes(17)) >> (17 * 8 - _NONCE_BITS)
        return Scram(mechanism, self._credentials, self._token, _base36(nonce))

    def _check_of_tokens(self) -> Check:
        now_ms = self._broker.environment.now_ms
        if self._logins.keys is None:
            from .unsecured import UnsecuredTokens

            return UnsecuredTokens(now_ms).check
        from .signed import Expected, SignedTokens

        return SignedTokens(
            self._logins.keys, Expected.of(self._broker.environment, self.listener), now_ms
        ).check

    def _credentials(self, user: str) -> UserScramCredentialRecord | None:
        """As the broker knows them."""
        return self._broker.image.scram_credentials.get(user, {}).get(NUMBERS[self._mechanism])

    def _token(self, token_id: str) -> Token | None:
        from .tokens import token_of

        return token_of(self._broker, NUMBERS[self._mechanism], token_id)


def _base36(number: int) -> str:
    """As Java writes it (`ScramFormatter.secureRandomString`)."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    found = ""
    while number:
        number, digit = divmod(number, 36)
        found = digits[digit] + found
    return found or "0"
