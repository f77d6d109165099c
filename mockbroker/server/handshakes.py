"""TLS handshakes that go wrong on purpose."""

from dataclasses import dataclass

from ..errors import ConflictError, OptionError
from ..nearest import nearest
from ..security import HANDSHAKE_FAULTS


@dataclass
class Handshakes:
    """`how` those of clients go wrong that connect from now on; None if they don't. Only to `broker`, if that
    is given, and `left` more times."""

    how: str | None = None
    broker: int | None = None
    left: int | None = None
    hits: int = 0
    """How many went wrong since `break_`."""

    def break_(self, how: str, broker: int | None, times: int | None) -> None:
        """OptionError, ConflictError."""
        if how not in HANDSHAKE_FAULTS:
            raise OptionError(f"no way {how!r} to break a handshake{nearest(how, HANDSHAKE_FAULTS)}")
        if times is not None and times < 1:
            raise OptionError(f"times is {times}: give 1 or more")
        if (self.how, self.broker, self.left) == (how, broker, times):
            raise ConflictError("handshakes go wrong like that already")
        self.how, self.broker, self.left, self.hits = how, broker, times, 0

    def mend(self) -> None:
        """ConflictError."""
        if self.how is None:
            raise ConflictError("no handshake goes wrong")
        self._succeed()

    def next(self, broker: int) -> str:
        """How that of the client goes wrong that has just connected; empty if it does not."""
        how = self.how
        if how is None or self.broker not in (None, broker):
            return ""
        self.hits += 1
        if self.left is not None:
            self.left -= 1
            if not self.left:
                self._succeed()
        return how

    def _succeed(self) -> None:
        self.how = self.broker = self.left = None
