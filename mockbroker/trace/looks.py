"""What is reported about a partition, and what has changed since."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from . import events
from .event import Event

if TYPE_CHECKING:
    from ..cluster.topic import TopicPartition
    from ..log.leader_epochs import LeaderEpochCache
    from ..log.log import Log
    from ..replication.partition import Partition
    from ..replication.states import FollowerState


class Change(NamedTuple):
    """An event without its number and its time."""

    kind: type[Event]
    values: tuple[object, ...]


def as_rows(changes: "Iterable[Change]") -> tuple[dict[str, Any], ...]:
    """The rows of events, without number and time."""
    return tuple(rows_of(changes))


def rows_of(changes: "Iterable[Change]") -> Iterator[dict[str, Any]]:
    """The same, one after the other."""
    for kind, values in changes:
        names, defaults = _fields(kind)
        if left := len(names) - len(values):
            values = (*values, *defaults[-left:])
        yield {"kind": kind.kind, **dict(zip(names, values, strict=True))}


_FIELDS: Final[dict[type[Event], tuple[tuple[str, ...], tuple[object, ...]]]] = {}


def _fields(kind: type[Event]) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """The names of those that a change has values of, and the values of the last ones if it has none."""
    if kind not in _FIELDS:
        _, _, *found = fields(kind)
        defaults = tuple(each.default for each in found if each.default is not MISSING)
        _FIELDS[kind] = tuple(each.name for each in found), defaults
    return _FIELDS[kind]


Replica = tuple[int, int, int, int, int, int, tuple[tuple[int, int], ...]]
"""The fields of `events.Replica`, without topic and partition."""
_FIRST: Final = itemgetter(0)
_NO_ENDS: Final = (0, 0, 0)
_OF_EACH: Final = 4
"""So many rows tell of any partition, besides those of its replicas."""
_GONE: Final = (-1, -1, -1, -1, -1, ())
"""What is told of a replica that its broker no longer has."""


class Look(NamedTuple):
    """What is reported about a partition: `replicas` and `producers` are empty unless details are wanted."""

    leader: tuple[int, int]
    isr: tuple[int, ...]
    log_start: int
    ends: tuple[int, int, int]
    followers: "tuple[tuple[int, FollowerState, str], ...]"
    cuts: tuple[tuple[int, int], ...] = ()
    replicas: tuple[Replica, ...] = ()
    producers: tuple[tuple[int, int, int], ...] = ()
    why: str = ""

    @classmethod
    def at(cls, partition: "TopicPartition", details: bool, before: "Look | None" = None) -> "Look":
        """`before` is the last one, if nothing but logs has changed since."""
        known, hosted = partition.registered, partition.hosted
        if before is None:
            leader, isr = (known.leader, known.leader_epoch), tuple(known.isr)
            followers = tuple(_followers(partition, hosted))
            why = partition.reasons.of(partition.topic_id, partition.index) if known.leader_epoch else ""
        else:
            leader, isr, followers, why = before.leader, before.isr, before.followers, before.why
        if not hosted:
            return cls(leader, isr, 0, _NO_ENDS, followers, why=why)
        log = partition.log
        ends = _ends(log)
        cuts = tuple([(each.broker, each.log.cut_count) for each in hosted])
        if not details:
            return cls(leader, isr, log.start_offset, ends, followers, cuts, why=why)
        replicas = tuple(map(_replica, hosted))
        producers: tuple[tuple[int, int, int], ...] = ()
        if entries := log.producers.entries:
            producers = tuple(
                (producer_id, entry.epoch, entry.batches[-1].last_sequence if entry.batches else -1)
                for producer_id, entry in entries.items()
            )
        return cls(leader, isr, log.start_offset, ends, followers, cuts, replicas, producers, why)

    def after(self, partition: "TopicPartition", number: int, now_ms: int) -> "tuple[Look, list[Any]] | None":
        """The next one with details, if nothing but logs was set since, and what has changed, as entries
        after event `number`. None if that is not all that `changes` would have to compare."""
        topic, index, kind = partition.topic.name, partition.index, events.Replica
        found: list[Any] = []
        replicas: list[Replica] = []
        for replica, (_, cut_count), before in zip(partition.hosted, self.cuts, self.replicas, strict=True):
            log = replica.log
            if log.cut_count != cut_count:
                return None
            broker, leader, epoch, start, mark, end, epochs = before
            cache = log.epochs
            starts = cache.starts
            now_start, now_mark, now_end = log.start_offset, log.high_watermark, log.end_offset
            # Entries of a log that was not truncated come last, and go first.
            if len(starts) != len(epochs) or (
                starts
                and (
                    starts[-1] != epochs[-1][1]
                    or cache.epochs[-1] != epochs[-1][0]
                    or starts[0] != epochs[0][1]
                )
            ):
                epochs = _pairs(cache)
            elif now_end == end and now_mark == mark and now_start == start:
                replicas.append(before)
                continue
            now = broker, leader, epoch, now_start, now_mark, now_end, epochs
            replicas.append(now)
            number += 1
            found.append((number, kind, now_ms, topic, index, *now))
        log = partition.log
        if self.producers or log.producers.entries:
            return None
        start, ends = log.start_offset, _ends(log)
        if start != self.log_start:
            number += 1
            found.append((number, events.LogStart, now_ms, topic, index, start))
        if ends != self.ends:
            found.append((number + 1, events.HighWatermark, now_ms, topic, index, *ends))
        known = self.leader, self.isr, start, ends, self.followers, self.cuts, tuple(replicas), (), self.why
        return _look(known), found

    def whole(self, topic: str, partition: int) -> Iterator[Change]:
        """All of it, as changes from nothing."""
        where = (topic, partition)
        for replica in self.replicas:
            yield Change(events.Replica, (*where, *replica))
        for producer in self.producers:
            yield Change(events.Producer, (*where, *producer))
        yield Change(events.Leader, (*where, *self.leader, self.why))
        yield Change(events.InSyncReplicas, (*where, self.isr))
        yield Change(events.LogStart, (*where, self.log_start))
        yield Change(events.HighWatermark, (*where, *self.ends))
        for broker, state, failure in self.followers:
            yield Change(events.Follower, (*where, broker, _words(state), failure))


_look: "Final[Callable[[tuple[Any, ...]], Look]]" = partial(tuple.__new__, Look)
_change: Final[Callable[[tuple[Any, ...]], Change]] = partial(tuple.__new__, Change)
"""They are made of tuples without a call of Python, thousands of times a second."""


class Snapshot:
    """The whole state at a look. To make rows of it takes longer than clients like to wait, so that is done
    when somebody reads them."""

    __slots__ = ("_commits", "_others", "_partitions")

    def __init__(
        self,
        others: Iterable[Change],
        partitions: "Iterable[tuple[str, int, Look]]",
        commits: Iterable[Change],
    ) -> None:
        self._others, self._partitions, self._commits = tuple(others), tuple(partitions), tuple(commits)

    def parts(self, most: int) -> "Iterator[tuple[Any, ...]]":
        """What `joined` makes one of, each with so many partitions at most. They are plain tuples, for which
        pickling calls no Python."""
        others, commits = [*map(tuple, self._others)], [*map(tuple, self._commits)]
        for begin in range(0, max(len(self._partitions), 1), most):
            some = self._partitions[begin : begin + most]
            topics, indexes, looks = zip(*some, strict=True) if some else ((), (), ())
            yield others, topics, indexes, [*map(tuple, looks)], commits
            others, commits = [], []

    @classmethod
    def joined(cls, parts: "Iterable[tuple[Any, ...]]") -> "Snapshot":
        """One of all these parts."""
        others, topics, indexes, looks, commits = map(chain.from_iterable, zip(*parts, strict=True))
        partitions = zip(topics, indexes, map(_look, looks), strict=True)
        return cls(map(_change, others), partitions, map(_change, commits))

    def __len__(self) -> int:
        """About how many rows there are."""
        of_partitions = sum(_OF_EACH + len(look.replicas) for _, _, look in self._partitions)
        return len(self._others) + of_partitions + len(self._commits)

    def changes(self) -> Iterator[Change]:
        """All of it, as changes from nothing."""
        of_partitions = (look.whole(topic, index) for topic, index, look in self._partitions)
        return chain(self._others, *of_partitions, self._commits)

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Those of `changes`."""
        return as_rows(self.changes())


