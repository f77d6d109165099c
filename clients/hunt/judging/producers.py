"""What producers were told about their records, and what is in the log."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from mockbroker.protocol.errors import ErrorCode

from ..journal import Opened, Partition, Refused, Sent
from ..stage import Outcome
from .violation import Violation

DEFINITE: Final = frozenset(
    {
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.INVALID_RECORD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.INVALID_REQUIRED_ACKS,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
        ErrorCode.POLICY_VIOLATION,
    }
)
"""Errors after which a record is not in the log, and never will be. After any other it may be."""


def _places(outcome: Outcome) -> dict[bytes, list[tuple[Partition, int, bool]]]:
    """Where each record is, by its mark: partition, offset, and whether a consumer of committed records gets
    it."""
    places: dict[bytes, list[tuple[Partition, int, bool]]] = defaultdict(list)
    for partition, records in outcome.logs.items():
        for each in records:
            places[each.mark].append((partition, each.offset, each.committed))
    return places


def _acks(outcome: Outcome) -> dict[str, bool]:
    """Whether a handle's records are acknowledged by all in-sync replicas."""
    return {e.handle: str(e.config.get("acks")) in ("all", "-1") for e in outcome.journal.of(Opened)}


def _idempotent(outcome: Outcome) -> set[str]:
    return {
        e.handle
        for e in outcome.journal.of(Opened)
        if e.config.get("enable.idempotence") or "transactional.id" in e.config
    }


def acknowledged_lost(outcome: Outcome) -> Iterator[Violation]:
    """`acknowledged-lost`: a record was acknowledged with acks=all, and is not in the log."""
    places, acks = _places(outcome), _acks(outcome)
    for sent in outcome.journal.of(Sent):
        told = sent.told
        if (
            told is None
            or told.error is not None
            or not acks.get(sent.handle)
            or sent.topic in outcome.deleted
        ):
            continue
        start = outcome.log_starts.get((sent.topic, sent.partition), 0)
        below = told.offset is not None and told.offset < start
        if not below and not places.get(sent.mark):
            where = f"{sent.topic}-{sent.partition}"
            what = f"record {sent.number} was acknowledged at offset {told.offset}, and is not in {where}"
            yield Violation("acknowledged-lost", sent.user, what, (sent.at, told.at))


def refused_but_written(outcome: Outcome) -> Iterator[Violation]:
    """`refused-but-written`: an error that means "not written", and yet consumers get the record. If an
    answer was lost before, the error may be one of a repetition."""
    places = _places(outcome)
    lost = [(e.user, e.at) for e in outcome.journal.of(Refused) if e.lost and e.api == "Produce"]
    for sent in outcome.journal.of(Sent):
        told = sent.told
        if told is None or told.error is None or told.error.code not in DEFINITE:
            continue
        if any(user == sent.user and sent.at < at < told.at for user, at in lost):
            continue
        if any(committed for _, _, committed in places.get(sent.mark, ())):
            what = f"record {sent.number} is in the log, although the client said {told.error}"
            yield Violation("refused-but-written", sent.user, what, (sent.at, told.at))


def duplicated(outcome: Outcome) -> Iterator[Violation]:
    """`duplicated`: an idempotent producer has written a record more than once."""
    places, idempotent = _places(outcome), _idempotent(outcome)
    for sent in outcome.journal.of(Sent):
        found = places.get(sent.mark, ())
        if sent.handle in idempotent and len(found) > 1:
            offsets = ", ".join(str(offset) for _, offset, _ in found)
            what = f"record {sent.number} is in {sent.topic}-{sent.partition} at {offsets}"
            yield Violation("duplicated", sent.user, what, (sent.at,))


def out_of_order(outcome: Outcome) -> Iterator[Violation]:
    """`out-of-order`: an idempotent producer has written records in another order than they were sent."""
    places, idempotent = _places(outcome), _idempotent(outcome)
    highest: dict[tuple[str, Partition], tuple[int, int]] = {}
    for sent in outcome.journal.of(Sent):
        if sent.handle not in idempotent or not places.get(sent.mark):
            continue
        partition, offset, _ = places[sent.mark][0]
        before = highest.get((sent.handle, partition))
        if before is not None and offset < before[0]:
            what = f"record {sent.number} is at {offset}, before record {before[1]}, which was sent earlier"
            yield Violation("out-of-order", sent.user, what, (sent.at,))
        else:
            highest[sent.handle, partition] = offset, sent.number
