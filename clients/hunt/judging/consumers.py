"""Where consumers begin, what they leave out, and whether they read on."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from ...drivers import Refusal
from ..journal import Called, Committed, Ended, Failed, Opened, Owns, Partition, Read, Sent, Sought
from ..plan import LOOKS_MS
from ..stage import PROBE, InLog, Outcome, probe
from ..users import BAD
from .violation import Violation


@dataclass
class _Group:
    """What is known of a partition's committed offset: the highest acknowledged, and the highest tried. Once
    a member has gone elsewhere by itself (`moved`), the last acknowledged, or a lower one that may have been
    committed."""

    acknowledged: int = -1
    tried: int = -1
    moved: bool = False

    def commit(self, offset: int, *, acknowledged: bool) -> None:
        self.tried = max(self.tried, offset)
        if self.moved and (acknowledged or offset < self.acknowledged):
            self.acknowledged = offset
        elif acknowledged:
            self.acknowledged = max(self.acknowledged, offset)

    def move(self, to: Sought) -> None:
        self.moved = True
        self.tried = sys.maxsize if to.to == "end" else max(self.tried, to.offset)


def aborted_read(outcome: Outcome) -> Iterator[Violation]:
    """`aborted-read`: a consumer of committed records has read one of an aborted transaction."""
    level = {e.handle: e.config.get("isolation.level") for e in outcome.journal.of(Opened)}
    aborted = {e.transaction for e in outcome.journal.of(Ended) if not e.commits and e.error is None}
    values = {e.mark: e for e in outcome.journal.of(Sent) if e.transaction in aborted}
    for read in outcome.journal.of(Read):
        if level.get(read.handle) == "read_committed" and read.mark in values:
            sent = values[read.mark]
            what = f"record {sent.number} was read, of the aborted transaction {sent.transaction}"
            yield Violation("aborted-read", read.user, what, (sent.at, read.at))


def begins_elsewhere(outcome: Outcome) -> Iterator[Violation]:
    """`read-again`, `reset-without-loss`, `skipped`: a member begins elsewhere than where its group
    committed."""
    commits_itself = {e.handle for e in outcome.journal.of(Opened) if e.config.get("enable.auto.commit")}
    for partition, entries in by_partition(outcome).items():
        if partition[0] in outcome.deleted:
            continue
        groups: dict[str, _Group] = defaultdict(_Group)
        begins: dict[str, int | None] = {}
        had: dict[str, set[int]] = defaultdict(set)
        lost: dict[str, int] = {}
        for entry in entries:
            if isinstance(entry, Committed):
                # What a client commits by its position may be without a partition that it loses meanwhile.
                acknowledged = entry.error is None and lost.get(entry.handle, -1) < entry.began
                groups[entry.group].commit(entry.offsets[partition], acknowledged=acknowledged)
            elif isinstance(entry, Owns) and entry.gains:
                begins[entry.handle] = groups[_group(outcome, entry.user)].acknowledged
            elif isinstance(entry, Sought | Owns):
                begins.pop(entry.handle, None)
                if isinstance(entry, Owns):
                    lost[entry.handle] = entry.at
                elif entry.to:
                    groups[_group(outcome, entry.user)].move(entry)
            elif isinstance(entry, Read):
                if entry.handle in begins:
                    floor, tried = begins.pop(entry.handle), groups[_group(outcome, entry.user)].tried
                    floor = -1 if floor is None else floor
                    yield from _begins(outcome, partition, entry, floor, tried, had[entry.handle])
                if entry.handle in commits_itself:  # it may commit what it has given, whenever it likes
                    group = groups[_group(outcome, entry.user)]
                    group.tried = max(group.tried, entry.offset + 1)
                had[entry.handle].add(entry.offset)


def _begins(
    outcome: Outcome, partition: Partition, read: Read, floor: int, tried: int, had: set[int]
) -> Iterator[Violation]:
    """`had` are the offsets that this member has read before, and may go on behind after a rebalance."""
    start, where = outcome.log_starts[partition], f"{partition[0]}-{partition[1]}"
    if floor > read.offset:
        first = outcome.logs[partition][0].offset if outcome.logs[partition] else start
        name = "reset-without-loss" if read.offset == max(start, first) else "read-again"
        yield Violation(
            name, read.user, f"begins {where} at {read.offset}, though {floor} was committed", (read.at,)
        )
    else:
        every = left_out(outcome, read, partition, max(floor, tried, start), read.offset)
        left = [each for each in every if each.offset not in had]
        if left:
            yield Violation(
                "skipped",
                read.user,
                f"begins {where} at {read.offset}, without {listed(left)}; committed: {max(floor, tried)}",
                (read.at,),
            )


def gaps(outcome: Outcome) -> Iterator[Violation]:
    """`skipped`, `read-again`: a consumer that owns a partition leaves records out, or goes back. Those that
    tell no assignments are left out: they may have lost a partition, and got it back."""
    owners = {each.handle for each in outcome.journal.of(Owns)}
    for partition, entries in by_partition(outcome).items():
        if partition[0] in outcome.deleted:
            continue
        last: dict[str, int] = {}
        for entry in entries:
            if isinstance(entry, Sought | Owns):
                last.pop(entry.handle, None)
            elif isinstance(entry, Read) and entry.handle in owners:
                before = last.get(entry.handle)
                last[entry.handle] = entry.offset
                where = f"{partition[0]}-{partition[1]}"
                if before is None:
                    continue
                if entry.offset <= before:
                    what = f"goes back in {where}, from {before} to {entry.offset}"
                    yield Violation("read-again", entry.user, what, (entry.at,))
                elif left := left_out(outcome, entry, partition, before + 1, entry.offset):
                    what = f"goes on in {where} from {before} to {entry.offset}, without {listed(left)}"
                    yield Violation("skipped", entry.user, what, (entry.at,))


def paused_read(outcome: Outcome) -> Iterator[Violation]:
    """`paused-read`: a poll returns records of a partition that was paused before, and not resumed since."""
    paused: dict[str, set[Partition]] = defaultdict(set)
    for entry in outcome.journal.entries:
        if isinstance(entry, Called) and entry.verb in ("pause", "resume"):
            listed = {(topic, partition) for topic, partition in entry.fields["partitions"]}
            if entry.verb == "resume":
                paused[entry.handle] -= listed
            elif entry.error is None:
                paused[entry.handle] |= listed
        elif isinstance(entry, Owns):
            paused[entry.handle] -= {*entry.partitions}
        elif isinstance(entry, Read) and (entry.topic, entry.partition) in paused[entry.handle]:
            what = f"reads {entry.topic}-{entry.partition} at {entry.offset}, though it is paused"
            yield Violation("paused-read", entry.user, what, (entry.at,))


def stuck(outcome: Outcome) -> Iterator[Violation]:
    """`stuck`: long after all is well again, a group has not read what was written then, and there is no
    error that says why."""
    probes = {
        each.value
        for records in outcome.logs.values()
        for each in records
        if each.value is not None and each.value.startswith(PROBE)
    }
    for group, users, topics in _readers(outcome):
        read: set[bytes | None] = set()
        for each in outcome.journal.of(Read):
            if each.user in users:
                again = each.topic in outcome.deleted and each.at > outcome.repaired
                read.add(probe((each.topic, each.partition)) if again else each.value)
        wanted = {value for value in probes if _is_read(outcome, users, topics, value)}
        if missing := wanted - read:
            where = ", ".join(sorted(each.removeprefix(PROBE).decode() for each in missing))
            told = "".join(f"; its last error: {each}" for each in _errors(outcome, users)[-1:])
            yield Violation("stuck", group, f"reads nothing more of {where}{told}")


def _errors(outcome: Outcome, users: set[str]) -> list[Refusal]:
    """What they were told since all is well."""
    after = (e for e in outcome.journal.entries if e.at > outcome.repaired and e.user in users)
    return [e.error for e in after if isinstance(e, Failed | Called) and e.error is not None]


def _readers(outcome: Outcome) -> Iterator[tuple[str, set[str], set[str]]]:
    """Groups, and consumers without one: the name, its users, its topics."""
    groups: dict[str, tuple[set[str], set[str]]] = {}
    for user in outcome.plan.users:
        if "topics" in user.fields:
            users, topics = groups.setdefault(user.fields["group"] or user.name, (set(), set()))
            users |= {user.name, f"{user.name}-in"}
            topics |= set(user.fields["topics"])
    for name, (users, topics) in groups.items():
        yield name, users, topics


def _is_read(outcome: Outcome, users: set[str], topics: set[str], probe: bytes) -> bool:
    """Whether such users have to read a probe: what was added, if their clients are to look for it soon; in
    topics that were added, if that is what they subscribe to."""
    topic, _, partition = probe.removeprefix(PROBE).decode().rpartition("-")
    planned = {each.name: each.partitions for each in outcome.plan.topics}
    if topic in topics and int(partition) < planned[topic]:
        return True
    matches = any("pattern" in each.fields for each in outcome.plan.users if each.name in users)
    grouped = any(
        each.fields["group"] for each in outcome.plan.users if {each.name, f"{each.name}-in"} & users
    )
    looks = any(LOOKS_MS in e.config for e in outcome.journal.of(Opened) if e.user in users)
    return grouped and looks and (topic in topics or matches)


def far(outcome: Outcome) -> Iterator[Violation]:
    """`far`: long after all is well, a consumer has never asked the broker in its rack, which has in-sync
    replicas of what it reads (KIP-392)."""
    for user, partitions in outcome.far.items():
        where = ", ".join(f"{topic}-{partition}" for topic, partition in partitions)
        yield Violation("far", user, f"does not ask the broker in its rack for {where}")


def by_partition(outcome: Outcome) -> dict[Partition, list[Committed | Owns | Read | Sought]]:
    found: dict[Partition, list[Committed | Owns | Read | Sought]] = defaultdict(list)
    # A topic that was created again has fewer partitions than some that were added before.
    for entry in outcome.journal.entries:
        if isinstance(entry, Read | Sought):
            found[entry.topic, entry.partition].append(entry)
        elif isinstance(entry, Owns):
            for partition in entry.partitions:
                found[partition].append(entry)
        elif isinstance(entry, Committed):
            for partition in entry.offsets:
                found[partition].append(entry)
    return found


def _group(outcome: Outcome, user: str) -> str:
    for each in outcome.plan.users:
        if user in (each.name, f"{each.name}-in"):
            return str(each.fields.get("group", ""))
    return ""


def left_out(outcome: Outcome, read: Read, partition: Partition, begin: int, end: int) -> list[InLog]:
    """The records between two offsets that this consumer should have been given."""
    committed_only = any(
        e.handle == read.handle and e.config.get("isolation.level") == "read_committed"
        for e in outcome.journal.of(Opened)
    )
    fails = any(user.fields.get("fails") for user in outcome.plan.users if user.name == read.user)
    return [
        each
        for each in outcome.logs[partition]
        if begin <= each.offset < end
        and (each.committed or not committed_only)
        and not (fails and each.value is not None and each.value.startswith(BAD))
    ]


def listed(records: list[InLog]) -> str:
    return (
        "offsets " + ", ".join(str(each.offset) for each in records[:5]) + (", …" if len(records) > 5 else "")
    )
