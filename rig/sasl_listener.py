"""The listeners with SASL that real brokers may have beside the plain one: mechanisms and users."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

NAME: Final = "LOGIN"
"""Of the listener, whose protocol is SASL_PLAINTEXT."""
USERS: Final = MappingProxyType({"alice": "secret", "bob": "other"})
"""Names and passwords for PLAIN."""
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SESSIONS_MS: Final = MappingProxyType({"PLAIN": 3000, "SCRAM-SHA-512": 60_000})
"""How long sessions last (`connections.max.reauth.ms`), by mechanism; those of others don't end."""
_MODULES: Final = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule",
}


_VALIDATOR: Final = "OAuthBearerValidatorCallbackHandler"


def properties(release: str, jwks: Path | None = None, listener: str = NAME) -> Mapping[str, str]:
    """What a broker is configured with. With `jwks` tokens are signed by one of the keys in that file."""
    found = {"sasl.enabled.mechanisms": ",".join(MECHANISMS), **sessions(listener)}
    options = {
        "PLAIN": " ".join(f'user_{name}="{password}"' for name, password in USERS.items()),
        "OAUTHBEARER": 'unsecuredLoginStringClaim_sub="admin"',
    }
    for mechanism in MECHANISMS:
        module = f"org.apache.kafka.common.security.{_MODULES[mechanism]}"
        setting = f"listener.name.{listener.lower()}.{mechanism.lower()}"
        found[f"{setting}.sasl.jaas.config"] = f"{module} required {options.get(mechanism, '')};"
    if jwks is not None:
        package = "oauthbearer.secured" if int(release.split(".")[0]) < 4 else "oauthbearer"
        setting = f"listener.name.{listener.lower()}.oauthbearer"
        handler = f"org.apache.kafka.common.security.{package}.{_VALIDATOR}"
        found[f"{setting}.sasl.server.callback.handler.class"] = handler
        found[f"{setting}.sasl.oauthbearer.jwks.endpoint.url"] = jwks.as_uri()
    return found


def sessions(listener: str = NAME) -> Mapping[str, str]:
    """The part of it that says how long sessions last."""
    prefix = f"listener.name.{listener.lower()}"
    return {f"{prefix}.{each.lower()}.connections.max.reauth.ms": str(ms) for each, ms in SESSIONS_MS.items()}


def options(jwks: Path | None) -> list[str]:
    """Of the JVM: brokers read no file that they are not told here."""
    return [] if jwks is None else [f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={jwks.as_uri()}"]


def _part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def unsecured(claims: Mapping[str, Any], **header: Any) -> str:
    """A token that nobody has signed."""
    return f"{_part({'alg': 'none', **header})}.{_part(claims)}."


def bearer(token: str, by: str = "", more: str = "") -> bytes:
    """The first message of a client with OAUTHBEARER (RFC 7628)."""
    return f"n,{by},\1auth=Bearer {token}\1{more}\1".encode()
