"""A follower of a partition: its own log, and what the leader knows of it (`Replica.java`)."""

import enum
from typing import Final

from ..log.log import Log


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


HELD: Final = (
    FollowerState.PAUSED,
    FollowerState.SLOW,
    FollowerState.EXTERNAL,
)
"""States that last when another broker leads."""


NEVER_MS: Final = 0
"""When a follower was caught up that was not in the ISR as its leader began to lead."""


class Follower:
    """One follower. `end_offset` and `start_offset` are what its last fetch told the leader; `caught_up_ms`
    is when it last had all that the leader had; `failure` says why its fetcher died.

    `cut` tells whether it has cut its log for the present leader yet, where it does so before it fetches.
    `turn` changes whenever it is told how to fetch: an answer to what it asked before is not for it.
    """

    __slots__ = (
        "broker",
        "caught_up_ms",
        "cut",
        "delay_ms",
        "end_offset",
        "failure",
        "fetched_ms",
        "leader_end_at_fetch",
        "log",
        "start_offset",
        "state",
        "turn",
    )

    def __init__(self, broker: int, log: Log, now_ms: int) -> None:
        self.broker = broker
        self.log = log
        self.state = FollowerState.BEHIND
        self.cut = False
        self.delay_ms = 0
        self.turn = 0
        self.failure = ""
        self.end_offset = log.end_offset
        self.start_offset = log.start_offset
        self.caught_up_ms = now_ms
        self.fetched_ms = now_ms
        self.leader_end_at_fetch = log.end_offset

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

    def fail(self, reason: str) -> None:
        self.state = FollowerState.FAILED
        self.failure = reason
