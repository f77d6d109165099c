"""The symptoms: of what ledgers note each is made, how it is told, and where its cause would be."""

from typing import Final

from ..ledgers import Note
from ..ledgers.members import LOSES
from ..readers.coordinator_messages import SILENT
from ..readers.log_spans import CONTROLLER
from ..signature import BROKERS, CLIENT, COORDINATORS, OFFSETS
from . import broker_kinds, share_kinds
from .kind import (
    HALF_A_MINUTE_MS,
    MINUTE_MS,
    TEN_MINUTES_MS,
    THROTTLED,
    UNREAD,
    Kind,
    at,
    lasts,
    offsets,
    records,
    span,
    took,
    took_ms,
    who,
)

_ALIVE: Final = 3
"""Commits by which a group shows that it lives."""
_BEHIND: Final = 100
"""Records by which a group has to fall behind."""
_EPOCHS: Final = 10
"""New epochs of a group after another one, although neither its members nor its topics changed."""


def _times(note: Note) -> str:
    return "" if note.number in (None, 1) else f" ({note.number} times)"


def _skipped(note: Note) -> str:
    first, last = span(note)
    return f"{who(note)} never got {records(last - first + 1)} of {at(note)}: {offsets(first, last)}"


def _position_back(note: Note) -> str:
    first, last = span(note)
    return f"{who(note)} went back from {last + 1} to {first} in {at(note)}, by {records(last - first + 1)}"


def _commit_back(note: Note) -> str:
    first, last = span(note)
    back = f"went back from {last + 1} to {first}"
    return f"the committed offset of {who(note)} for {at(note)} {back}, by {records(last - first + 1)}"


def _commit_missing(note: Note) -> str:
    return f"{who(note)} was told that it has no offset of {at(note)}, and it had committed {note.offset}"


def _position_lost(note: Note) -> str:
    went = (
        "began elsewhere"
        if note.detail is None
        else f"went on at the {note.detail.removesuffix(' offset')} offset"
    )
    return f"{who(note)} gave up its position {note.offset} of {at(note)}, and {went}"


def _out_of_range(note: Note) -> str:
    position = "position" if note.offset is None else f"position {note.offset}"
    return f"{who(note)} could not read on: its {position} of {at(note)} is out of range"


def _missing(note: Note) -> str:
    first, last = span(note)
    gone = f"{last - first + 1:,} acknowledged record{'s' * (last != first)}"
    return f"{gone} of {at(note)} {'are' if last != first else 'is'} gone: {offsets(first, last)}"


def _twice(note: Note) -> str:
    first, last = span(note)
    count = note.number or last - first + 1
    return (
        f"{records(count)} of producer {note.producer_id} are in {at(note)} twice, again from offset {first}"
    )


def _open(note: Note) -> str:
    stood = f"for {took(note)}"
    whose = "" if note.producer_id is None else f" of producer {note.producer_id}"
    begun = f"a transaction{whose} was open from there on"
    return f"the last stable offset of {at(note)} stood still at {note.offset} {stood}: {begun}"


def _stands(note: Note) -> str:
    end = "" if note.end_offset is None else f", and the log goes to {note.end_offset}"
    if note.detail == UNREAD:
        last = f"committed nothing of {at(note)} for {took(note)}, after {note.offset}"
        return f"{who(note)} {last}, although it went on in other partitions{end}"
    stood = f"committed {note.offset} of {at(note)} again and again for {took(note)}"
    return f"{who(note)} {stood}{end}"


def _grows(note: Note) -> str:
    behind = (note.end_offset or 0) - (note.offset or 0)
    fell = f"from {behind - (note.number or 0):,} to {behind:,} records"
    lasted = f"for {took_ms(note) // 60_000} min"
    why = "while its client was throttled" if note.detail == THROTTLED else "although it went on"
    return f"{who(note)} fell behind in {at(note)} {lasted}, {fell}, {why}"


def _is_behind(note: Note) -> bool:
    least = MINUTE_MS if note.detail == THROTTLED else TEN_MINUTES_MS
    return took_ms(note) >= least and (note.number or 0) >= _BEHIND


def _given_again(note: Note) -> str:
    first, last = span(note)
    return f"{who(note)} was given {records(last - first + 1)} of {at(note)} again: {offsets(first, last)}"


def _no_leader(note: Note) -> str:
    lasted = "" if note.to_ms is None else f" for {took(note)}"
    return f"{at(note)} had no leader{lasted}"


def _partition_refused(note: Note) -> str:
    return f"{at(note)} refused producers for {took(note)} with {note.detail}{_times(note)}"


def _producer_refused(note: Note) -> str:
    if note.transactional_id is not None:
        whose = f"the producer of transactional id {note.transactional_id}"
    elif note.producer_id is not None:
        whose = f"producer {note.producer_id}"
    elif note.client is not None:
        whose = f"the producer of client {note.client}"
    else:
        whose = f"a producer of {at(note)}"
    return f"{whose} was refused for good with {note.detail}{_times(note)}"


def _member_refused(note: Note) -> str:
    return f"a member of group {note.group} was refused with {note.detail}{_times(note)}"


def _commit_refused(note: Note) -> str:
    of = "" if note.topic is None else f" for {at(note)}"
    return f"the commit of {who(note)}{of} was refused, since the group had gone on without it{_times(note)}"


def _member_fenced(note: Note) -> str:
    return f"member {note.client} of group {note.group} was put out, and did not join again: {note.detail}"


