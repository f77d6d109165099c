"""Transactions: all of it or nothing, and what was processed once."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from ..journal import Ended, Sent
from ..stage import Outcome
from ..transactions import Processing
from .violation import Violation


def _by_transaction(outcome: Outcome) -> dict[int, list[Sent]]:
    sent: dict[int, list[Sent]] = defaultdict(list)
    for each in outcome.journal.of(Sent):
        if each.transaction is not None:
            sent[each.transaction].append(each)
    return sent


def _committed_marks(outcome: Outcome) -> Counter[bytes]:
    return Counter(each.mark for records in outcome.logs.values() for each in records if each.committed)


def _raised(sent: Sent) -> bool:
    """Whether the call of `send` itself raised: then the record never was in the transaction."""
    return sent.told is not None and sent.told.error is not None and sent.told.error.raised


def _may_be_deleted(outcome: Outcome, sent: Sent) -> bool:
    """Whether it may have been deleted with others, or with its topic."""
    start = outcome.log_starts.get((sent.topic, sent.partition), 0)
    offset = None if sent.told is None else sent.told.offset
    return sent.topic in outcome.deleted or (start > 0 and (offset is None or offset < start))


def committed_incomplete(outcome: Outcome) -> Iterator[Violation]:
    """`committed-incomplete`: a transaction was committed, and a record that was sent in it is not there."""
    visible, sent = _committed_marks(outcome), _by_transaction(outcome)
    for ended in outcome.journal.of(Ended):
        if not ended.commits or ended.error is not None:
            continue
        for each in sent[ended.transaction]:
            if visible[each.mark] or _raised(each) or _may_be_deleted(outcome, each):
                continue
            error = None if each.told is None else each.told.error
            if each.meanwhile and (each.told is None or error is not None):
                continue
            what = f"transaction {ended.transaction} was committed without record {each.number} ({error})"
            yield Violation("committed-incomplete", ended.user, what, (each.at, ended.at))


def aborted_visible(outcome: Outcome) -> Iterator[Violation]:
    """`aborted-visible`: a transaction was aborted, or its producer closed before its end, and consumers of
    committed records get a record of it."""
    visible, sent = _committed_marks(outcome), _by_transaction(outcome)
    ends = {each.transaction for each in outcome.journal.of(Ended)}
    for transaction in sent.keys() - ends:
        for each in sent[transaction]:
            if visible[each.mark]:
                what = f"transaction {transaction} was never committed, and record {each.number} is visible"
                yield Violation("aborted-visible", each.user, what, (each.at,))
    for ended in outcome.journal.of(Ended):
        if ended.commits or ended.error is not None:
            continue
        for each in sent[ended.transaction]:
            if visible[each.mark]:
                what = f"transaction {ended.transaction} was aborted, and record {each.number} is visible"
                yield Violation("aborted-visible", ended.user, what, (each.at, ended.at))


def processed_once(outcome: Outcome) -> Iterator[Violation]:
    """`processed-again`, `not-processed`: consumers that transform and produce have done it once for each."""
    processors = [user for user in outcome.plan.users if user.kind == Processing.kind]
    if not processors:
        return
    fields = processors[0].fields
    done: Counter[bytes] = Counter()
    for (topic, _), records in outcome.logs.items():
        if topic == fields["to"]:
            done.update(_input(each.value) for each in records if each.committed and each.value is not None)
    # A feeder that is not idempotent may write a record twice.
    given: Counter[bytes] = Counter()
    for (topic, _), records in outcome.logs.items():
        if topic == fields["from"]:
            given.update(each.value for each in records if each.value is not None)
    output = [partition for partition in outcome.logs if partition[0] == fields["to"]]
    incomplete = (
        fields["to"] in outcome.deleted
        or any(outcome.log_starts[each] for each in output)
        or "max.message.bytes" in outcome.plan.topic(fields["to"]).config
    )
    for (topic, partition), records in outcome.logs.items():
        if topic != fields["from"] or topic in outcome.deleted:
            continue
        for each in records:
            if each.value is None or not each.committed:
                continue
            where = f"{topic}-{partition} offset {each.offset}"
            if done[each.value] > given[each.value]:
                yield Violation("processed-again", "g", f"{where} was processed {done[each.value]} times")
            elif (
                not done[each.value]
                and not incomplete
                and _is_committed(outcome, topic, partition, each.offset)
            ):
                yield Violation("not-processed", "g", f"{where} is committed as read, its output is missing")


def _input(value: bytes) -> bytes:
    """What the record was made of: `number:input`."""
    return value.partition(b":")[2]


def _is_committed(outcome: Outcome, topic: str, partition: int, offset: int) -> bool:
    """Whether the group has committed an offset behind it."""
    return outcome.committed.get((topic, partition), 0) > offset
