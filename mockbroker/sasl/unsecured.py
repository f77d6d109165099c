"""Unsecured tokens, Kafka's default where no handler of callbacks is configured
(`OAuthBearerUnsecuredValidatorCallbackHandler.java`)."""

import base64
import json
from typing import Any, Final

from .oauthbearer import Grant, InvalidTokenError

_CLOCK_MS: Final = 1_000
"""A token may be issued so much later than now: the cluster looks at the clock once for several requests."""
_LATEST_S: Final = 2**53
"""Later times are no exact numbers in JSON."""


class UnsecuredTokens:
    """`now_ms` is the time of the login."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def check(self, token: str) -> Grant:
        """InvalidTokenError."""
        claims = _claims(token)
        user: Any = claims.get("sub")
        expires: Any = claims.get("exp")
        issued: Any = claims.get("iat")
        if not isinstance(user, str) or not user.strip():
            raise InvalidTokenError("the token is nobody's")
        if not _number(expires):
            raise InvalidTokenError("the token does not say when it expires")
        if self._now_ms >= 1000 * expires:
            raise InvalidTokenError("the token has expired")
        if issued is not None:
            if not _number(issued) or 1000 * issued > self._now_ms + _CLOCK_MS:
                raise InvalidTokenError("the token is issued later than now")
            if issued >= expires:
                raise InvalidTokenError("the token expires before it is issued")
        return Grant(user, round(expires * 1000))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LATEST_S


def _claims(token: str) -> dict[str, Any]:
    """InvalidTokenError for any other token."""
    parts = token.split(".")
    if len(parts) != 3 or not all(parts[:2]) or parts[2]:
        raise InvalidTokenError("the token is not an unsecured one: it is signed, or has not three parts")
    try:
        header, claims = _json(parts[0]), _json(parts[1])
    except (ValueError, RecursionError):
        raise InvalidTokenError("the token is not one of JSON") from None
    if header.get("alg") != "none":
        raise InvalidTokenError("the token is not an unsecured one: it has an algorithm")
    return claims


def _json(part: str) -> dict[str, Any]:
    """ValueError, RecursionError."""
    found = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True))
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
    return found
