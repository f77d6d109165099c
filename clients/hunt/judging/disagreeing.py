"""What a call returns, beside what the application is told of its records: `told-two-things`."""

from collections.abc import Iterator
from typing import Final

from ..journal import Called, Ended, Sent, Told
from ..stage import Outcome
from .violation import Violation

_NAME: Final = "told-two-things"
_SETTLED_MS: Final = 1_000
"""So long after a flush its records may still be told of: callbacks are called in another thread."""


def committed_though_failed(outcome: Outcome) -> Iterator[Violation]:
    """`told-two-things`: a transaction is committed with a record of which the client said that it failed."""
    sent = list(outcome.journal.of(Sent))
    visible = {each.mark for records in outcome.logs.values() for each in records if each.committed}
    for ended in outcome.journal.of(Ended):
        if not ended.commits or ended.error is not None:
            continue
        for each in sent:
            told = each.told
            if each.transaction != ended.transaction or told is None or told.error is None:
                continue
            # Without it, `committed-incomplete` says more.
            if not told.error.raised and each.mark in visible:
                what = (
                    f"record {each.number} failed ({told.error}), and its transaction was committed with it"
                )
                yield Violation(_NAME, ended.user, what, (told.at, ended.at))


def flushed_though_untold(outcome: Outcome) -> Iterator[Violation]:
    """`told-two-things`: a flush has returned, and the client tells of a record only later."""
    sent = list(outcome.journal.of(Sent))
    for called in outcome.journal.of(Called):
        if called.verb == "flush" and called.error is None and not called.left:
            for each in sent:
                told = each.told
                if each.handle != called.handle or each.at > called.began:
                    continue
                if told is None or (told.at > called.at and told.ms > called.ms + _SETTLED_MS):
                    what = (
                        f"flush has returned, and what became of record {each.number} is not told until later"
                    )
                    yield Violation(_NAME, called.user, what, (each.at, called.at))


def told_twice(outcome: Outcome) -> Iterator[Violation]:
    """`told-two-things`: the client tells of a record twice, differently."""
    sent = outcome.journal.sent()
    for told in outcome.journal.of(Told):
        first = sent[told.number].told
        if first is not None and first is not told and (first.error is None) != (told.error is None):
            both = f"{first.error or 'written'}, {told.error or 'written'}"
            what = f"record {told.number} is told of twice: {both}"
            yield Violation(_NAME, told.user, what, (first.at, told.at))
