"""What members of all groups have: a name, and a session."""

import uuid
from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..environment import Environment, Timer
from ..policies.groups.null_client_id import null_client_id
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.primitives import short_uuid
from .home import Request


class Claim(NamedTuple):
    """Which member a request says that it comes from, and in which generation or member epoch (-1: none)."""

    generation: int
    member_id: str
    instance_id: str | None

    @property
    def names_nobody(self) -> bool:
        return not self.member_id and self.instance_id is None


def client_name(call: Request) -> str:
    """How a member is named by its client id."""
    return call.policies[null_client_id] if call.client_id is None else call.client_id


def new_uuid(environment: Environment) -> uuid.UUID:
    """What a member's id is made of."""
    return uuid.UUID(bytes=environment.random("member ids").randbytes(16), version=4)


def new_member_id(environment: Environment) -> str:
    """What the coordinator calls a member of a consumer group that has no id. None begins with a dash, lest
    it looks like an option (`Uuid.randomUuid`)."""
    while (member_id := short_uuid(new_uuid(environment))).startswith("-"):
        pass
    return member_id


class HasEpochs(Protocol):
    @property
    def epoch(self) -> int: ...

    @property
    def previous_epoch(self) -> int: ...


def check_epoch(kind: str, member: HasEpochs, epoch: int, may_be_late: Callable[[], bool]) -> None:
    """ApiError FENCED_MEMBER_EPOCH unless it is the epoch of a member of a `kind` of group, or its previous
    one, if it `may_be_late`: the answer with its epoch may have been lost
    (`throwIfConsumerGroupMemberEpochIsInvalid`)."""
    if epoch == member.epoch:
        return
    # Of one that left for a while the previous epoch is greater.
    if epoch == member.previous_epoch and epoch < member.epoch and may_be_late():
        return
    which = "greater" if epoch > member.epoch else "smaller"
    raise ApiError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The {kind} group member has a {which} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def _nothing() -> None:
    """Expires nothing."""


class Session:
    """How long a member may be silent. `renew` is cheap: a running timer is moved only when it fires."""

    __slots__ = ("_environment", "_expire", "_heard_ms", "_timer", "deadline_ms")

    def __init__(self, environment: Environment, expire: Callable[[], None]) -> None:
        self._environment = environment
        self._expire = expire
        self._timer: Timer | None = None
        self.deadline_ms = 0
        self._heard_ms = 0

    @property
    def silent_ms(self) -> int:
        """How long the member has been silent, by a clock that goes on while the cluster's stands still."""
        return self._environment.timers.waited_ms - self._heard_ms

    def renew(self, timeout_ms: int) -> None:
        self.deadline_ms = self._environment.now_ms + timeout_ms
        self._heard_ms = self._environment.timers.waited_ms
        if self._timer is not None:
            if self._timer.deadline_ms <= self.deadline_ms:
                return
            self._timer.cancel()
        self._timer = self._environment.after(timeout_ms, self._fired)

    def end(self) -> None:
        """Ends for good."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # It leads to its member, which leads to it: neither would go before a full collection of garbage.
        self._expire = _nothing

    def _fired(self) -> None:
        self._timer = None
        left_ms = self.deadline_ms - self._environment.now_ms
        if left_ms > 0:
            self._timer = self._environment.after(left_ms, self._fired)
        else:
            self._expire()
