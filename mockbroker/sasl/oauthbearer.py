"""OAUTHBEARER (RFC 7628) with unsecured tokens, Kafka's default where no handler of callbacks is configured
(`OAuthBearerSaslServer.java`, `OAuthBearerUnsecuredValidatorCallbackHandler.java`)."""

import base64
import binascii
import json
import re
from typing import Any, Final

from .mechanism import NAME, InvalidLoginError, LoginFailedError, lenient_text

_PAIRS: Final = r"(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*"
_FIRST: Final = re.compile(rf"n,(?:a=(?P<acting>{NAME}))?,\x01(?P<pairs>{_PAIRS})\x01")
_AUTH: Final = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)", re.ASCII)
_REFUSED: Final = '{"status":"invalid_token"}'
_CLOCK_MS: Final = 1_000
"""A token may be issued so much later than now: the cluster looks at the clock once for several requests."""
_LATEST_S: Final = 2**53
"""Later times are no exact numbers in JSON."""
_GO_ON: Final = b"\1"
"""What a client answers to a refusal (RFC 7628, 3.2.3)."""


class OAuthBearer:
    """`now_ms` is the time of the login."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._refused = False
        self.user: str | None = None
        self.expires_ms: int | None = None
        self.token = False

    def evaluate(self, message: bytes) -> bytes:
        if message == _GO_ON and self._refused:
            raise LoginFailedError(_REFUSED)
        self._refused = False
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
        claims = _claims(auth["token"])
        if claims is None or not self._valid(claims):
            self._refused = True
            return _REFUSED.encode()
        user = claims["sub"]
        if found["acting"] not in (None, user):
            raise LoginFailedError(
                f"Authentication failed: Client requested an authorization id ({found['acting']}) that is "
                f"different from the token's principal name ({user})"
            )
        self.user, self.expires_ms = user, round(claims["exp"] * 1000)
        return b""

    def _valid(self, claims: dict[str, Any]) -> bool:
        """Whether the token is for somebody, and valid now."""
        user: Any = claims.get("sub")
        expires: Any = claims.get("exp")
        issued: Any = claims.get("iat")
        if not isinstance(user, str) or not user.strip() or not _number(expires):
            return False
        if issued is None:
            return bool(self._now_ms < 1000 * expires)
        begun = _number(issued) and 1000 * issued <= self._now_ms + _CLOCK_MS
        return bool(begun and self._now_ms < 1000 * expires and issued < expires)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LATEST_S


def _claims(token: str) -> dict[str, Any] | None:
    """The claims of an unsecured token, None for any other."""
    parts = token.split(".")
    if len(parts) != 3 or not all(parts[:2]) or parts[2]:
        return None
    header, claims = _json(parts[0]), _json(parts[1])
    return claims if header is not None and header.get("alg") == "none" else None


def _json(part: str) -> dict[str, Any] | None:
    try:
        found = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
