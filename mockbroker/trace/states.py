"""Changes of a cluster's state, found by looking at it: the core reports nothing, which costs it nothing."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from . import events
from .commits import Commits
from .event import Event
from .group_looks import GONE, GroupLooks, Seen
from .image_looks import ImageLooks
from .looks import Change, Look, Snapshot, changes
from .watching import Watching

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.cluster import Cluster
    from ..cluster.topic import TopicPartition


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
        self._partitions: dict[TopicPartition, Look] = {}
        self._watching = Watching(cluster, lambda gone: self._partitions.pop(gone, None))
        self._partitions.update((each, Look.at(each, details)) for each in self._watching.some())
        self._topics = dict(self._look_at_topics())
        self._brokers: dict[int, tuple[object, bool, Seen]] = {}
        """What is told of each while these two are as they were."""
        self._others = dict(self._look())
        self._commits = Commits(cluster)
        self.others = len(self._others) + len(self._commits)
        """How many things are looked at that are no partitions."""

    def look_at_all(self) -> None:
        """Something has changed on which all partitions depend: the next look is at each of them."""
        self._watching.look_at_all()

    @property
    def are_quiet(self) -> bool:
        """Whether no partition has changed since the last look."""
        return self._watching.is_quiet

    @property
    def have_news(self) -> bool:
        """Whether the controller has written something since the last look."""
        return self._watching.has_news

    def changes(self) -> Iterator[Change]:
        """What has changed since the last look."""
        yield from self._other_changes()
        yield from self._changed_partitions()
        yield from self._commits.changes()
        self.others = len(self._others) + len(self._commits)

    def changes_of_partitions(self) -> Iterator[Change]:
        """The same of partitions alone, at a price that depends only on how many have changed; if there are
        news, of everything."""
        return self.changes() if self._watching.has_news else self._changed_partitions()

    def _changed_partitions(self) -> Iterator[Change]:
        found, only_logs = self._watching.some(), self._watching.only_logs
        for partition in found:
            for _, kind, _, *values in self._looked_at(partition, only_logs, 0, 0):
                yield Change(kind, tuple(values))

    def changed_partitions(self, number: int, now_ms: int) -> list[Any]:
        """The same as entries after event `number`, to be used unless there are news."""
        found, only_logs = self._watching.some(), self._watching.only_logs
        if len(found) == 1:
            return self._looked_at(found[0], only_logs, number, now_ms)
        entries: list[Any] = []
        for partition in found:
            entries += self._looked_at(partition, only_logs, number + len(entries), now_ms)
        return entries

    def _looked_at(self, partition: "TopicPartition", only_logs: bool, number: int, now_ms: int) -> list[Any]:
        # Somebody who was told of others may have deleted it.
        if partition.deleted or not _is_used(partition):
            return []
        seen = self._partitions.get(partition)
        if only_logs and self._details and seen and (told := seen.after(partition, number, now_ms)):
            self._partitions[partition], entries = told
            return entries
        now = Look.at(partition, self._details, seen if only_logs else None)
        if now == seen:
            return []
        self._partitions[partition] = now
        found = changes(partition, seen, now, self._details)
        return [(place, kind, now_ms, *values) for place, (kind, values) in enumerate(found, number + 1)]

    def snapshot(self) -> Snapshot:
        """The state at the last look."""
        partitions = ((each.topic.name, each.index, seen) for each, seen in self._partitions.items())
        return Snapshot(self._others.values(), partitions, self._commits.whole())

    def _other_changes(self) -> Iterator[Change]:
        if self._watching.has_news:
            self._topics = dict(self._look_at_topics())
        before, self._others = self._others, dict(self._look())
        if self._others == before:
            return
        for key, change in self._others.items():
            if before.get(key) != change:
                yield change
        for (kind, name), change in before.items():
            if (kind, name) not in self._others and kind in _GONE:
                yield Change(kind, _GONE[kind](change.values))

    def _look_at_topics(self) -> "Iterator[Seen]":
        for topic in self._cluster.topics.values():
            if topic.partitions and not topic.internal:
                size = (len(topic.partitions), len(topic.partitions[0].replicas))
                yield (events.Topic, topic.name), Change(events.Topic, (topic.name, str(topic.id), *size))

    def _look(self) -> "Iterator[Seen]":
        for name, why in self._cluster.notes.not_created.items():
            yield (events.TopicNotCreated, name), Change(events.TopicNotCreated, (name, why))
        yield from self._topics.items()
        for broker in self._cluster.brokers.values():
            yield self._look_at_broker(broker)
            for name, now in broker.transactions if "transactions" in vars(broker) else ():
                one = (name, broker.id, now.state.value, now.producer_id, now.epoch)
                yield (events.Transaction, name), Change(events.Transaction, one)
        if self._details:
            yield from self._images.look()
        yield from self._groups.look(self._details)

    def _look_at_broker(self, broker: "Broker") -> "Seen":
        liveness, fenced = broker.liveness, broker.fenced
        known = self._brokers.get(broker.id)
        if known is None or known[0] is not liveness or known[1] is not fenced:
            state = (broker.id, liveness.name.lower(), fenced)
            seen = (events.Broker, broker.id), Change(events.Broker, state)
            known = self._brokers[broker.id] = liveness, fenced, seen
        return known[2]


def _is_used(partition: "TopicPartition") -> bool:
    """Most internal ones are never written to."""
    return not partition.topic.internal or any(each.log.end_offset for each in partition.hosted)
