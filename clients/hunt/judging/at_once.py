"""Calls of one client that are made at once: each may be refused, but what they return has to be true."""

from collections import defaultdict
from collections.abc import Iterator

from ..journal import Called, Ended
from ..stage import Outcome
from .violation import Violation


def begun_twice(outcome: Outcome) -> Iterator[Violation]:
    """`begun-twice`: two transactions of one producer have begun, and none of them was ended in between."""
    begun: dict[str, Called] = {}
    for entry in outcome.journal.of(Called):
        if entry.verb in ("commit-transaction", "abort-transaction", "close"):
            begun.pop(entry.handle, None)
        elif entry.verb == "begin" and entry.error is None:
            if entry.meanwhile and entry.handle in begun:
                what, at = (
                    "two calls at once have both begun a transaction",
                    (begun[entry.handle].at, entry.at),
                )
                yield Violation("begun-twice", entry.user, what, at)
            begun[entry.handle] = entry


def ended_in_two_ways(outcome: Outcome) -> Iterator[Violation]:
    """`told-two-things`: a transaction was committed, and it was aborted."""
    ways: dict[int, dict[bool, Ended]] = defaultdict(dict)
    for entry in outcome.journal.of(Ended):
        if entry.error is None:
            ways[entry.transaction][entry.commits] = entry
    for transaction, ended in ways.items():
        if len(ended) > 1:
            what = f"transaction {transaction} was both committed and aborted"
            yield Violation("told-two-things", ended[True].user, what, (ended[True].at, ended[False].at))
