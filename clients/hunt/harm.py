"""What a violation costs the user, and what is alike in those that have one cause."""

import enum
import re
from typing import Any, Final

from ..drivers import OverdueError, Refusal
from .judging import Violation
from .stage import Outcome


class Harm(enum.IntEnum):
    """Worst first."""

    LOST = 0
    STUCK = 1
    UNUSABLE = 2
    NEEDLESS = 3

    def __str__(self) -> str:
        return _WORDS[self]


_WORDS: Final = {
    Harm.LOST: "lost or twice",
    Harm.STUCK: "stuck",
    Harm.UNUSABLE: "unusable",
    Harm.NEEDLESS: "needless",
}
_HARMS: Final = {
    "acknowledged-lost": Harm.LOST,
    "refused-but-written": Harm.LOST,
    "duplicated": Harm.LOST,
    "out-of-order": Harm.LOST,
    "altered": Harm.LOST,
    "committed-incomplete": Harm.LOST,
    "aborted-visible": Harm.LOST,
    "aborted-read": Harm.LOST,
    "processed-again": Harm.LOST,
    "not-processed": Harm.LOST,
    "reset-without-loss": Harm.LOST,
    "read-again": Harm.LOST,
    "skipped": Harm.LOST,
    "sought-elsewhere": Harm.LOST,
    "told-otherwise": Harm.LOST,
    "told-two-things": Harm.LOST,
    "fenced-untold": Harm.LOST,
    "uncommitted": Harm.LOST,
    "undone": Harm.LOST,
    "undelivered": Harm.LOST,
    "accepted-again": Harm.LOST,
    "rejected-again": Harm.LOST,
    "not-acquired": Harm.LOST,
    "acknowledged-unsaid": Harm.LOST,
    "begun-twice": Harm.UNUSABLE,
    "provoked": Harm.UNUSABLE,
    "stuck": Harm.STUCK,
    "call-overdue": Harm.STUCK,
    "call-spins": Harm.STUCK,
    "never-ends": Harm.STUCK,
    "unusable": Harm.UNUSABLE,
    "died": Harm.UNUSABLE,
    "untold": Harm.UNUSABLE,
    "begin-failed": Harm.UNUSABLE,
    "commit-failed": Harm.UNUSABLE,
    "abort-failed": Harm.UNUSABLE,
}


def harm_of(invariant: str) -> Harm:
    """Of an invariant that is not listed: an error that nobody needed."""
    return _HARMS.get(invariant, Harm.NEEDLESS)


def cause_of(violation: Violation, outcome: Outcome) -> str:
    """What the judge says it is; else the names of the errors that a violation tells of, or the call that
    did not return; empty if there is none. Violations that differ in it have different causes."""
    if isinstance(outcome.broken, OverdueError):
        return outcome.broken.verb
    if violation.cause:
        return violation.cause
    told = {each.name for each in _errors(outcome)}
    return "-".join(sorted(name for name in told if re.search(rf"\b{re.escape(name)}\b", violation.what)))


def _errors(outcome: Outcome) -> list[Refusal]:
    found: list[Any] = [getattr(entry, "error", None) for entry in outcome.journal.entries]
    return [each for each in found if isinstance(each, Refusal)]
