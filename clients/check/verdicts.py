"""What came of a run, in a word, and what shows it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..drivers import DriverFailedError, Refusal
from ..hunt.journal import Acknowledged, Called, Committed, Ended, Failed, Told
from ..hunt.judging import Violation, excused, judge
from ..hunt.stage import Outcome
from ..hunt.telling import lines
from .cells import Cell
from .hearing import Heard, heard

RIGHT: Final = "right"
NOT_SUPPORTED: Final = "not supported"
NOT_REACHED: Final = "not reached"
_OURSELVES: Final = frozenset({"close"})
_SHOWN: Final = 3


@dataclass(frozen=True)
class Verdict:
    """`word` is `right`, the invariants that were violated, `error` and its name, or why there was no run.

    `violated` is empty if nothing was. `evidence` are lines to read, `story` is the whole run. `heard` is
    what users were told when something was taken from their clients.
    """

    word: str
    violated: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    story: tuple[str, ...] = ()
    heard: tuple[Heard, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether no run could be judged."""
        return self.word.startswith("driver ")


@dataclass(frozen=True)
class Judged:
    """One scenario run under one broker setting: its verdict, and how many of the repeats gave it."""

    cell: Cell
    verdict: Verdict
    times: int = 1
    runs: int = 1
    decided: frozenset[str] = frozenset()
    seconds: float = 0.0

    @property
    def unexpected(self) -> bool:
        """Whether it tells against the client: brokers answered as they should."""
        violated = set(self.verdict.violated) - self.cell.scenario.open_
        return self.verdict.failed or (self.cell.is_right and bool(violated))

    @property
    def told(self) -> str:
        """The word, and how often it came if not each time."""
        often = f" ({self.times} of {self.runs})" if self.times < self.runs else ""
        return self.verdict.word + often


def verdict(outcome: Outcome, not_reached: str = "") -> Verdict:
    """Of a run that came to its end, or as far as the client let it."""
    story = tuple(lines(outcome))
    if isinstance(outcome.broken, DriverFailedError):
        return failed(outcome.broken, story)
    return replace(_judged(outcome, story, not_reached), heard=tuple(heard(outcome)))


def _judged(outcome: Outcome, story: tuple[str, ...], not_reached: str) -> Verdict:
    violations = [*judge(outcome), *excused(outcome)]
    if violations:
        names = tuple(Counter(each.invariant for each in violations))
        stacks = tuple(line for each in violations for line in str(each).splitlines()[1:])
        return Verdict(", ".join(names), names, tuple(_evidence(story, violations)), story + stacks)
    if not_reached:
        return Verdict(NOT_REACHED, (), (f"waited in vain until {not_reached}",), story)
    told = list(_errors(outcome))
    if told:
        names = tuple(Counter(error.name for error in told))
        evidence = tuple(dict.fromkeys(str(each) for each in told))[:_SHOWN]
        return Verdict(f"error {', '.join(names[:_SHOWN])}", (), evidence, story)
    return Verdict(RIGHT, story=story)


def failed(error: Exception, story: tuple[str, ...] = ()) -> Verdict:
    """Of a driver that did not start, died, or can't be understood. Its last output is in the message."""
    first, *rest = str(error).splitlines() or [type(error).__name__]
    return Verdict(f"driver failed: {first}", (), tuple(rest), story)


def never_ended(limit_s: float) -> Verdict:
    """Of a run that was given up."""
    return Verdict(NOT_REACHED, (), (f"waited in vain, for {limit_s:.0f} s, until the run ended",))


def _evidence(story: Sequence[str], violations: Sequence[Violation]) -> Iterator[str]:
    for each in violations[:_SHOWN]:
        yield str(each).partition("\n")[0]
        yield from (story[at].strip() for at in each.at if 0 <= at < len(story))


def _errors(outcome: Outcome) -> Iterator[Refusal]:
    """The errors that the client told its user of before all was well again."""
    for entry in outcome.journal.entries[: outcome.repaired]:
        match entry:
            case Failed(by="poll") | Ended() | Committed() | Acknowledged() | Told():
                error = entry.error
            case Failed() if outcome.plan.security:
                # Some clients tell of a login that was refused in no other way than by a callback.
                error = entry.error
            case Called() if entry.verb not in _OURSELVES:
                error = entry.error
            case _:
                error = None
        if error is not None:
            yield error
