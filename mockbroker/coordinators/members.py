"""A member of a classic group (`MemberMetadata.scala`, `ClassicGroupMember.java`)."""

import uuid
from collections.abc import Callable, Collection, Sequence

from ..environment import Environment, Timer
from ..policies.groups.null_client_id import null_client_id
from ..protocol.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from ..protocol.messages.sync_group import SyncGroupResponse
from ..protocol.primitives import short_uuid
from .home import Request
from .reply import Reply


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
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fired(self) -> None:
        self._timer = None
        left_ms = self.deadline_ms - self._environment.now_ms
        if left_ms > 0:
            self._timer = self._environment.after(left_ms, self._fired)
        else:
            self._expire()


class Member:
    """One member: its identity, its protocols, and its waiting requests. Times in ms."""

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "id",
        "instance_id",
        "is_new",
        "join",
        "protocols",
        "rebalance_timeout_ms",
        "session",
        "session_timeout_ms",
        "sync",
    )

    def __init__(
        self,
        member_id: str,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        session: Session,
    ) -> None:
        self.id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.session = session
        self.protocols: Sequence[JoinGroupRequestProtocol] = ()
        self.rebalance_timeout_ms = 0
        self.session_timeout_ms = 0
        self.assignment = b""
        self.join: Reply[JoinGroupResponse] | None = None
        self.sync: Reply[SyncGroupResponse] | None = None
        self.is_new = True

    @property
    def may_be_silent(self) -> bool:
        """Whether it waits for an answer and so needs no heartbeat; a new member must get the answer in time
        too."""
        return not self.is_new and (self.join is not None or self.sync is not None)

    def metadata(self, protocol: str) -> bytes:
        return next(p.metadata for p in self.protocols if p.name == protocol)

    def matches(self, protocols: Sequence[JoinGroupRequestProtocol]) -> bool:
        """Whether `protocols` are the same, in the same order, with the same metadata."""
        return len(protocols) == len(self.protocols) and all(
            mine.name == other.name and mine.metadata == other.metadata
            for mine, other in zip(self.protocols, protocols, strict=True)
        )

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate that it prefers."""
        return next(p.name for p in self.protocols if p.name in candidates)
