"""One exchange of messages by which a client logs in, and how it fails."""

from typing import Final, Protocol

from ..errors import MockBrokerError

NAME: Final = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
"""The pattern of a name in messages (`saslname` of RFC 5801)."""


class LoginFailedError(MockBrokerError):
    """The login failed, and the client is told so (`SaslAuthenticationException`); `why` is for others, if
    that says more."""

    def __init__(self, told: str, why: str = "") -> None:
        super().__init__(told)
        self.why = why or told


class InvalidLoginError(MockBrokerError):
    """The login failed, and the client is told no more than that: the reason might tell whether there is such
    a user (`SaslException`)."""


class Exchange(Protocol):
    """`evaluate` answers each message of the client until `user` is set."""

    user: str | None
    expires_ms: int | None
    """When what the client has logged in with expires, in Unix time."""
    token: bool
    """Whether it logs in with a delegation token."""

    def named(self, message: bytes) -> str:
        """Whom a message is said to come from, which nothing proves; empty if it does not tell. With a
        delegation token that is its id."""

    def evaluate(self, message: bytes) -> bytes:
        """The answer to a message. LoginFailedError, InvalidLoginError; any other error ends the connection
        without a word, as in Kafka."""


def lenient_text(message: bytes) -> str:
    """As Java reads UTF-8: what is invalid is replaced."""
    return message.decode(errors="replace")