def _followers(
    partition: "TopicPartition", hosted: "list[Partition]"
) -> "Iterator[tuple[int, FollowerState, str]]":
    fetchers = {each.broker: each.fetcher for each in hosted}
    known = partition.registered
    for broker in known.replicas:
        if broker != known.leader:
            fetcher = fetchers.get(broker)
            if fetcher is None:
                yield broker, partition.state_of(broker), ""
            else:
                yield broker, fetcher.state, fetcher.failure


def _replica(replica: "Partition") -> Replica:
    log = replica.log
    known = (replica.broker, replica.leader, replica.leader_epoch)
    return (*known, log.start_offset, log.high_watermark, log.end_offset, _pairs(log.epochs))


def _ends(log: "Log") -> tuple[int, int, int]:
    return (log.high_watermark, log.last_stable_offset, log.end_offset) if log.end_offset else _NO_ENDS


def _pairs(cache: "LeaderEpochCache") -> tuple[tuple[int, int], ...]:
    return tuple(zip(cache.epochs, cache.starts, strict=True))


def _words(state: "FollowerState") -> str:
    return state.name.lower().replace("_", " ")


def changes(partition: "TopicPartition", seen: Look | None, now: Look, details: bool) -> list[Change]:
    """What has changed from one look to the next. Of a partition that is new, only its leader is reported if
    no details are wanted, and not even that of an internal one."""
    where = (partition.topic.name, partition.index)
    if seen is not None:
        # First what replicas have: who stops at a change of leader sees them as they are then.
        found = _changed_details(where, seen, now) if details else []
        _add_ordinary_changes(found, partition, where, seen, now)
        return found
    found = []
    if details:
        found.append(Change(events.Appeared, (*where, as_rows(now.whole(*where)))))
    if not partition.topic.name.startswith("__"):
        found.append(Change(events.Leader, (*where, *now.leader)))
    return found


