"""The states of a record in a share group, and the events that lead from one to the next.

A share group has each record of a partition from its start offset (SPSO) on in one of five states. Below the
start offset everything is done, above the end offset (SPEO) nothing has been delivered yet. What lies between
is in flight. A record is acquired by one member at a time, for as long as its lock lasts; the delivery count
says how often. The table has what may happen, and this is who may cause it:

- a member: acquires by ShareFetch; accepts, rejects, releases and renews what it has, by ShareAcknowledge or
  ShareFetch
- the end of a share session: releases what its member has
- time: releases what was not acknowledged before its lock ended
- the log: its start offset moves past records, or compaction removes the batch in which they were

Whoever releases a record that was delivered as often as the group allows archives it. A record that is
acknowledged or archived stays so, and the start offset moves past it once nothing before it is left. If the
group has a dead letter topic, a record that is rejected, or was delivered as often as it may be, is written
there before it is archived (KIP-1191).

Durable is what the share coordinator wrote: the start offset, and the states and delivery counts after an
acknowledgement, a release or the end of a lock. That a record is acquired, by whom and until when, is never
written: a new leader has such a record available, with the delivery count that was written last, and none if
none was.

(`RecordState.java`, `InFlightState.java`, `SharePartition.java` of 4.3.1)
"""

import enum
from typing import Final


class RecordState(enum.Enum):
    """Its value is Kafka's id in `__share_group_state`."""

    __hash__ = object.__hash__

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVING = 3
    ARCHIVED = 4

    @property
    def final(self) -> bool:
        return self in FINAL


class RecordEvent(enum.Enum):
    __hash__ = object.__hash__

    ACQUIRE = "is delivered to a member"
    ACCEPT = "its member has processed it"
    RELEASE = "its member, the end of its session or the end of its lock lets it go"
    REJECT = "its member will never be able to process it"
    SKIP = "its member found no record at its offset"
    RENEW = "its member needs more time"
    EXHAUST = "is let go, and was delivered as often as it may be"
    SET_ASIDE = "is rejected or exhausted, and goes to a dead letter topic first"
    ARCHIVE = "is in the dead letter topic, or can't be written there"
    REMOVE = "is not in the log any more"


_S, _E = RecordState, RecordEvent
TRANSITIONS: Final[dict[RecordState, dict[RecordEvent, RecordState]]] = {
    _S.AVAILABLE: {_E.ACQUIRE: _S.ACQUIRED, _E.REMOVE: _S.ARCHIVED},
    _S.ACQUIRED: {
        _E.ACCEPT: _S.ACKNOWLEDGED,
        _E.RELEASE: _S.AVAILABLE,
        _E.REJECT: _S.ARCHIVED,
        _E.SKIP: _S.ARCHIVED,
        _E.RENEW: _S.ACQUIRED,
        _E.EXHAUST: _S.ARCHIVED,
        _E.SET_ASIDE: _S.ARCHIVING,
        _E.REMOVE: _S.ARCHIVED,
    },
    _S.ARCHIVING: {_E.ARCHIVE: _S.ARCHIVED},
    _S.ACKNOWLEDGED: {},
    _S.ARCHIVED: {},
}
"""Transitions that are not in the table do not happen. An acquired record is removed only when it is let go:
until then its member may be at work on it."""

FINAL: Final = frozenset(state for state, events in TRANSITIONS.items() if not events)

ACKNOWLEDGEMENTS: Final = {0: _E.SKIP, 1: _E.ACCEPT, 2: _E.RELEASE, 3: _E.REJECT, 4: _E.RENEW}
"""What the acknowledge types of a request mean; 0 is an offset without a record."""
