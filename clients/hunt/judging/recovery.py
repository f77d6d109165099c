"""Applications that did after an error what the client's documentation says, and for whom it did not work."""

from collections.abc import Iterator
from typing import Final

from mockbroker.protocol.errors import ErrorCode

from ...drivers.documentation import Act
from ..admission import is_barred
from ..journal import Called, Entry, Failed, Happened, Heeded, Opened, Refused, Told
from ..stage import Outcome
from .violation import Violation

_AT_ITS_END: Final = {
    "INVALID_PRODUCER_EPOCH": ("fenced",),
    "INVALID_PRODUCER_ID_MAPPING": ("invalidproduceridmapping", "invalidpidmapping"),
    "INVALID_TXN_STATE": ("invalidtxnstate",),
    "PRODUCER_FENCED": ("fenced",),
}
"""What brokers answer to producers that can't go on, and how clients call it."""
_LOGINS: Final = ("SaslHandshake", "SaslAuthenticate")
_SOON_MS: Final = 1_000
"""How long after a refused login a client may still tell of it."""
_ABORT: Final = "abort-transaction"
_COMMIT: Final = "commit-transaction"


def abort_failed(outcome: Outcome) -> Iterator[Violation]:
    """`abort-failed`: a transaction can't be aborted, as the application wants or as the documentation says
    after an error. That a producer is fenced, or that brokers don't answer in time, is no such failure."""
    for entries in _by_handle(outcome).values():
        why: Heeded | None = None
        for entry in entries:
            if isinstance(entry, Heeded) and entry.act is Act.ABORT:
                why = entry
            elif isinstance(entry, Called) and entry.verb == "begin":
                why = None
            elif isinstance(entry, Called) and entry.verb == _ABORT and _fails(outcome, entries, entry):
                after = "" if why is None else f" after {why.verb} ({why.error})"
                at = (entry.at,) if why is None else (why.at, entry.at)
                yield Violation("abort-failed", entry.user, f"can't abort{after}: {entry.error}", at)


def begin_failed(outcome: Outcome) -> Iterator[Violation]:
    """`begin-failed`: a transaction is over, or its application went on as documented, and another can't
    begin."""
    for entries in _by_handle(outcome).values():
        over: Called | Heeded | None = None
        for entry in entries:
            if isinstance(entry, Heeded) and entry.act is Act.GO_ON and entry.verb in (_ABORT, _COMMIT):
                over = entry
            if not isinstance(entry, Called):
                continue
            if entry.verb in (_ABORT, _COMMIT) and entry.error is None:
                over = entry
            elif entry.verb == "begin" and over is not None and not entry.meanwhile:
                if _fails(outcome, entries, entry):
                    what = f"a transaction can't begin after {over.verb}: {entry.error}"
                    yield Violation("begin-failed", entry.user, what, (over.at, entry.at))
                over = None


def commit_failed(outcome: Outcome) -> Iterator[Violation]:
    """`commit-failed`: a transaction was aborted as documented, and then another can't be committed, although
    brokers have refused nothing since it began."""
    for entries in _by_handle(outcome).values():
        aborted: Called | None = None
        begun: Called | None = None
        for entry in entries:
            if not isinstance(entry, Called):
                continue
            if entry.verb == _ABORT:
                aborted = entry if entry.error is None else None
            elif entry.verb == "begin":
                begun = entry if entry.error is None else None
            elif entry.verb == _COMMIT and aborted is not None and begun is not None:
                if entry.error is not None and not entry.meanwhile and _undisturbed(outcome, begun, entry):
                    what = f"the transaction after one that was aborted can't be committed: {entry.error}"
                    yield Violation("commit-failed", entry.user, what, (aborted.at, begun.at, entry.at))
                aborted = begun = None


def _by_handle(outcome: Outcome) -> dict[str, list[Entry]]:
    """The entries of transactional producers, and what brokers refused them, by handle."""
    found: dict[str, list[Entry]] = {
        e.handle: [] for e in outcome.journal.of(Opened) if "transactional.id" in e.config
    }
    latest: dict[str, str] = {}
    for entry in outcome.journal.entries:
        if isinstance(entry, Opened):
            latest[entry.user] = entry.handle
        handle = latest.get(entry.user, "") if isinstance(entry, Refused) else entry.handle
        if handle in found:
            found[handle].append(entry)
    return found


def _fails(outcome: Outcome, entries: list[Entry], call: Called) -> bool:
    """Whether a call failed for good, and neither since the producer is at its end, nor since brokers did not
    answer in time, or let nobody in, while there were faults."""
    if call.error is None or call.meanwhile:
        return False
    after = next((e for e in entries if e.at > call.at and isinstance(e, Called | Heeded)), None)
    again = isinstance(after, Heeded) and after.act is Act.RETRY
    late = call.took_ms >= outcome.patience.enough_ms or is_barred(outcome, call.at)
    late = late and call.at < outcome.repaired
    return not (again or late or _is_at_its_end(entries, call.at))


def _is_at_its_end(entries: list[Entry], at: int) -> bool:
    """Whether brokers have put the producer to its end, and the application was told."""
    names: set[str] = set()
    codes: set[int] = set()
    for entry in entries:
        if isinstance(entry, Refused) and entry.at < at:
            names.update(name for code in entry.errors for name in _AT_ITS_END.get(code, ()))
            codes.update(ErrorCode[code] for code in entry.errors if code in _AT_ITS_END)
        elif isinstance(entry, Called | Failed | Told) and entry.at <= at and entry.error is not None:
            said = "".join(filter(str.isalpha, f"{entry.error.name} {entry.error.message}".lower()))
            if entry.error.code in codes or any(name in said for name in names):
                return True
    return False


def _undisturbed(outcome: Outcome, begin: Entry, end: Entry) -> bool:
    """Whether brokers refused the user nothing in between, nor a login just before, let everybody in, and
    nothing happened to the cluster."""
    if is_barred(outcome, end.at) and end.at < outcome.repaired:
        return False
    refused = [e for e in outcome.journal.of(Refused) if e.user == end.user and e.at < end.at]
    if any(e.at > begin.at or (e.api in _LOGINS and begin.ms - e.ms < _SOON_MS) for e in refused):
        return False
    return not any(isinstance(e, Happened) for e in outcome.journal.entries[begin.at : end.at])
