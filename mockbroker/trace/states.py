"""Changes of a cluster's state, found by looking at it: the core reports nothing, which costs it nothing."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from . import events
from .event import Event
from .group_looks import GONE, GroupLooks, groups_of
from .image_looks import ImageLooks
from .looks import Change, Look, changes

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..cluster.topic import TopicPartition
    from ..coordinators.offsets import CommittedOffset, Key


_GONE: "Final[dict[type[Event], Callable[[tuple[Any, ...]], tuple[object, ...]]]]" = {
    events.Topic: lambda values: (*values[:2], 0, 0),
    events.Image: lambda values: (values[0], 0, ()),
    **GONE,
}
"""The values of a thing that is there no more, by those that it had."""


class States:
    """The state of a cluster when it was last looked at. Of several changes in between, only the result is
    reported. With `details`, it also tells what each replica has, and what is known about producers
    and by brokers."""

    def __init__(self, cluster: "Cluster", *, details: bool) -> None:
        self._cluster = cluster
        self._details = details
        self._groups = GroupLooks(cluster)
        self._images = ImageLooks(cluster)
        self._partitions = {each: Look.at(each, details) for each in cluster.partitions()}
        self._others = dict(self._look())
        self._committed = self._commits()
        self._next: list[TopicPartition] = []

    @property
    def partitions(self) -> int:
        """How many partitions are looked at."""
        return len(self._partitions)

    def changes(self) -> Iterator[Change]:
        """What has changed since the last look."""
        self._next.clear()
        yield from self._other_changes()
        for partition in self._written():
            yield from self._changes_of(partition)
        yield from self._changed_commits()

    def some_changes(self, most: int) -> Iterator[Change]:
        """The same of the next `most` partitions, of one after the other in turn; and of everything else once
        all partitions have had their turn."""
        if not self._next:
            yield from self._other_changes()
            self._next = self._written()[::-1]
        for _ in range(min(most, len(self._next))):
            if not (partition := self._next.pop()).deleted:
                yield from self._changes_of(partition)
        if not self._next:
            yield from self._changed_commits()

    @property
    def in_turn(self) -> bool:
        """Whether some partitions have not had their turn yet."""
        return bool(self._next)

    def _written(self) -> "list[TopicPartition]":
        """All partitions but those internal ones into which nothing was written. Those that are gone are
        forgotten."""
        here = list(self._cluster.partitions())
        if len(self._partitions) > sum(each in self._partitions for each in here):
            self._partitions = {each: self._partitions[each] for each in here if each in self._partitions}
        return [
            each
            for each in here
            if not each.topic.internal or any(replica.log.end_offset for replica in each.hosted)
        ]

    def changes_at(self, names: Iterable[str]) -> Iterator[Change]:
        """What has changed about the partitions with these names, such as orders-0; other names are passed
        over, and so are partitions that were not there."""
        for name in names:
            topic, _, index = name.rpartition("-")
            found = self._cluster.partition(topic, int(index)) if topic and index.isdecimal() else None
            if found in self._partitions:
                yield from self._changes_of(found)

    def _changes_of(self, partition: "TopicPartition") -> Iterator[Change]:
        now = Look.at(partition, self._details)
        seen = self._partitions.get(partition)
        if now != seen:
            self._partitions[partition] = now
            yield from changes(partition, seen, now, self._details)

    def whole(self) -> Iterator[Change]:
        """The state at the last look, as changes from nothing."""
        yield from self._others.values()
        for partition, seen in self._partitions.items():
            yield from seen.whole(partition.topic.name, partition.index)
        for group, offsets in self._committed.items():
            for where, one in offsets.items():
                yield Change(events.Committed, (*where, group, one.offset, one.leader_epoch))

    def _other_changes(self) -> Iterator[Change]:
        before, self._others = self._others, dict(self._look())
        for key, change in self._others.items():
            if before.get(key) != change:
                yield change
        for (kind, name), change in before.items():
            if (kind, name) not in self._others and kind in _GONE:
                yield Change(kind, _GONE[kind](change.values))

    def _changed_commits(self) -> Iterator[Change]:
        # A group that is nowhere may be on its way to another coordinator, so its offsets are remembered.
        for group, offsets in self._commits().items():
            before = self._committed.get(group, {})
            if offsets == before:
                continue
            self._committed[group] = offsets
            for where, one in offsets.items():
                if before.get(where) != one:
                    yield Change(events.Committed, (*where, group, one.offset, one.leader_epoch))
            for where in before:
                if where not in offsets:
                    yield Change(events.Committed, (*where, group, -1, -1))

    def _commits(self) -> "dict[str, dict[Key, CommittedOffset]]":
        return {
            group.id: dict(group.offsets.committed)
            for broker in self._cluster.brokers.values()
            for group in groups_of(broker)
        }

    def _look(self) -> "Iterator[tuple[tuple[type[Event], object], Change]]":
        for name, why in self._cluster.notes.not_created.items():
            yield (events.TopicNotCreated, name), Change(events.TopicNotCreated, (name, why))
        for topic in self._cluster.topics.values():
            if topic.partitions and not topic.internal:
                size = (len(topic.partitions), len(topic.partitions[0].replicas))
                yield (events.Topic, topic.name), Change(events.Topic, (topic.name, str(topic.id), *size))
        for broker in self._cluster.brokers.values():
            state = (broker.id, broker.liveness.name.lower(), broker.fenced)
            yield (events.Broker, broker.id), Change(events.Broker, state)
            for name, now in broker.transactions if "transactions" in vars(broker) else ():
                one = (name, broker.id, now.state.value, now.producer_id, now.epoch)
                yield (events.Transaction, name), Change(events.Transaction, one)
        if self._details:
            yield from self._images.look()
        yield from self._groups.look(self._details)
