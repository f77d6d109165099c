"""A member of a classic group (`MemberMetadata.scala`, `ClassicGroupMember.java`)."""

from collections.abc import Collection, Sequence

from ...protocol.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from ...protocol.messages.sync_group import SyncGroupResponse
from ..members import Session
from ..reply import Reply


class ClassicMember:
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
