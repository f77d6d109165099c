"""What becomes of streams groups is written, as long as this broker coordinates them."""

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...environment import Environment
from ...portions import Parts, at_once
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ..group_records import Pairs
from ..home import Home
from .group import StreamsGroup
from .records import changes

if TYPE_CHECKING:
    from ..group_shard import GroupShard
    from ..group_shards import GroupShards

T = TypeVar("T")


class Coordinator(Protocol):
    """The coordinator of groups of all kinds, by id."""

    home: Home
    environment: Environment
    groups: dict[str, Any]
    shards: "GroupShards"

    @property
    def expiry(self) -> Any: ...


class Keeping:
    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    def while_here(self, group_id: str, steps: Parts[T]) -> Parts[T]:
        """Does these steps. ApiError NOT_COORDINATOR once another broker coordinates the group, or it was
        made anew."""
        groups, shards = self._coordinator.groups, self._coordinator.shards
        group, shard = groups.get(group_id), shards.of(group_id)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            yield
            if groups.get(group_id) is not group or shards.of(group_id) is not shard:
                raise ApiError(ErrorCode.NOT_COORDINATOR)

    def write(self, group: StreamsGroup) -> None:
        """As `writing`."""
        at_once(self.writing(group))

    def writing(self, group: StreamsGroup, graves: Pairs | None = None) -> Parts[None]:
        """Appends what has changed, after tombstones; answers wait until that is replicated."""
        shard = self._shard_of(group)
        if shard is None:
            return
        pairs = (graves or []) + (yield from changes(group, with_times=shard.layout.with_times))
        if pairs and self._shard_of(group) is shard:
            shard.write_at_once(pairs)

    def _shard_of(self, group: StreamsGroup) -> "GroupShard | None":
        """Where the group's records are written; None if it is gone, or another broker writes them."""
        if self._coordinator.groups.get(group.id) is not group:
            return None
        shard = self._coordinator.shards.of(group.id)
        return shard if shard is not None and shard.current else None
