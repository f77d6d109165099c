"""The kinds of groups, and what the coordinator asks of each."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..protocol.errors import ErrorCode
from ..protocol.messages.heartbeat import HeartbeatRequest
from ..protocol.messages.join_group import JoinGroupRequest
from ..protocol.messages.leave_group import MemberIdentity, MemberResponse
from ..protocol.messages.sync_group import SyncGroupRequest
from .loading import LoadedGroup
from .members import Claim
from .offsets import Key
from .reply import Joining, Syncing

if TYPE_CHECKING:
    from .classic.group import ClassicGroup
    from .consumer.group import ConsumerGroup
    from .share.group import ShareGroup
    from .streams.group import StreamsGroup

    Group = ClassicGroup | ConsumerGroup | ShareGroup | StreamsGroup

G = TypeVar("G")


class Kind(Protocol[G]):
    """The groups of one kind on one broker: `ClassicGroups`, `ConsumerGroups`, `ShareGroups`,
    `StreamsGroups`. `partitions` are those whose offsets are committed."""

    def restore(self, group_id: str, partition: int, found: LoadedGroup) -> G:
        """A group as its records say; its sessions have not begun."""

    def loaded(self, group: G) -> None:
        """The broker coordinates the group from now on: sessions begin."""

    def stop(self, group: G) -> None:
        """Ends the group's timers."""

    def resign(self, group: G) -> None:
        """Another broker coordinates the group: requests that wait get NOT_COORDINATOR."""

    def end_session(self, group: G, member_id: str) -> None:
        """The member was silent for too long."""

    def join(self, group: G, request: JoinGroupRequest, reply: Joining) -> None: ...

    def sync(self, group: G, request: SyncGroupRequest, reply: Syncing) -> None: ...

    def heartbeat(self, group: G, request: HeartbeatRequest) -> ErrorCode: ...

    def leave(self, group: G, leaving: Sequence[MemberIdentity]) -> list[MemberResponse]: ...

    def check_commit(self, group: G, claim: Claim, version: int, partitions: Iterable[Key]) -> ErrorCode: ...

    def check_transactional_commit(self, group: G, claim: Claim, partitions: Iterable[Key]) -> ErrorCode: ...

    def check_fetch(self, group: G, epoch: int, member_id: str | None) -> ErrorCode: ...
