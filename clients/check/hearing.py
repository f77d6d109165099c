"""What the users of clients are told when these may not go on, and how soon."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from ..drivers import Refusal
from ..hunt.admission import BARS
from ..hunt.journal import Called, Committed, Entry, Failed, Happened, Opened, Refused, Told
from ..hunt.stage import Outcome

_OURSELVES: Final = frozenset({"close"})


@dataclass(frozen=True)
class Heard:
    """`name` and `message` are those of the first error that a user was told, empty if there was none;
    `after_ms` is since a broker first refused something of the client, or since brokers would. `anew`: the
    client was closed then, as its documentation says, and a new one opened."""

    user: str
    name: str
    message: str
    after_ms: int
    anew: bool

    @property
    def told(self) -> str:
        """In words."""
        seconds = f"{self.after_ms / 1000:.1f} s"
        if not self.name:
            return f"nothing in {seconds}"
        anew = "; then it is opened anew" if self.anew else ""
        return f"{self.name} after {seconds}: {self.message}{anew}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def first_error(outcome: Outcome, user: str, since: int) -> Entry | None:
    """The first entry after `since` by which a client tells its user of an error."""
    entries = outcome.journal.entries[since + 1 :]
    return next((each for each in entries if each.user == user and error_of(each) is not None), None)


def error_of(entry: Entry) -> Refusal | None:
    """The error that an application is told of with an entry, also by a callback."""
    match entry:
        case Called() if entry.verb not in _OURSELVES:
            return entry.error
        case Committed() | Failed() | Told():
            return entry.error
    return None


def heard(outcome: Outcome) -> Iterator[Heard]:
    """For each user, if something was taken from clients."""
    entries = outcome.journal.entries[: outcome.repaired]
    over_ms = outcome.journal.entries[outcome.repaired].ms
    bar = next((e for e in entries if isinstance(e, Happened) and e.do in BARS and not e.why_not), None)
    if bar is None:
        return
    for user in (each.name for each in outcome.plan.users):
        refused = (e for e in entries[bar.at :] if isinstance(e, Refused) and e.user == user and not e.lost)
        began_ms = next((e.ms for e in refused), bar.ms)
        told = first_error(outcome, user, bar.at)
        error = None if told is None or told.at >= outcome.repaired else error_of(told)
        if told is None or error is None:
            yield Heard(user, "", "", over_ms - began_ms, anew=False)
            continue
        anew = any(isinstance(e, Opened) and e.user == user for e in outcome.journal.entries[told.at :])
        yield Heard(user, error.name, error.message, max(told.ms - began_ms, 0), anew)
