"""Changes of a cluster's state, found by looking at it: the core reports nothing, which costs it nothing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from . import events

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..cluster.topic import TopicPartition


class Change(NamedTuple):
    """An event without its number and its time."""

    kind: "type[events.Event]"
    values: tuple[object, ...]


_NO_ENDS: Final = (0, 0, 0)


class _Look(NamedTuple):
    """What is reported about a partition."""

    leader: tuple[int, int]
    isr: tuple[int, ...]
    log_start: int
    ends: tuple[int, int, int]
    followers: tuple[tuple[int, str, str], ...]
    cuts: tuple[tuple[int, int], ...]

    @classmethod
    def at(cls, partition: "TopicPartition") -> "_Look":
        leader, isr = (partition.leader, partition.leader_epoch), tuple(partition.isr)
        followers = tuple(_followers(partition))
        hosted = partition.hosted
        if not hosted:
            return cls(leader, isr, 0, _NO_ENDS, followers, ())
        log = partition.log
        ends = (log.high_watermark, log.last_stable_offset, log.end_offset) if log.end_offset else _NO_ENDS
        cuts = tuple((each.broker, each.log.cut_count) for each in hosted)
        return cls(leader, isr, log.start_offset, ends, followers, cuts)


def _followers(partition: "TopicPartition") -> Iterator[tuple[int, str, str]]:
    failures = {each.broker: each.fetcher.failure for each in partition.hosted if each.fetcher is not None}
    for broker in partition.replicas:
        if broker != partition.leader:
            yield broker, partition.state_of(broker).name, failures.get(broker, "")


class States:
    """The state of a cluster when it was last looked at. Of several changes in between, only the result is
    reported."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._partitions = {each: _Look.at(each) for each in cluster.partitions()}
        self._others = dict(self._look())

    @property
    def partitions(self) -> int:
        """How many partitions are looked at."""
        return len(self._partitions)

    def changes(self) -> Iterator[Change]:
        """What has changed since the last look."""
        before, self._others = self._others, dict(self._look())
        for key, change in self._others.items():
            if before.get(key) != change:
                yield change
        for kind, name in before:
            if kind is events.Group and (kind, name) not in self._others:
                yield Change(kind, (name, -1, "Dead", 0, 0))
        there = 0
        for partition in self._cluster.partitions():
            there += 1
            if partition.topic.internal and not any(each.log.end_offset for each in partition.hosted):
                continue
            now = _Look.at(partition)
            seen = self._partitions.get(partition)
            if now != seen:
                self._partitions[partition] = now
                where = (partition.topic.name, partition.index)
                if seen is not None:
                    yield from _changes(partition, where, seen, now)
                elif not partition.topic.name.startswith("__"):
                    yield Change(events.Leader, (*where, *now.leader))
        if len(self._partitions) > there:
            here = set(self._cluster.partitions())
            self._partitions = {each: seen for each, seen in self._partitions.items() if each in here}

    def _look(self) -> "Iterator[tuple[tuple[type[events.Event], object], Change]]":
        for topic, why in self._cluster.notes.not_created.items():
            yield (events.TopicNotCreated, topic), Change(events.TopicNotCreated, (topic, why))
        for broker in self._cluster.brokers.values():
            state = (broker.id, broker.liveness.name.lower(), broker.fenced)
            yield (events.Broker, broker.id), Change(events.Broker, state)
            # Looking must not start a coordinator that nobody has asked yet.
            begun = vars(broker)
            for group in broker.groups.groups.values() if "groups" in begun else ():
                told = (group.id, broker.id, group.state.value, group.generation, len(group.members))
                yield (events.Group, group.id), Change(events.Group, told)
            for name, now in broker.transactions if "transactions" in begun else ():
                one = (name, broker.id, now.state.value, now.producer_id, now.epoch)
                yield (events.Transaction, name), Change(events.Transaction, one)


def _changes(
    partition: "TopicPartition", where: tuple[str, int], seen: _Look, now: _Look
) -> Iterator[Change]:
    if now.leader != seen.leader:
        yield Change(events.Leader, (*where, *now.leader))
    if now.cuts != seen.cuts:
        known = dict(seen.cuts)
        for replica in partition.hosted:
            log, broker = replica.log, replica.broker
            missed = log.cut_count - known.get(broker, 0)
            for cut in list(log.cuts)[-missed:] if missed > 0 else ():
                yield Change(events.Truncation, (*where, broker, *cut))
    for follower in now.followers:
        if follower not in seen.followers:
            broker, state, failure = follower
            yield Change(events.Follower, (*where, broker, state.lower().replace("_", " "), failure))
    if now.isr != seen.isr:
        yield Change(events.InSyncReplicas, (*where, now.isr))
    if now.log_start != seen.log_start:
        yield Change(events.LogStart, (*where, now.log_start))
    if now.ends != seen.ends:
        yield Change(events.HighWatermark, (*where, *now.ends))
