"""A follower: the states of its fetching, and what its leader knows of it (`Replica.java`)."""

import enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .partition import Partition


class FollowerState(enum.Enum):
    """Whether a follower fetches, and if not, why."""

    IN_STEP = "has all that the leader has, and takes each batch as it is appended"
    BEHIND = "fetches to catch up"
    SLOW = "fetches, but each fetch takes its time"
    PAUSED = "does not fetch"
    EXTERNAL = "a client fetches in its place"
    FAILED = "its fetcher died"
    CUT_OFF = "can't reach the leader, or has not heard of it"
    OFFLINE = "its broker is down"


class FollowerEvent(enum.Enum):
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
"""What is not here does not happen: a fetcher that died stays dead in its leader epoch."""

NEVER_MS: Final = 0
"""When a follower was caught up that was not in the ISR as its leader began to lead."""
UNKNOWN_OFFSET: Final = -1


class Follower:
    """What a leader knows of one follower. `end_offset` and `start_offset` are what its last fetch told;
    `caught_up_ms` is when it last had all that the leader had.

    `replica` takes each batch as it is appended: it is in step.
    """

    __slots__ = (
        "broker",
        "caught_up_ms",
        "end_offset",
        "fetched_ms",
        "leader_end_at_fetch",
        "replica",
        "start_offset",
    )

    def __init__(self, broker: int, caught_up_ms: int, leader_end: int) -> None:
        self.broker = broker
        self.replica: Partition | None = None
        self.end_offset = UNKNOWN_OFFSET
        self.start_offset = UNKNOWN_OFFSET
        self.caught_up_ms = caught_up_ms
        self.fetched_ms = caught_up_ms
        self.leader_end_at_fetch = leader_end

    def fetched(self, offset: int, log_start_offset: int, leader_end: int, now_ms: int) -> None:
        """The leader hears of a fetch at `offset` (`Replica.updateFetchStateOrThrow`)."""
        if offset >= leader_end:
            self.caught_up_ms = now_ms
        elif offset >= self.leader_end_at_fetch:
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.end_offset = offset
        self.start_offset = log_start_offset
        self.leader_end_at_fetch = leader_end
        self.fetched_ms = now_ms
