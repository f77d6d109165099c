"""Invariants: what a client told its user, beside what is in the logs in the end."""

from collections.abc import Callable, Iterator
from typing import Final

from ..stage import Outcome
from . import (
    altered,
    applications,
    at_once,
    calls,
    consumers,
    disagreeing,
    fencing,
    needless,
    offsets,
    producers,
    provoked,
    recovery,
    seeking,
    sharing,
    transactions,
    undone,
)
from .violation import Violation, is_late

Judge = Callable[[Outcome], Iterator[Violation]]
JUDGES: Final[tuple[Judge, ...]] = (
    calls.broken,
    calls.busy,
    calls.unusable,
    calls.untold,
    producers.acknowledged_lost,
    producers.refused_but_written,
    producers.duplicated,
    producers.out_of_order,
    altered.altered,
    transactions.committed_incomplete,
    transactions.aborted_visible,
    transactions.processed_once,
    recovery.abort_failed,
    recovery.begin_failed,
    recovery.commit_failed,
    at_once.begun_twice,
    at_once.ended_in_two_ways,
    offsets.uncommitted,
    undone.undone,
    undone.told_otherwise,
    provoked.provoked,
    needless.needless,
    disagreeing.committed_though_failed,
    disagreeing.flushed_though_untold,
    disagreeing.told_twice,
    fencing.producers,
    fencing.members,
    consumers.aborted_read,
    consumers.begins_elsewhere,
    consumers.gaps,
    consumers.paused_read,
    seeking.sought_elsewhere,
    seeking.offsets_by_time,
    consumers.stuck,
    consumers.far,
    sharing.given,
    sharing.done_again,
    sharing.said_otherwise,
    sharing.told_otherwise,
    sharing.undelivered,
    sharing.untold,
    sharing.stuck,
    applications.died,
    applications.processed_once,
)


IN_TIME: Final = frozenset(
    {
        "abort-failed",
        "begin-failed",
        "busy",
        "call-overdue",
        "call-spins",
        "commit-failed",
        "far",
        "fenced-untold",
        "needless",
        "never-ends",
        "provoked",
        "stuck",
        "unusable",
        "untold",
    }
)
"""What may be violated since something came too late, or not yet: a right client, too, needs a machine that
is in time for these, and for no others."""


def judge(outcome: Outcome) -> list[Violation]:
    """What was violated, in the order of the judges, whatever the machine did; a run that was ended early is
    judged by what ended it."""
    return [each for each in _every(outcome) if not (is_late(outcome) and each.invariant in IN_TIME)]


def excused(outcome: Outcome) -> list[Violation]:
    """What seems to be violated, but the machine was late."""
    return [each for each in _every(outcome) if is_late(outcome) and each.invariant in IN_TIME]


def _every(outcome: Outcome) -> list[Violation]:
    if outcome.broken is not None:
        return list(calls.broken(outcome))
    return [each for judge in JUDGES for each in judge(outcome)]


__all__ = ("IN_TIME", "JUDGES", "Violation", "excused", "is_late", "judge")
