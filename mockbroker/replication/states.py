"""The states of a follower's fetcher, and the events that lead from one to the next.

A follower is in step with its leader, or fetches to be so again, or is kept from fetching: by a user
(paused, slow, replaced by a client), by the network or by what brokers have not heard yet (cut off), by an
error of its own (failed), or because its broker is down. Only a follower in step is given each batch at the
moment of the append; all others have to fetch it. A user's choice outlasts the next leader epoch. A fetcher
that failed is started again by the next leader epoch or a restart of its broker, and by nothing else.
"""

import enum
from typing import Final


class FollowerState(enum.Enum):
    """Whether a follower fetches, and if not, why."""

    # Used as a key in a table at every step: Enum's own hash is computed in Python.
    __hash__ = object.__hash__

    IN_STEP = "has all that the leader has, and takes each batch as it is appended"
    BEHIND = "fetches to catch up"
    SLOW = "fetches, but each fetch takes its time"
    PAUSED = "does not fetch"
    EXTERNAL = "a client fetches in its place"
    FAILED = "its fetcher died"
    CUT_OFF = "can't reach the leader, or has not heard of it"
    OFFLINE = "its broker is down"


class FollowerEvent(enum.Enum):
    __hash__ = object.__hash__

    RESUME = "is to fetch as ever"
    SLOW_DOWN = "is to fetch slowly"
    PAUSE = "is to fetch no more"
    REPLACE = "a client fetches in its place"
    CATCH_UP = "has all that the leader has"
    LOSE = "can't reach its leader, or one of the two has not heard of the other"
    FAIL = "its fetcher dies"
    FOLLOW = "hears of the next leader epoch"
    STOP = "its broker goes down"
    START = "its broker is back"


_S, _E = FollowerState, FollowerEvent
_FETCHES: Final = {
    _E.RESUME: _S.BEHIND,
    _E.SLOW_DOWN: _S.SLOW,
    _E.PAUSE: _S.PAUSED,
    _E.REPLACE: _S.EXTERNAL,
    _E.LOSE: _S.CUT_OFF,
    _E.FAIL: _S.FAILED,
    _E.FOLLOW: _S.BEHIND,
    _E.STOP: _S.OFFLINE,
}
TRANSITIONS: Final[dict[FollowerState, dict[FollowerEvent, FollowerState]]] = {
    _S.IN_STEP: _FETCHES,
    _S.BEHIND: {**_FETCHES, _E.CATCH_UP: _S.IN_STEP},
    _S.SLOW: {**_FETCHES, _E.FOLLOW: _S.SLOW},
    _S.PAUSED: {**_FETCHES, _E.FOLLOW: _S.PAUSED},
    _S.EXTERNAL: {**_FETCHES, _E.SLOW_DOWN: _S.EXTERNAL, _E.FOLLOW: _S.EXTERNAL},
    _S.FAILED: {_E.FOLLOW: _S.BEHIND, _E.STOP: _S.OFFLINE},
    _S.CUT_OFF: _FETCHES,
    _S.OFFLINE: {_E.START: _S.BEHIND},
}
"""Transitions that are not in the table do not happen: a fetcher that died stays dead in its leader epoch."""
