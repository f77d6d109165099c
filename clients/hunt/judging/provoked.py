"""What a client asks for wrongly: brokers are well, they refuse it, and its user hears of that."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from mockbroker.protocol.errors import ErrorCode

from ...drivers import Refusal
from ..journal import Called, Committed, Entry, Failed, Happened, Opened, Refused, Sent, Told
from ..stage import Outcome
from .violation import Violation

_WRONG: Final = frozenset(
    {
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.TRANSACTION_ABORTABLE,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
"""What brokers that are well answer only if the client has gone wrong: an application can ask for no such
thing, unless two of them have one transactional id."""
_LATE_MS: Final = 8_000
"""Less than `transaction.timeout.ms`, after which a coordinator fences the producer."""
_CALLED: Final[Mapping[str, str]] = {
    "INVALID_PRODUCER_EPOCH": "fenced",
    "INVALID_PRODUCER_ID_MAPPING": "invalidpidmapping",
    "OUT_OF_ORDER_SEQUENCE_NUMBER": "outofordersequence",
    "PRODUCER_FENCED": "fenced",
}
"""How clients call it, where that is not, or not always, Kafka's name: letters only."""


def provoked(outcome: Outcome) -> Iterator[Violation]:
    """`provoked`: nothing has happened to the cluster yet, a broker refuses what a client asks for as wrong,
    and the application is told of that, also if an earlier error led to it. Who closes a producer whose
    records are under way, and opens the next one, fences them."""
    ids = Counter(user.config.get("transactional.id") for user in outcome.plan.users)
    users = {user.name: user.config.get("transactional.id") for user in outcome.plan.users}
    alone = {name for name, id_ in users.items() if id_ is None or ids[id_] == 1}
    began_ms: dict[str, int] = {}
    opened: dict[str, str] = {}
    refused: dict[str, list[Refused]] = {}
    sent, told = outcome.journal.sent(), set[tuple[str, str]]()
    for entry in outcome.journal.entries:
        if isinstance(entry, Happened):
            return
        if isinstance(entry, Opened):
            refused[entry.user], opened[entry.user] = [], entry.handle
        elif isinstance(entry, Refused) and not entry.fault:
            refused.setdefault(entry.user, []).append(entry)
        elif isinstance(entry, Called) and entry.verb == "begin":
            began_ms[entry.user] = entry.ms - entry.took_ms
        verb, error = _told_of(sent, entry)
        if error is None or entry.user.removesuffix("-in") not in alone:
            continue
        if isinstance(entry, Told) and sent[entry.number].handle != opened.get(entry.user):
            continue
        if entry.ms - began_ms.get(entry.user, entry.ms) > _LATE_MS:
            continue
        for each in refused.get(entry.user, ()):
            code = next((c for c in each.errors if c in _NAMES and _is(error, c)), None)
            if code is not None and (entry.user, code) not in told:
                told.add((entry.user, code))
                what = f"{verb} fails, since its {each.api} got {code}: {error}"
                yield Violation("provoked", entry.user, what, (each.at, entry.at), f"{each.api}-{code}")


_NAMES: Final = {each.name: each for each in _WRONG}


def _is(error: Refusal, code: str) -> bool:
    """Whether an error tells of a code."""
    said = "".join(filter(str.isalpha, f"{error.name} {error.message}".lower()))
    names = (code.replace("_", "").lower(), _CALLED.get(code, "?"))
    return error.code == _NAMES[code] or any(name in said for name in names)


def _told_of(sent: Mapping[int, Sent], entry: Entry) -> tuple[str, Refusal | None]:
    match entry:
        case Called() if not entry.meanwhile:
            return entry.verb, entry.error
        case Committed() if not entry.meanwhile:
            return "commit", entry.error
        case Failed():
            return entry.by, entry.error
        case Told() if not sent[entry.number].meanwhile:
            return "produce", entry.error
    return "", None
