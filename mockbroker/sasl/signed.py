"""Signed tokens (RFC 7519), as Kafka's OAuthBearerValidatorCallbackHandler checks them
(`BrokerJwtValidator.java`, before 4.1 `ValidatorAccessTokenValidator.java`; `JwtConsumer.java` of jose4j)."""

import base64
import json
import string
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..configs.values import Value
from ..environment import Environment
from ..errors import OptionError
from ..policies.security.unexpected_audience import unexpected_audience
from .jwks import KeySet, knows
from .oauthbearer import Grant, InvalidTokenError

_BLANK: Final = "".join(map(chr, range(33)))
"""What Java trims."""
_LONG: Final = 2**63
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_BASE64: Final = (string.ascii_letters + string.digits + "-_+/").encode()
_NO_BASE64: Final = bytes(set(range(256)) - set(_BASE64))
_NESTED: Final = ("jwt", "application/jwt")
Claims = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What brokers are configured with (KIP-768): `audiences`, of which a token has one, None if it may have
    any or none; its `issuer`, None for any; a skew in seconds; which claims have the scope and the user."""

    audiences: Collection[str] | None
    issuer: str | None
    skew_s: int
    scope_claim: str
    sub_claim: str

    @classmethod
    def of(cls, environment: Environment, listener: str) -> "Expected":
        """By the configuration of a listener, which all brokers have in common."""

        def value(name: str) -> Value:
            return environment.configs.listener_value(f"sasl.oauthbearer.{name}", listener, "oauthbearer")

        found, issuer, skew_s = map(value, ("expected.audience", "expected.issuer", "clock.skew.seconds"))
        audiences = tuple(found) if isinstance(found, list) else ()
        unverified = environment.policies[unexpected_audience] == "taken"
        assert isinstance(skew_s, int)
        return cls(
            audiences=None if unverified and not audiences else audiences,
            issuer=None if issuer is None else str(issuer),
            skew_s=skew_s,
            scope_claim=str(value("scope.claim.name") or "scope"),
            sub_claim=str(value("sub.claim.name") or "sub"),
        )


class SignedTokens:
    """`now_ms` is the time of the login."""

    def __init__(self, keys: KeySet, expected: Expected, now_ms: int) -> None:
        self._keys = keys
        self._expected = expected
        self._now_s = now_ms // 1000

    def check(self, token: str) -> Grant:
        """InvalidTokenError; ValueError for what Kafka does not expect, and ends the connection."""
        if token.endswith("."):
            raise InvalidTokenError("the token has no signature")
        claims = self._claims(token)
        self._check_audience(claims)
        self._check_issuer(claims)
        expires_s = self._check_times(claims)
        for name in ("sub", "jti", self._expected.sub_claim):
            _text(claims, name)
        self._check_scope(claims.get(self._expected.scope_claim))
        if expires_s * 1000 >= _LONG:
            raise ValueError("the time at which the token expires is too late for a long")
        user = _text(claims, self._expected.sub_claim)
        if user is None or not (trimmed := user.strip(_BLANK)):
            raise InvalidTokenError(f"the token is nobody's: it has no {self._expected.sub_claim}")
        if (_time(claims, "iat") or 0) < 0:
            raise InvalidTokenError("the token was issued before 1970")
        return Grant(trimmed, expires_s * 1000)

    def _claims(self, token: str) -> Claims:
        """What a token says, or the one that is in it. Nothing is read that is not signed, but a header."""
        while True:
            parts = token.split(".")
            if len(parts) != 3 or not all(parts):
                raise InvalidTokenError("the token has not three parts")
            header = _object(parts[0], "header")
            self._check_signature(header, f"{parts[0]}.{parts[1]}".encode(), _bytes(parts[2]))
            kind = header.get("cty")
            if not isinstance(kind, str) or kind.lower() not in _NESTED:
                return _object(parts[1], "claims")
            token = _bytes(parts[1]).decode(errors="replace")

    def _check_signature(self, header: Claims, data: bytes, signature: bytes) -> None:
        algorithm = header.get("alg")
        if algorithm == "none":
            raise InvalidTokenError("the token is not signed: its algorithm is none")
        if not isinstance(algorithm, str) or not knows(algorithm):
            raise InvalidTokenError("brokers don't know the algorithm of the token")
        # Unencoded claims could not be in what a client may send.
        if header.get("crit", ["b64"]) != ["b64"] or header.get("b64") is False:
            raise InvalidTokenError("the header of the token has something critical that brokers don't know")
        kid = header.get("kid")
        if kid is not None and not isinstance(kid, str):
            raise InvalidTokenError("the key id of the token is no text")
        try:
            key = self._keys.chosen(header)
        except OptionError as error:
            raise InvalidTokenError(str(error)) from None
        if key is None:
            raise InvalidTokenError("the JWKS has no key for the token: another key id, or kind of key")
        if not key.verifies(algorithm, data, signature):
            raise InvalidTokenError("the signature of the token is wrong, or its key is too short")

    def _check_audience(self, claims: Claims) -> None:
        expected, found = self._expected.audiences, claims.get("aud")
        if expected is None:
            return
        given = [found] if isinstance(found, str) else [] if found is None else found
        if not isinstance(given, list) or not all(isinstance(each, str | None) for each in given):
            raise InvalidTokenError("the audience (aud) of the token is neither a text nor a list of texts")
        if (expected or found is not None) and not set(given) & set(expected):
            raise InvalidTokenError("the audience (aud) of the token is another one, or missing")

    def _check_issuer(self, claims: Claims) -> None:
        issuer, expected = _text(claims, "iss"), self._expected.issuer
        if expected is not None and issuer != expected:
            raise InvalidTokenError("the issuer (iss) of the token is another one, or missing")

    def _check_times(self, claims: Claims) -> int:
        """When it expires, in seconds."""
        expires, issued, begins = (_time(claims, each) for each in ("exp", "iat", "nbf"))
        if expires is None:
            raise InvalidTokenError("the token does not say when it expires (exp)")
        if issued is None:
            raise InvalidTokenError("the token does not say when it was issued (iat)")
        if self._now_s - self._expected.skew_s >= expires:
            raise InvalidTokenError(f"the token expired {self._now_s - expires} s ago")
        if expires < max(issued, issued if begins is None else begins):
            raise InvalidTokenError("the token expires before it is issued or valid")
        if begins is not None and self._now_s + self._expected.skew_s < begins:
            raise InvalidTokenError(f"the token will be valid in {begins - self._now_s} s (nbf)")
        return expires

    def _check_scope(self, scope: object) -> None:
        """`ClaimValidationUtils.validateScopes`."""
        seen: set[str] = set()
        for each in [scope] if isinstance(scope, str) else scope if isinstance(scope, list) else ():
            if each is None:
                raise InvalidTokenError("one of the token's scopes is null")
            if not isinstance(each, str):
                raise ValueError("one of the token's scopes is no text")
            trimmed = each.strip(_BLANK)
            if not trimmed or trimmed in seen:
                raise InvalidTokenError("one of the token's scopes is empty, or there twice")
            seen.add(trimmed)


def _text(claims: Claims, name: str) -> str | None:
    found = claims.get(name)
    if found is not None and not isinstance(found, str):
        raise InvalidTokenError(f"the claim {name} of the token is no text")
    return found


def _time(claims: Claims, name: str) -> int | None:
    """In seconds."""
    found = claims.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or abs(found) >= _LONG:
        raise InvalidTokenError(f"the claim {name} of the token is no time")
    return int(found)


def _object(part: str, what: str) -> Claims:
    """The JSON object in a part of a token."""
    try:
        found = json.loads(_bytes(part), object_pairs_hook=_each_once, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InvalidTokenError(f"the {what} of the token: no JSON") from None
    if not isinstance(found, dict):
        raise InvalidTokenError(f"the {what} of the token: no JSON object")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _bytes(part: str) -> bytes:
    """As lenient as commons-codec, which takes both alphabets, and leaves out what is in neither."""
    found = part.partition("=")[0].encode(errors="replace").translate(_STANDARD, _NO_BASE64)
    found = found[: len(found) - (len(found) % 4 == 1)]
    return base64.b64decode(found + b"=" * (-len(found) % 4))
