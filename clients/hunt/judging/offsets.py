"""What members were told is committed."""

from collections.abc import Iterator

from ..journal import Committed, Owns, Partition
from ..stage import Outcome
from .violation import Violation


def uncommitted(outcome: Outcome) -> Iterator[Violation]:
    """`uncommitted`: a member was told that its offset is committed, or the transaction with it, and the
    group has never had that offset."""
    lost: dict[tuple[str, Partition], int] = {}
    for entry in outcome.journal.entries:
        if isinstance(entry, Owns) and not entry.gains:
            lost |= {(entry.handle, partition): entry.at for partition in entry.partitions}
        elif isinstance(entry, Committed) and entry.error is None:
            for partition, offset in entry.offsets.items():
                # What a client commits by its position may be without a partition that it loses meanwhile.
                loses = entry.by_position and lost.get((entry.handle, partition), -1) >= entry.began
                if partition[0] in outcome.deleted or loses:
                    continue
                ever = outcome.ever_committed.get((entry.group, partition), set())
                # A position may be behind what follows the last record, such as the end of a transaction.
                if offset not in ever and not (entry.by_position and max(ever, default=-1) > offset):
                    where = f"{partition[0]}-{partition[1]}"
                    what = f"it was told that {where} is committed at {offset}, where its group never was"
                    yield Violation("uncommitted", entry.user, what, (entry.began, entry.at))
