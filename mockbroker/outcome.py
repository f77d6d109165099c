"""Who sent a request, and what happens to a request that is not answered at once."""

import enum
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

T = TypeVar("T")


class Outcome(enum.Enum):
    """What a handler may return instead of an answer."""

    PARKED = "the answer comes later, by Call.answer"
    NO_ANSWER = "the protocol has no answer: Produce with acks=0"
    CLOSE = "the connection is closed"


PARKED: Final = Outcome.PARKED
NO_ANSWER: Final = Outcome.NO_ANSWER
CLOSE: Final = Outcome.CLOSE


class Asked(Protocol):
    """A request, or something else that is done in parts."""

    @property
    def gone(self) -> bool:
        """Whether it does not go on: who does it is down."""

    def answer(self, response: Any) -> None: ...

    def ended_by(self, error: Exception) -> None: ...


Steps = Generator[None, None, Any]
"""Yields between two parts, and returns the answer, or an Outcome."""


PORTION: Final = 32
"""How many entries are looked at in one step, where each takes little."""
FEW: Final = 8
"""As `PORTION`, where each takes more: a partition that may have to be set up, something that is changed."""
MANY: Final = 512
"""As `PORTION`, where each takes next to nothing: a name that is counted."""


def portions(entries: Iterable[T], size: int = PORTION) -> Iterator[Sequence[T]]:
    """The entries, a few at a time. Whoever walks over them yields after each portion, and gives a copy of
    what may change meanwhile."""
    rest = iter(entries)
    while portion := list(islice(rest, size)):
        yield portion


class Pace:
    """Says when a step has done enough, where entries take as long as they are large:
    `if pace.enough(entries): yield`."""

    __slots__ = ("_done", "_most")

    def __init__(self, most: int = PORTION) -> None:
        self._done = 0
        self._most = most

    def enough(self, entries: int = 1) -> bool:
        """Whether so many more entries end the step."""
        self._done += entries
        if self._done < self._most:
            return False
        self._done = 0
        return True


def at_once(steps: Generator[None, None, T]) -> T:
    """Takes all steps; returns what they return."""
    try:
        while True:
            next(steps)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


class Failed:
    """What a sink gets instead of an answer if `error` was raised by what a parked request waited for."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class Client:
    """The client's connection. `host` is its address as groups show it (`/127.0.0.1`), `address` that of the
    socket (`127.0.0.1:51410`)."""

    __slots__ = ("address", "host", "software_name", "software_version")

    def __init__(self, host: str = "/127.0.0.1", address: str = "") -> None:
        self.host = host
        self.address = address
        self.software_name = ""
        self.software_version = ""
