"""Errors that nobody needed."""

from collections.abc import Iterator, Mapping
from typing import Final

from ...drivers import Refusal
from ...drivers.documentation import Act, documentation
from ..admission import BARS
from ..journal import Called, Committed, Entry, Failed, Happened, Opened, Refused, Sent, Told
from ..legal import ANSWERS
from ..plan import Plan, Step
from ..stage import TIMERS, Outcome
from .producers import DEFINITE
from .violation import Violation

_FEW: Final = 2
_LIGHT: Final = frozenset({"move-leader", "move-coordinator", "drop-fetch-sessions"})
_LIGHT_FAULTS: Final = frozenset({"error", "disconnect", "delay", "move-coordinator"})
_LATE_MS: Final = 500
_REPLACED: Final = ("commitfailed", "rebalance", "illegalgeneration", "unknownmember", "fenced", "stale")
"""Parts of the names of errors that tell a client that others go on without it."""
_OTHERWISE: Final = (
    *("close", "flush", "offsets-for-times", "pause", "position", "resume", "seek"),
    *("alter-config", "create-partitions", "create-topic", "delete-records", "delete-topic"),
)
"""Verbs that may fail for another reason: the partition is not the member's any more, time is over, or what
was asked for may have been done, and would not be done twice."""
_OWN: Final = frozenset({"large", "keyless", "bad"})
"""Records that are refused for a reason."""


def needless(outcome: Outcome) -> Iterator[Violation]:
    """`needless`: the application is told of an error, long before any timeout, although nothing is wrong
    but a few retriable errors of brokers or lost connections, and what it asked for works a moment later.
    What the documentation asks applications to retry is no such error."""
    if not is_light(outcome.plan):
        return
    told: set[tuple[str, str, str]] = set()
    spoilt: set[str] = set()
    sent = outcome.journal.sent()
    for entry in outcome.journal.entries:
        if isinstance(entry, Happened) and entry.do in BARS:
            return  # clients have to tell of that
        if isinstance(entry, Sent) and entry.what in _OWN:
            spoilt.add(entry.handle)
        verb, error, took_ms = _error(sent, entry)
        if error is None or entry.handle in spoilt:
            continue
        spoilt.add(entry.handle)  # what fails after that may be a consequence
        if took_ms > _limit_ms(outcome, verb) or _has_cause(outcome, entry, verb, error):
            continue
        key = (entry.user, verb, error.name)
        if key not in told and _works_later(outcome, entry, verb):
            told.add(key)
            what = f"{verb} fails after {took_ms} ms, and works later: {error}"
            yield Violation("needless", entry.user, what, (entry.at,))


def is_light(plan: Plan) -> bool:
    """Whether no more happens than clients should hide from their users."""
    return all(map(_is_light_step, plan.steps))


def _is_light_step(step: Step) -> bool:
    if step.do != "fault":
        return step.do in _LIGHT
    fields = step.fields
    few = fields.get("times", 1) <= _FEW and fields.get("ms", 0) <= _LATE_MS
    return few and fields["do"] in _LIGHT_FAULTS


def _error(sent: Mapping[int, Sent], entry: Entry) -> tuple[str, Refusal | None, int]:
    """What was asked for, the error that it got, and after how long."""
    match entry:
        case Called(meanwhile=True) | Committed(meanwhile=True):
            return "", None, 0
        case Told() if sent[entry.number].meanwhile:
            return "", None, 0
        case Called() if entry.verb not in _OTHERWISE:
            return entry.verb, entry.error, entry.took_ms
        case Committed():
            return "commit", entry.error, entry.took_ms
        case Failed(by="poll"):
            return "poll", entry.error, 0
        case Told():
            return "produce", entry.error, entry.ms - sent[entry.number].ms
    return "", None, 0


def _limit_ms(outcome: Outcome, verb: str) -> float:
    return 0.8 * TIMERS["delivery.timeout.ms"] if verb == "produce" else outcome.patience.enough_ms


def _has_cause(outcome: Outcome, entry: Entry, verb: str, error: Refusal) -> bool:
    if error.deserializer or error.name == "unsupported" or error.code in DEFINITE:
        return True
    if any(part in error.name.replace("_", "").lower() for part in _REPLACED):
        return True
    if verb == "produce" and _is_given_up(outcome, entry):
        return True
    rule = documentation(outcome.client).after(verb, error)
    if Act.RETRY in rule.then or rule.informs:
        return True
    opened = max((e.at for e in outcome.journal.of(Opened) if e.handle == entry.handle), default=0)
    refused = [e for e in outcome.journal.of(Refused) if e.user == entry.user and opened <= e.at < entry.at]
    return len(refused) > _FEW or not all({*e.errors} <= {*ANSWERS.get(e.api, ())} for e in refused)


def _is_given_up(outcome: Outcome, told: Entry) -> bool:
    """Whether the application was aborting the transaction of a record, or has closed its producer."""
    return any(
        e.handle == told.handle
        and e.began < told.at
        and (e.verb == "close" or (e.verb == "abort-transaction" and told.at < e.at))
        for e in outcome.journal.of(Called)
    )


def _works_later(outcome: Outcome, entry: Entry, verb: str) -> bool:
    for later in outcome.journal.entries[entry.at + 1 :]:
        if later.user == entry.user:
            match later:
                case Called(error=None) if later.verb == verb:
                    return True
                case Committed(error=None) if verb == "commit":
                    return True
                case Told(error=None) if verb == "produce":
                    return True
    return verb == "poll"
