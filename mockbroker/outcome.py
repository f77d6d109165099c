"""Who sent a request, and what happens to a request that is not answered at once."""

import enum
from collections.abc import Callable, Generator
from typing import Any, Final, Protocol


class Unanswered(enum.Enum):
    """What a handler may return instead of an answer."""

    PARKED = "the answer comes later, by Call.answer"
    NEVER = "no answer ever comes, nor one to later requests of the connection"
    NO_ANSWER = "the protocol has no answer: Produce with acks=0"
    CLOSE = "the connection is closed"


PARKED: Final = Unanswered.PARKED
NEVER: Final = Unanswered.NEVER
NO_ANSWER: Final = Unanswered.NO_ANSWER
CLOSE: Final = Unanswered.CLOSE


class Asked(Protocol):
    """A request, or something else that is done in parts."""

    @property
    def gone(self) -> bool:
        """Whether it does not go on: who does it is down."""

    def answer(self, response: Any) -> None: ...

    def ended_by(self, error: Exception) -> None: ...


Steps = Generator[None, None, Any]
"""Yields between two parts, and returns the answer, or `Unanswered`."""


class Failed:
    """What a sink gets instead of an answer if `error` was raised by what a parked request waited for."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


ANONYMOUS: Final = "User:ANONYMOUS"


class Client:
    """The client's connection. `host` is its address as groups show it (`/127.0.0.1`), `address` that of the
    socket (`127.0.0.1:51410`); `listener` is the name of the one by which it came, empty for a broker's
    first; `requests` is how many came on it, `principal` who sends them, `token_authenticated` whether it
    has logged in with a delegation token. `when_closed` is called when the connection is closed; it is `gone`
    then."""

    __slots__ = (
        "address",
        "gone",
        "host",
        "listener",
        "principal",
        "requests",
        "software_name",
        "software_version",
        "token_authenticated",
        "when_closed",
    )

    def __init__(self, host: str = "/127.0.0.1", address: str = "", listener: str = "") -> None:
        self.host = host
        self.address = address
        self.listener = listener
        self.principal = ANONYMOUS
        self.token_authenticated = False
        self.software_name = ""
        self.software_version = ""
        self.requests = 0
        self.when_closed: Callable[[], None] | None = None
        self.gone = False

    def closed(self) -> None:
        """Its connection is closed."""
        self.gone = True
        told, self.when_closed = self.when_closed, None
        if told is not None:
            told()

    def user_of(self, request: Any) -> str:
        """Who sends a request: a user's name, without its type; empty if nobody knows."""
        return self.principal.partition(":")[2]

    def mechanism_of(self, request: Any) -> str:
        """The mechanism of SASL that a request names, or by which the client logs in; empty without SASL."""
        return ""

    def versions_told(self) -> None:
        """It was answered an ApiVersions."""
