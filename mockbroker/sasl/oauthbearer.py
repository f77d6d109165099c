"""OAUTHBEARER (RFC 7628): a client shows a token (`OAuthBearerSaslServer.java`)."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from ..errors import MockBrokerError
from .mechanism import NAME, InvalidLoginError, LoginFailedError, lenient_text

_PAIRS: Final = r"(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*"
_FIRST: Final = re.compile(rf"n,(?:a=(?P<acting>{NAME}))?,\x01(?P<pairs>{_PAIRS})\x01")
_AUTH: Final = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)", re.ASCII)
_REFUSED: Final = '{"status":"invalid_token"}'
_GO_ON: Final = b"\1"
"""What a client answers to a refusal (RFC 7628, 3.2.3)."""


class Grant(NamedTuple):
    """What a token is good for: until when, in Unix time."""

    user: str
    expires_ms: int


class InvalidTokenError(MockBrokerError):
    """The token is refused. Why is not told to the client."""


Check = Callable[[str], Grant]
"""Looks at a token. InvalidTokenError; ValueError ends the connection without a word, as in Kafka."""


def encoded(part: bytes | Mapping[str, object]) -> str:
    """A part of a token: an object, or a signature."""
    data = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class OAuthBearer:
    def __init__(self, check: Check) -> None:
        self._check = check
        self._why: str | None = None
        """Why a token was refused."""
        self.user: str | None = None
        self.expires_ms: int | None = None
        self.token = False

    def named(self, message: bytes) -> str:
        text = lenient_text(message)
        parts = text.split(".", 2) if _FIRST.fullmatch(text) else []
        try:
            claims = json.loads(base64.urlsafe_b64decode(f"{parts[1]}=="))
        except (IndexError, ValueError, RecursionError):
            return ""
        user = claims.get("sub") if isinstance(claims, dict) else None
        return user if isinstance(user, str) else ""

    def evaluate(self, message: bytes) -> bytes:
        if message == _GO_ON and self._why is not None:
            raise LoginFailedError(_REFUSED, self._why)
        self._why = None
        found = _FIRST.fullmatch(lenient_text(message))
        if found is None:
            raise InvalidLoginError("no message of OAUTHBEARER")
        pairs = dict(each.split("=", 1) for each in found["pairs"].split("\1") if each)
        auth = _AUTH.fullmatch(pairs.get("auth", ""))
        if auth is None:
            raise InvalidLoginError("no token")
        if auth["scheme"].lower() != "bearer":
            # Kafka then looks for a group that its pattern does not have.
            raise ValueError("no bearer token")
        try:
            user, expires_ms = self._check(auth["token"])
        except InvalidTokenError as error:
            self._why = str(error)
            return _REFUSED.encode()
        if found["acting"] not in (None, user):
            raise LoginFailedError(
                f"Authentication failed: Client requested an authorization id ({found['acting']}) that is "
                f"different from the token's principal name ({user})"
            )
        self.user, self.expires_ms = user, expires_ms
        return b""
