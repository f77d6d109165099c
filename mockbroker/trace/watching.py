"""Which partitions may look otherwise than when they were last looked at.

The core reports nothing, which costs it nothing. Instead, objects of a cluster that is traced get a class
that notes whenever one of their fields is set. What a look reads besides (the epochs of a log, its producers)
changes only along with one of these fields, or by a method that is named here.
"""

from collections.abc import Callable, Collection
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from ..cluster.topic import TopicPartition
from ..log.log import Log
from ..log.producer_state import ProducerStates
from ..replication.fetcher import Fetcher
from ..replication.partition import Partition
from ..replication.replica_manager import ReplicaManager

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster

_WATCHED: Final[dict[type, tuple[str, ...]]] = {
    TopicPartition: ("appear", "disappear"),
    Partition: (),
    Fetcher: (),
    Log: (),
    ProducerStates: ("forget",),
    ReplicaManager: (),
}
"""By kind, the methods that change something of it without setting a field."""
_OF_LOGS: Final = (Log, ProducerStates)
_UNSEEN: Final[dict[type, frozenset[str]]] = {
    Partition: frozenset({"appended_ms", "_written_ms"}),
    Log: frozenset({"size"}),
}
"""By kind, the fields that each append sets and no look reads."""


class _Place:
    """A partition with the objects that tell of it; `number` is its place in the order in which they came."""

    __slots__ = ("number", "objects", "partition")

    def __init__(self, number: int, partition: Any) -> None:
        self.number = number
        self.partition: TopicPartition = partition
        self.objects: list[object] = []


_EVERY: Final = _Place(0, None)
"""Stands for all of them."""
_NUMBER: Final = attrgetter("number")


class Watching:
    """Watches all partitions of a cluster, from now on; `gone` is called with each that is there no more."""

    def __init__(self, cluster: "Cluster", gone: Callable[[TopicPartition], object]) -> None:
        self._cluster = cluster
        self._metadata = cluster.controller.metadata
        self._gone = gone
        self._marks: dict[object, None] = {}
        self._own: set[type] = set()
        self._logs: set[type] = set()
        """Those of logs and of what these consist of."""
        self.only_logs = False
        """Whether nothing else was set before `some` was last called."""
        self._classes: dict[type, type] = {}
        """By the class that an object has, the one that it gets: somebody else may watch it too."""
        self._places: dict[TopicPartition, _Place] = {}
        self._owners: dict[object, _Place] = {}
        """By watched object: the place of its partition, or `_EVERY`."""
        self._came = 0
        self._written = -1
        self._all = False
        for broker in cluster.brokers.values():
            if (manager := getattr(broker, "replicas", None)) is not None:
                self._watch(manager, _EVERY)

    def look_at_all(self) -> None:
        """Something was changed that all of them depend on."""
        self._all = True

    @property
    def has_news(self) -> bool:
        """Whether the controller has written something since `some` was last called."""
        return self._metadata.end_offset != self._written

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was set or written since `some` was last called."""
        return not (self._marks or self._all or self._metadata.end_offset != self._written)

    def some(self) -> list[TopicPartition]:
        """Those that are new, or of which something was set since the last call, in the order in which they
        came."""
        if self.has_news:
            self._written = self._metadata.end_offset
            self._find()
        marks, places = self._marks, {*map(self._owners.get, self._marks)}
        self.only_logs = self._logs.issuperset(map(type, marks))
        marks.clear()
        # What nobody owns belongs to a partition that is gone.
        places.discard(None)
        if self._all or _EVERY in places:
            self._all = self.only_logs = False
            found = list(self._places.values())
        else:
            found = sorted(places, key=_NUMBER) if len(places) > 1 else list(places)  # type: ignore[arg-type]
        if not self.only_logs:
            for place in found:
                self._adopt(place)
        return [place.partition for place in found]

    def _find(self) -> None:
        """Those that have come or gone."""
        here = 0
        for topic in self._cluster.topics.values():
            here += len(topic.partitions)
            if topic.partitions and topic.partitions[-1] not in self._places:
                for partition in topic.partitions:
                    if partition not in self._places:
                        self._came += 1
                        place = self._places[partition] = _Place(self._came, partition)
                        self._watch(partition, place)
                        self._marks[partition] = None
        if len(self._places) > here:
            there = set(self._cluster.partitions())
            for partition in [each for each in self._places if each not in there]:
                place = self._places.pop(partition)
                self._gone(partition)
                for each in (partition, *place.objects):
                    self._owners.pop(each, None)

    def _adopt(self, place: _Place) -> None:
        """Watches what tells of a partition now."""
        objects = _objects(place.partition)
        if objects == place.objects:
            return
        for each in place.objects:
            del self._owners[each]
        for each in objects:
            self._watch(each, place)
        place.objects = objects

    def _watch(self, one: Any, place: _Place) -> None:
        before = type(one)
        if before not in self._classes:
            self._classes[before] = self._class_for(before)
        one.__class__ = self._classes[before]
        self._owners[one] = place

    def _class_for(self, before: type) -> type:
        if not self._own.isdisjoint(before.__mro__):
            return before
        kind = next(each for each in before.__mro__ if each in _WATCHED)
        made = _watched(before, self._marks, _WATCHED[kind], _UNSEEN.get(kind, frozenset()))
        self._own.add(made)
        if kind in _OF_LOGS:
            self._logs.add(made)
        return made


def _objects(partition: TopicPartition) -> list[object]:
    found: list[object] = []
    for replica in partition.hosted:
        log, fetcher = replica.log, replica.fetcher
        found += (replica, log, log.producers) if fetcher is None else (replica, log, log.producers, fetcher)
    return found


def _watched(kind: Any, marks: dict[object, None], names: tuple[str, ...], unseen: Collection[str]) -> type:
    """A kind whose objects are in `marks` once one of their fields but `unseen` was set, or one of these
    methods was called."""
    set_field = kind.__setattr__

    def set_and_mark(self: object, name: str, value: object) -> None:
        set_field(self, name, value)
        if name not in unseen:
            marks[self] = None

    methods = {name: _marking(getattr(kind, name), marks) for name in names}
    return type(kind.__name__, (kind,), {"__slots__": (), "__setattr__": set_and_mark, **methods})


def _marking(method: Callable[..., Any], marks: dict[object, None]) -> Callable[..., Any]:
    def call_and_mark(self: object, *given: Any) -> Any:
        marks[self] = None
        return method(self, *given)

    return call_and_mark
