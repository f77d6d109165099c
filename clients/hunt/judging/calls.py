"""Calls that don't return, clients that can't be used any more, records that nobody hears of again."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ...drivers import DriverFailedError, OverdueError
from ..journal import Called, Ended, Failed, Opened, Sent, Told
from ..stage import Outcome
from ..transactions import Transacting
from ..users import AFTER, Sending
from .violation import Violation


def broken(outcome: Outcome) -> Iterator[Violation]:
    """`call-overdue`, `call-spins`: a call does not return by its own timeout. `died`: the process ended."""
    error, user = outcome.broken, outcome.broken_user
    if isinstance(error, OverdueError):
        name = "call-spins" if error.spins else "call-overdue"
        yield Violation(name, user, str(error) + (f"\n{error.stacks}" if error.stacks else ""))
    elif isinstance(error, DriverFailedError):
        yield Violation("died", user, str(error))


def busy(outcome: Outcome) -> Iterator[Violation]:
    """`busy`: long after all is well, a client keeps a processor busy, and there is nothing to do."""
    if outcome.busy:
        yield Violation("busy", "", f"a client keeps a processor busy {outcome.busy}")


def untold(outcome: Outcome) -> Iterator[Violation]:
    """`untold`: the producer was closed, and its user has never heard what became of a record."""
    for sent in outcome.journal.of(Sent):
        if sent.told is None:
            yield Violation(
                "untold", sent.user, f"never told what became of record {sent.number}", (sent.at,)
            )


def unusable(outcome: Outcome) -> Iterator[Violation]:
    """`unusable`: long after all is well again, a client still fails that has not said it is at its end."""
    kinds = {user.name: user.kind for user in outcome.plan.users}
    ids = Counter(user.config.get("transactional.id") for user in outcome.plan.users)
    shared = {u.name for u in outcome.plan.users if ids[u.config.get("transactional.id")] > 1}
    for user, kind in kinds.items():
        if kind == Sending.kind:
            yield from _unusable_producer(outcome, user)
        elif kind == Transacting.kind and user not in shared:
            ends = [e for e in outcome.journal.of(Ended) if e.user == user and e.at > outcome.repaired]
            if ends and not any(e.commits and e.error is None for e in ends):
                why = _why(outcome, user)
                yield Violation(
                    "unusable", user, f"no transaction can be committed any more{why}", (ends[-1].at,)
                )
            elif not ends:
                opened = [e.at for e in outcome.journal.of(Opened) if e.user == user]
                told = f"it can't begin a transaction{_why(outcome, user)}"
                yield Violation("unusable", user, told, tuple(opened[-1:]))


def _why(outcome: Outcome, user: str) -> str:
    """The last error that a user was told since all is well again: by the end of a transaction, which may
    have been aborted without one then; by another call; or about a record."""
    kinds: Sequence[type[Ended | Called | Told | Failed]] = (Ended, Called, Told, Failed)
    for kind in kinds:
        of_user = (e for e in outcome.journal.of(kind) if e.user == user and e.at > outcome.repaired)
        if errors := [e.error for e in of_user if e.error is not None]:
            return f": {errors[-1]}"
    return ", and no call says why"


def _unusable_producer(outcome: Outcome, user: str) -> Iterator[Violation]:
    # It has tried again and again: the last record to each partition counts.
    after = {
        (e.topic, e.partition): e for e in outcome.journal.of(Sent) if e.user == user and e.what == AFTER
    }
    failed = [e for e in after.values() if e.told is None or e.told.error is not None]
    if failed:
        first = failed[0]
        error = "nobody knows why" if first.told is None else first.told.error
        where = ", ".join(sorted(f"{e.topic}-{e.partition}" for e in failed))
        yield Violation("unusable", user, f"records to {where} still fail: {error}", (first.at,))