def _unsettled(note: Note) -> str:
    lasted = f"in {took(note)}"
    if note.detail == SILENT:
        lost = f"lost {note.number} members one after the other {lasted}"
        return f"group {note.group} {lost}: their sessions expired"
    return f"group {note.group} had {note.number} more new epochs {lasted}, and no member joined or left"


def _rebalance(note: Note) -> str:
    return f"group {note.group} was rebalancing for {took(note)}"


_OF_LOSS: Final = (CONTROLLER, BROKERS)
_OF_OFFSETS: Final = (OFFSETS, COORDINATORS, CLIENT)
KINDS: Final = (
    Kind(
        "acknowledged-missing",
        "acknowledged-missing",
        "records that a group or a broker's high watermark had passed are not there any more",
        _missing,
        _OF_LOSS,
        of_partition=True,
    ),
    Kind(
        "records-skipped",
        "records-skipped",
        "a group, or a client, went on after records that it had not got",
        _skipped,
        (BROKERS, CONTROLLER, OFFSETS),
    ),
    Kind(
        "position-back",
        "position-back",
        "a client was set back to before where it was, or was given an older offset than the group's last",
        _position_back,
        (*_OF_OFFSETS, *_OF_LOSS),
        wide=True,
    ),
    Kind(
        "commit-back",
        "commit-back",
        "a group's committed offset became a lower one, and was not overtaken by that on its way",
        _commit_back,
        _OF_OFFSETS,
        wide=True,
    ),
    Kind(
        "commit-missing",
        "commit-missing",
        "a client was told that there is no committed offset, although its group had committed one",
        _commit_missing,
        _OF_OFFSETS,
        wide=True,
    ),
    Kind(
        "position-lost",
        "reset",
        "a client gave up its position, and its log does not say what it has instead",
        _position_lost,
        (BROKERS, CONTROLLER),
    ),
    Kind(
        "out-of-range",
        "out-of-range",
        "a client's position is out of range, and nothing tells that it got another one",
        _out_of_range,
        (BROKERS, CONTROLLER, CLIENT),
    ),
    Kind(
        "written-twice",
        "written-twice",
        "a producer's batch is in the log twice, with the same sequence number",
        _twice,
        (BROKERS,),
        of_partition=True,
    ),
    Kind(
        "last-stable-offset-stands",
        "transaction-open",
        "a transaction stays open, or is aborted in the end, while the log goes on for a minute: until then "
        "nothing after it is given to read_committed consumers",
        _open,
        (COORDINATORS,),
        lasts(MINUTE_MS),
        of_partition=True,
    ),
    Kind(
        "lag-stands",
        "stands-still",
        "a group commits the same offset for a minute and more, or none while it goes on in other "
        "partitions, until the end of the files, although the log goes on",
        _stands,
        (CLIENT, BROKERS),
        lambda note: took_ms(note) >= MINUTE_MS and (note.number or 0) >= _ALIVE,
    ),
    Kind(
        "lag-grows",
        "lag-grows",
        "a group falls further and further behind for ten minutes and more, or for one while its client is "
        "throttled, until the end of the files, although it commits higher and higher offsets",
        _grows,
        (CLIENT, BROKERS),
        _is_behind,
    ),
    Kind(
        "records-again",
        "given-again",
        "a group was given records again that it had committed, as traces and captures tell",
        _given_again,
        (*_OF_OFFSETS, *_OF_LOSS),
        wide=True,
    ),
    Kind(
        "no-leader",
        "no-leader",
        "a partition has no leader for half a minute",
        _no_leader,
        (CONTROLLER,),
        lasts(HALF_A_MINUTE_MS),
        of_partition=True,
    ),
    Kind(
        "producers-refused",
        "producers-refused",
        "a partition refuses producers for half a minute",
        _partition_refused,
        _OF_LOSS,
        lasts(HALF_A_MINUTE_MS),
        of_partition=True,
    ),
    Kind(
        "producer-refused",
        "producer-refused",
        "a producer is refused with an error after which it gives up, or is not seen to write again",
        _producer_refused,
        (BROKERS,),
        wide=True,
    ),
    Kind(
        "member-refused",
        "member-refused",
        "a coordinator refuses a member with an error after which it does not simply join again",
        _member_refused,
        (COORDINATORS, CLIENT),
        wide=True,
    ),
    Kind(
        "commit-refused",
        "commit-refused",
        "a client was told that its commit failed, because its group had gone on without it: what it had "
        "processed is read again",
        _commit_refused,
        (CLIENT, COORDINATORS),
        wide=True,
    ),
    Kind(
        "member-fenced",
        "member-fenced",
        "a coordinator puts a member out of its group, and it does not join again",
        _member_fenced,
        (CLIENT,),
        wide=True,
    ),
    Kind(
        "group-unsettled",
        "unsettled",
        f"a group has {_EPOCHS} new epochs one after the other, although neither members nor topics change, "
        f"or {LOSES} members and more whose sessions expire over half a minute",
        _unsettled,
        (COORDINATORS, CLIENT),
        lambda note: (note.number or 0) >= _EPOCHS or note.detail == SILENT,
        wide=True,
    ),
    Kind(
        "rebalance-long",
        "rebalance",
        "a rebalance takes a minute and more",
        _rebalance,
        (CLIENT, COORDINATORS),
        lasts(MINUTE_MS),
        wide=True,
    ),
    *share_kinds.KINDS,
    *broker_kinds.KINDS,
)
