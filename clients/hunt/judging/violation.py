"""What an invariant says was violated."""

from dataclasses import dataclass
from typing import Final

from ..stage import Outcome

_LATE_S: Final = {False: 2.0, True: 5.0}
"""From when on the machine is late; more where what came too late comes too late again. Sessions last 6 s."""


@dataclass(frozen=True)
class Violation:
    """`invariant` is its name; `at` are the numbers of the entries of the journal that show it; `cause` is
    what tells it from others of its invariant, if that is not the name of an error in `what`."""

    invariant: str
    user: str
    what: str
    at: tuple[int, ...] = ()
    cause: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.invariant, self.user, self.what)))


def is_late(outcome: Outcome) -> bool:
    """Whether the machine was so late that what comes too late, or not yet, says nothing about the client."""
    return outcome.late_s >= _LATE_S[outcome.again]
