"""PLAIN (RFC 4616, `PlainSaslServer.java`): the name and the password in one message."""

import hmac
from collections.abc import Mapping

from .mechanism import LoginFailedError, lenient_text


class Plain:
    """`users` has their passwords."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = users
        self.user: str | None = None
        self.expires_ms: int | None = None
        self.token = False

    def named(self, message: bytes) -> str:
        parts = lenient_text(message).split("\0", 2)
        return parts[1] if len(parts) == 3 else ""

    def evaluate(self, message: bytes) -> bytes:
        parts = lenient_text(message).split("\0", 4)[:4]
        if len(parts) != 3:
            raise LoginFailedError(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
        acting, user, password = parts
        if not user:
            raise LoginFailedError("Authentication failed: username not specified")
        if not password:
            raise LoginFailedError("Authentication failed: password not specified")
        known = self._users.get(user)
        if known is None or not hmac.compare_digest(known.encode(), password.encode()):
            raise LoginFailedError("Authentication failed: Invalid username or password")
        check_acting(acting, user)
        self.user = user
        return b""


def check_acting(acting: str, user: str) -> None:
    """Nobody may act as another. LoginFailedError."""
    if acting not in ("", user):
        raise LoginFailedError(
            "Authentication failed: Client requested an authorization id that is different from username"
        )
