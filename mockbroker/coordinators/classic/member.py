"""A member of a classic group (`MemberMetadata.scala`, `ClassicGroupMember.java`)."""

from collections.abc import Collection

from ...protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ...protocol.messages.sync_group import SyncGroupResponse
from ..members import Session
from ..reply import Reply

Protocols = tuple[tuple[str, bytes], ...]
"""Names of protocols with their metadata, the preferred one first."""


def protocols_of(request: JoinGroupRequest) -> Protocols:
    return tuple((each.name, bytes(each.metadata)) for each in request.protocols)


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
        self.protocols: Protocols = ()
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
        return next(metadata for name, metadata in self.protocols if name == protocol)

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate that it prefers."""
        return next(name for name, _ in self.protocols if name in candidates)
