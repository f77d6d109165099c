"""The partitions of `__consumer_offsets` that one broker leads: when it loads them, and lets go of them."""

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ..environment import Environment, Nobody
from ..outcome import PARKED
from ..policies.groups.large_group_record import large_group_record
from ..policies.offsets.offsets_load import offsets_load
from ..policies.offsets.offsets_load_buffers import offsets_load_buffers
from ..policies.offsets.offsets_load_pace import offsets_load_pace
from .group_metrics import GroupMetrics
from .group_shard import GroupShard, awaits_replication
from .home import Home
from .loading import BATCHES, Buffer, EndlessLoadError, LoadedGroup, Loading, UnreadableRecordError

if TYPE_CHECKING:
    from ..replication.partition import Partition

_PAUSE_MS: Final = 100
"""How long a slow load waits after each batch."""


class GroupShards:
    """Shards by partition. `loaded` is called with a partition and its groups once they are loaded,
    `resigned` with one that the broker no longer leads, `wrote` with one that it writes to."""

    def __init__(
        self,
        home: Home,
        loaded: Callable[[int, Mapping[str, LoadedGroup]], None],
        resigned: Callable[[int], None],
        wrote: Callable[[int], None],
    ) -> None:
        self._home = home
        self._environment: Environment = home.environment
        self._loaded = loaded
        self._resigned = resigned
        self._wrote = wrote
        self._shards: dict[int, GroupShard] = {}
        self.metrics = GroupMetrics(home.environment)

    def __iter__(self) -> Iterator[GroupShard]:
        return iter(list(self._shards.values()))

    @property
    def awaits(self) -> bool:
        return awaits_replication(self._home)

    @property
    def loading(self) -> bool:
        """Whether any is being loaded."""
        return any(shard.loading is not None for shard in self._shards.values())

    def has_loaded(self, index: int) -> bool:
        shard = self._shards.get(index)
        return shard is not None and shard.serves

    def of(self, group_id: str) -> GroupShard | None:
        """The shard that holds a group; None if another broker leads the partition."""
        partition = self._home.offsets_partition(group_id)
        if partition is None or not partition.leads:
            return None
        return self._shards.get(partition.index) or self._begin(partition)

    def leader_changed(self, index: int, partition: "Partition | None") -> None:
        """The broker now leads this partition, or no longer leads it. It keeps what it has loaded if it leads
        on in another leader epoch."""
        shard = self._shards.get(index)
        if partition is None or not partition.leads:
            self.resign(index)
        elif (shard is None or shard.failed) and partition.log.end_offset:
            self._begin(partition)

    def resign(self, index: int) -> None:
        if self._shards.pop(index, None) is not None:
            self._resigned(index)

    def resign_all(self) -> None:
        for index in list(self._shards):
            self.resign(index)

    def halt(self) -> None:
        """The broker goes down."""
        self._shards.clear()
        self.metrics.clear()

    def _begin(self, partition: "Partition") -> GroupShard:
        shard = self._shards[partition.index] = GroupShard(self._home, partition, self._wrote)
        if partition.log.end_offset > partition.log.start_offset:
            self._load(shard)
        return shard

    def _load(self, shard: GroupShard) -> None:
        policies = self._home.policies
        buffer = Buffer(
            self._environment.configs.broker_int("offsets.load.buffer.size"),
            grows=policies[large_group_record] == "loaded",
            first_counts=policies[offsets_load_buffers] == "first-counts",
        )
        shard.loading = Loading(shard.partition.log, shard.layout, policies[offsets_load], buffer)
        load = _Load(self._environment, shard)
        if policies[offsets_load_pace] == "slow":
            self._go_on_slowly(self._steps(shard, shard.loading, batches=1))
        else:
            self._home.in_parts(load, self._steps(shard, shard.loading, BATCHES))

    def _go_on_slowly(self, steps: Generator[None, None, object]) -> None:
        if next(steps, PARKED) is not PARKED:
            self._environment.after(_PAUSE_MS, lambda: self._go_on_slowly(steps))

    def _steps(self, shard: GroupShard, loading: Loading, batches: int) -> Generator[None, None, object]:
        """Ends early if the broker goes down, or another one leads."""
        began_ms, unreadable = self._environment.now_ms, self._home.policies[offsets_load]
        reads = True
        try:
            while reads:
                try:
                    for _ in loading.read(batches):
                        yield
                        if not self._holds(shard):
                            return PARKED
                except UnreadableRecordError:
                    if not unreadable.keeps:
                        raise
                    reads = False
                for _ in loading.build():
                    yield
                    if not self._holds(shard):
                        return PARKED
                # A marker may have come meanwhile.
                reads = reads and loading.behind
        except UnreadableRecordError:
            shard.loading, shard.failed = None, not unreadable.coordinates
            return PARKED
        except EndlessLoadError:
            return PARKED
        shard.loading = None
        self.metrics.loaded(began_ms)
        self._loaded(shard.partition.index, loading.groups)
        return PARKED

    def _holds(self, shard: GroupShard) -> bool:
        return self._shards.get(shard.partition.index) is shard


class _Load(Nobody):
    """A load that is done in parts."""

    def __init__(self, environment: Environment, shard: GroupShard) -> None:
        super().__init__(environment)
        self._shard = shard

    def ended_by(self, error: Exception) -> None:
        self._shard.loading, self._shard.failed = None, True
        super().ended_by(error)
