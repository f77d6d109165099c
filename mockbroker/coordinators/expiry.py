"""When committed offsets expire, and groups with them (KIP-211)."""

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from ..environment import Timer
from ..policies.offsets.offset_retention_start import offset_retention_start
from ..policies.offsets.offsets_cleanup import offsets_cleanup
from ..policies.offsets.pending_offset_expiry import pending_offset_expiry
from ..policies.offsets.unsubscribed_offsets import unsubscribed_offsets
from .group_records import tombstones
from .group_shards import GroupShards
from .home import Home
from .offsets import CommittedOffset, Key
from .settings import GroupSettings

if TYPE_CHECKING:
    from .kinds import Group


class Expiry:
    """Looks for expired offsets every `offsets.retention.check.interval.ms`, as Kafka does; without groups,
    no timer runs. `expired` is called with groups, and the partitions of each whose offsets are gone."""

    def __init__(
        self,
        home: Home,
        settings: GroupSettings,
        groups: "dict[str, Group]",
        shards: GroupShards,
        expired: Callable[["Iterable[tuple[Group, list[Key]]]"], None],
    ) -> None:
        self._home = home
        self._environment = home.environment
        self._settings = settings
        self._groups = groups
        self._shards = shards
        self._expired = expired
        self._started_ms = home.environment.now_ms
        self._check: Timer | None = None

    def expire_ms(self, retention_ms: int = -1) -> int | None:
        """When an offset expires that is committed now, if that is decided by the commit: the client sets a
        retention time, or each commit has its own, as before KIP-211."""
        now_ms = self._environment.now_ms
        if retention_ms != -1:
            return now_ms + retention_ms
        if self._home.policies[offset_retention_start] == "commit":
            return now_ms + self._settings.offsets_retention_ms
        return None

    def plan(self) -> None:
        if self._check is None:
            interval_ms = self._settings.retention_check_interval_ms
            since_last_ms = (self._environment.now_ms - self._started_ms) % interval_ms
            self._check = self._environment.after(interval_ms - since_last_ms, self._look)

    def _look(self) -> None:
        self._check = None
        if self._home.policies[offsets_cleanup] == "during-load":
            self._look_at_loads()
        groups = [each for each in self._groups.values() if each.type != "share"]
        expired = ((group, self._expire(group)) for group in groups)
        self._expired((group, gone) for group, gone in expired if gone or not group.offsets)
        if groups or self._shards.loading:
            self.plan()

    def _expire(self, group: "Group") -> list[Key]:
        """Forgets the group's expired offsets; returns their partitions."""
        if not group.offsets.committed:
            return []
        policies, since_ms = self._home.policies, group.state_since_ms
        start_ms: Callable[[CommittedOffset], int] = _commit_ms
        keep_topics: Collection[str] = ()
        if group.protocol_type is not None and policies[offset_retention_start] != "commit":
            if group.is_empty:
                start_ms = _commit_ms if since_ms is None else lambda _: since_ms
            elif group.subscribed is not None and policies[unsubscribed_offsets](group.is_stable):
                keep_topics = group.subscribed
            else:
                return []
        return group.offsets.expire(
            self._environment.now_ms,
            self._settings.offsets_retention_ms,
            start_ms,
            keep_topics,
            keep_open=policies[pending_offset_expiry] == "waits",
        )

    def _look_at_loads(self) -> None:
        """Buries what is expired of what was read so far, although newer commits may follow in the log."""
        now_ms, retention_ms = self._environment.now_ms, self._settings.offsets_retention_ms
        for shard in self._shards:
            if shard.loading is None or not shard.current:
                continue
            for group_id, offsets in shard.loading.read_so_far().items():
                gone = [
                    key for key, each in offsets.items() if each.expired(now_ms, each.commit_ms, retention_ms)
                ]
                if gone:
                    shard.write_at_once(tombstones(group_id, gone))


def _commit_ms(offset: CommittedOffset) -> int:
    return offset.commit_ms
