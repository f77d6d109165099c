"""Calls of one client that are made at once: each may be refused, but what they return has to be true."""

from collections import defaultdict
from collections.abc import Iterator

from ..journal import Called, Committed, Ended, Owns, Partition
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


def uncommitted(outcome: Outcome) -> Iterator[Violation]:
    """`uncommitted`: a group was told that an offset is committed, and in the end it has an earlier one, or
    none, which nobody has committed since."""
    fields = [user.fields for user in outcome.plan.users if user.fields.get("group") == "g"]
    if any(each.get("consumer", {}).get("enable.auto.commit") for each in fields):
        return
    tried: dict[Partition, list[Committed]] = defaultdict(list)
    lost: dict[tuple[str, Partition], int] = {}
    for entry in outcome.journal.entries:
        if isinstance(entry, Owns) and not entry.gains:
            lost |= {(entry.handle, partition): entry.at for partition in entry.partitions}
        elif isinstance(entry, Committed) and entry.group == "g":
            for partition in entry.offsets:
                # What a client commits by its position may be without a partition that it loses meanwhile.
                if lost.get((entry.handle, partition), -1) < entry.began or entry.error is not None:
                    tried[partition].append(entry)
    for (topic, number), commits in tried.items():
        partition, known = (topic, number), [each for each in commits if each.error is None]
        if topic in outcome.deleted or not known:
            continue
        last = known[-1]
        possible = [e.offsets[partition] for e in commits if e.error is not None or e.at > last.began]
        if outcome.committed.get(partition, -1) < min(possible):
            now = outcome.committed.get(partition, "none")
            what = f"{topic}-{number} was committed at {last.offsets[partition]}, and the group has {now}"
            yield Violation("uncommitted", last.user, what, (last.began, last.at))