def _changed_details(where: tuple[str, int], seen: Look, now: Look) -> list[Change]:
    found = []
    if now.replicas != seen.replicas:
        before = seen.replicas
        found = [Change(events.Replica, (*where, *each)) for each in now.replicas if each not in before]
        gone = {*map(_FIRST, before)}.difference(map(_FIRST, now.replicas))
        found += [Change(events.Replica, (*where, each[0], *_GONE)) for each in before if each[0] in gone]
    if now.producers != seen.producers:
        known = set(seen.producers)
        found += [Change(events.Producer, (*where, *each)) for each in now.producers if each not in known]
        there = {*map(_FIRST, now.producers)}
        found += [
            Change(events.Producer, (*where, each[0], -1, -1))
            for each in seen.producers
            if each[0] not in there
        ]
    return found


def _add_ordinary_changes(
    found: list[Change], partition: "TopicPartition", where: tuple[str, int], seen: Look, now: Look
) -> None:
    if now.leader != seen.leader:
        found.append(Change(events.Leader, (*where, *now.leader, now.why)))
    if now.cuts != seen.cuts:
        known = dict(seen.cuts)
        for replica in partition.hosted:
            log, broker = replica.log, replica.broker
            missed = log.cut_count - known.get(broker, 0)
            cuts = list(log.cuts)[-missed:] if missed > 0 else ()
            found += [Change(events.Truncation, (*where, broker, *cut)) for cut in cuts]
    if now.followers != seen.followers:
        found += [
            Change(events.Follower, (*where, broker, _words(state), failure))
            for broker, state, failure in now.followers
            if (broker, state, failure) not in seen.followers
        ]
    if now.isr != seen.isr:
        found.append(Change(events.InSyncReplicas, (*where, now.isr)))
    if now.log_start != seen.log_start:
        found.append(Change(events.LogStart, (*where, now.log_start)))
    if now.ends != seen.ends:
        found.append(Change(events.HighWatermark, (*where, *now.ends)))
