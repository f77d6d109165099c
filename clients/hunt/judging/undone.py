"""What an operator was told is done."""

from collections.abc import Iterator

from ..journal import Called
from ..stage import Outcome
from .violation import Violation


def undone(outcome: Outcome) -> Iterator[Violation]:
    """`undone`: a topic was created, or got partitions, and in the end the cluster does not have them."""
    for called in outcome.journal.of(Called):
        if called.verb not in ("create-topic", "create-partitions") or called.error is not None:
            continue
        topic, wanted = called.fields["topic"], called.fields["partitions"]
        has = outcome.partitions.get(topic, 0)
        if has < wanted and topic not in outcome.deleted:
            what = f"{called.verb} has returned, and {topic} has {has} partitions, not {wanted}"
            yield Violation("undone", called.user, what, (called.at,))
