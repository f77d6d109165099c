"""SaslAuthenticate: api key 36, v0 to v2."""

from dataclasses import dataclass


@dataclass(slots=True)
class SaslAuthenticateRequest:
    auth_bytes: bytes = b""


@dataclass(slots=True)
class SaslAuthenticateResponse:
    error_code: int = 0
    error_message: str | None = None
    auth_bytes: bytes = b""
    session_lifetime_ms: int = 0  # v1+
