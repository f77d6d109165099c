"""Applications of which another has the transactional id, or the `group.instance.id`."""

from collections.abc import Iterator

from ..journal import Called, Committed, Ended, Entry, Failed, Initialized, Opened, Owns, Sent, Told
from ..stage import TIMERS, Outcome
from .violation import Violation


def producers(outcome: Outcome) -> Iterator[Violation]:
    """`fenced-untold`: another producer has initialized the transactional id, and the one before it commits a
    transaction that begins later, and is told of no error."""
    ids = {
        e.user: e.config["transactional.id"]
        for e in outcome.journal.of(Opened)
        if "transactional.id" in e.config
    }
    initialized = [e for e in outcome.journal.of(Initialized) if e.user in ids]
    begun: dict[str, int] = {}
    for entry in outcome.journal.entries:
        if isinstance(entry, Called) and entry.verb == "begin":
            begun[entry.handle] = entry.at
        if not isinstance(entry, Ended) or not entry.commits or entry.error is not None:
            continue
        began = begun[entry.handle]
        own = [e for e in initialized if e.user == entry.user and e.at < entry.at]
        newer = [
            e
            for e in initialized
            if e.user != entry.user
            and ids[e.user] == ids[entry.user]
            and not e.fault
            and own
            and own[-1].at < e.at < began
        ]
        sent = [e for e in outcome.journal.of(Sent) if e.transaction == entry.transaction]
        if newer and sent and not _errors(outcome, entry.handle, newer[0].at, entry.at):
            what = (
                f"it commits transaction {entry.transaction}, though {newer[0].user} has its transactional id"
            )
            yield Violation("fenced-untold", entry.user, what, (newer[0].at, began, entry.at))


def members(outcome: Outcome) -> Iterator[Violation]:
    """`fenced-untold`: another member has the `group.instance.id` and partitions, and the one before it polls
    on, is told of no error, and loses nothing."""
    opened = {e.handle: e for e in outcome.journal.of(Opened) if "group.instance.id" in e.config}
    closed = {e.handle: e for e in outcome.journal.of(Called) if e.verb == "close"}
    told: set[str] = set()
    for gained in outcome.journal.of(Owns):
        if not gained.gains or not gained.partitions or gained.handle not in opened:
            continue
        for handle, other in opened.items():
            same = other.config["group.instance.id"] == opened[gained.handle].config["group.instance.id"]
            if not same or other.user == gained.user or other.at > opened[gained.handle].at or handle in told:
                continue
            until = closed[handle] if handle in closed else outcome.journal.entries[-1]
            long = until.ms - gained.ms > 2 * TIMERS["session.timeout.ms"]
            if (
                long
                and not _was_refused(outcome, handle, gained.at)
                and not _errors(outcome, handle, gained.at, until.at)
            ):
                told.add(handle)
                what = f"it is told nothing, though {gained.user} has joined with its group.instance.id"
                yield Violation("fenced-untold", other.user, what, (other.at, gained.at))


def _was_refused(outcome: Outcome, handle: str, at: int) -> bool:
    """Whether it was told before that another member has its id: then it is none that could be fenced."""
    return any(
        e.handle == handle and e.at < at and "unreleased" in e.error.name.lower()
        for e in outcome.journal.of(Failed)
    )


def _errors(outcome: Outcome, handle: str, begin: int, end: int) -> list[Entry]:
    """What a handle is told of in between: errors, or partitions that it loses."""
    return [
        e
        for e in outcome.journal.entries[begin : end + 1]
        if e.handle == handle
        and (
            (isinstance(e, Called | Committed | Ended | Failed | Told) and e.error is not None)
            or (isinstance(e, Owns) and not e.gains)
        )
    ]
