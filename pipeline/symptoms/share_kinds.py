"""Symptoms of share groups (KIP-932)."""

from typing import Final

from ..deletions import BY_REQUEST, BY_RETENTION
from ..ledgers import OR_REJECTED, Note
from ..readers.log_spans import CONTROLLER
from ..signature import BROKERS, CLIENT, COORDINATORS
from .kind import MINUTE_MS, Kind, at, lasts, offsets, records, span, took

_HOW: Final = {BY_REQUEST: "deleted by request", BY_RETENTION: "deleted by retention"}


def _of(note: Note) -> str:
    """`3 records of orders-0`."""
    first, last = span(note)
    return f"{records(note.number or last - first + 1)} of {at(note)}"


def _where(note: Note) -> str:
    first, last = span(note)
    among = note.number is not None and note.number <= last - first
    return f"{'among ' * among}{offsets(first, last)}"


def _skipped(note: Note) -> str:
    return f"share group {note.group} never got {_of(note)}: {_where(note)}"


def _passed(note: Note) -> str:
    return f"share group {note.group} went past {_of(note)} that nobody had acknowledged: {_where(note)}"


def _worn(note: Note) -> str:
    """States of records don't tell what a member said of them."""
    times, _, perhaps = (note.detail or "").partition(" ")
    up = f"up, {OR_REJECTED}," if perhaps else "up"
    return f"share group {note.group} gave {up} {_of(note)} after {times} deliveries: {_where(note)}"


def _deleted(note: Note) -> str:
    said = note.detail or ""
    how = next((words for begin, words in _HOW.items() if said.startswith(begin)), "deleted")
    when = f"when {'it was' if note.end_offset == (note.offset or 0) + 1 else 'they were'} {how}"
    return f"share group {note.group} had not acknowledged {_of(note)} {when}: {_where(note)}"


def _set_back(note: Note) -> str:
    back = f"was set back from {note.end_offset} to {note.offset} in {at(note)}"
    again = records((note.end_offset or 0) - (note.offset or 0))
    return f"share group {note.group} {back}, and is given up to {again} again"


def _again(note: Note) -> str:
    return f"share group {note.group} was given {_of(note)} again that it had accepted: {_where(note)}"


def _stands(note: Note) -> str:
    return f"share group {note.group} was given nothing of {at(note)} for {took(note)}, and {_left(note)}"


def _left(note: Note) -> str:
    return f"{_of(note)} {'is' if note.number == 1 else 'are'} there: {_where(note)}"


def _locked(note: Note) -> str:
    stood = f"for {took(note)} after their member had ended its share session"
    return f"share group {note.group} could not have {_of(note)} {stood}: {_where(note)}"


def _back(note: Note) -> str:
    back = f"went back from {note.end_offset} to {note.offset}, behind the log start offset"
    return f"the start offset of share group {note.group} in {at(note)} {back}"


def _ignored(note: Note) -> str:
    instead = "no answer says so" if note.detail else f"went on at {note.end_offset}"
    return f"share group {note.group} was told to begin at {note.offset} in {at(note)}, and {instead}"


KINDS: Final = (
    Kind(
        "share-records-skipped",
        "share-skipped",
        "the start offset of a share group went past records that no member was given, or it began after "
        "them in a partition that its topic was given later",
        _skipped,
        (BROKERS, COORDINATORS),
    ),
    Kind(
        "share-records-passed",
        "share-passed",
        "the start offset of a share group went past records that a member was given once, and said nothing "
        "of; by files of brokers, which don't tell what members are given, any that nobody has acknowledged",
        _passed,
        (BROKERS, COORDINATORS),
    ),
    Kind(
        "share-records-deleted",
        "share-deleted",
        "the start offset of a share group went past records that were deleted before its members had "
        "acknowledged them",
        _deleted,
        (BROKERS, CONTROLLER),
    ),
    Kind(
        "share-offset-back",
        "share-set-back",
        "somebody set a share group back, so that it is given records again that it was done with",
        _set_back,
        (COORDINATORS,),
    ),
    Kind(
        "share-records-given-up",
        "share-worn",
        "a share group gave up records, since they had been delivered as often as they may be; files of "
        "brokers don't tell whether a member rejected them in the end",
        _worn,
        (CLIENT, BROKERS),
    ),
    Kind(
        "share-records-again",
        "share-again",
        "a share group was given records again of which a member was told that it had accepted them",
        _again,
        (BROKERS, COORDINATORS),
    ),
    Kind(
        "share-stands",
        "share-stands",
        "a member of a share group asks for a minute and is given nothing of a partition, although records "
        "are there",
        _stands,
        (BROKERS, CLIENT),
        lasts(MINUTE_MS),
    ),
    Kind(
        "share-records-locked",
        "share-locked",
        "records stay locked for ten seconds and more for a member that has ended its share session",
        _locked,
        (BROKERS,),
    ),
    Kind(
        "share-start-back",
        "share-start-back",
        "the start offset of a share group goes back behind the log start offset, which the same leader had "
        "reached",
        _back,
        (BROKERS,),
    ),
    Kind(
        "share-offset-ignored",
        "share-offset-ignored",
        "a share group was told where to begin, and goes on elsewhere, or the answer says nothing of the "
        "partition",
        _ignored,
        (COORDINATORS, BROKERS),
    ),
)
