"""What a topology comes to with the topics that there are: how many tasks each subtopology has, and which
internal topics are missing (`InternalTopicManager.java`)."""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Final, NamedTuple

from ...portions import Pace, Parts, portions
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.streams_group_records import Copartition, InternalTopic, Subtopology, TopologyValue
from .hash_order import ordering

MISSING_SOURCE_TOPICS: Final = 1
INCORRECTLY_PARTITIONED_TOPICS: Final = 2
MISSING_INTERNAL_TOPICS: Final = 3
MOST_TASKS: Final = 100_000
"""Of a group. Real brokers have no such limit, but the records of one member with so many are too large for
them."""
_SHOWN: Final = 3
"""How many topics are named at most."""
Counts = Mapping[str, int]
"""The numbers of partitions of topics."""


class Problem(NamedTuple):
    """A status that members are told, with its text."""

    status: int
    text: str


class ConfiguredSubtopology(NamedTuple):
    """A subtopology whose internal topics have their numbers of partitions."""

    said: Subtopology
    tasks: int
    changelogs: tuple[InternalTopic, ...]
    repartitions: tuple[InternalTopic, ...]

    @property
    def is_stateful(self) -> bool:
        return bool(self.changelogs)


class Configured(NamedTuple):
    """`subtopologies` are by id, in order; None if they can't be known yet. `missing` are topics that have to
    be created."""

    epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None
    missing: Mapping[str, InternalTopic]
    problem: Problem | None

    @property
    def is_ready(self) -> bool:
        return self.problem is None


class _ProblemError(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.problem = Problem(status, text)


def reads(each: Subtopology) -> list[str]:
    """The topics that a subtopology reads."""
    return [*each.sources, *(topic.name for topic in each.repartitions)]


def required(topology: TopologyValue) -> Parts[list[str]]:
    """The topics that have to be there, each once, in order."""
    found, pace = set[str](), Pace()
    for each in topology.subtopologies:
        found.update(reads(each), (topic.name for topic in each.changelogs))
        if pace.enough(size(each)):
            yield
    return sorted(found)


def size(each: Subtopology) -> int:
    """How much work it makes: what it names."""
    return 1 + sum(map(len, each[1:]))


def configured(
    topology: TopologyValue, names: Iterable[str], counts: Counts, *, names_all: bool = False
) -> Parts[Configured]:
    """`names` are the topics that it requires, `counts` the numbers of partitions of all topics; a problem
    `names_all` topics, or the first few. ApiError STREAMS_INVALID_TOPOLOGY, UNKNOWN_SERVER_ERROR."""
    try:
        return (yield from _configured(topology, names, counts, names_all=names_all))
    except _ProblemError as error:
        return Configured(topology.epoch, None, {}, error.problem)


def _configured(
    topology: TopologyValue, names: Iterable[str], counts: Counts, *, names_all: bool
) -> Parts[Configured]:
    pace, named = Pace(), ", ".join if names_all else _first
    sources = {name for each in topology.subtopologies for name in each.sources}
    if gone := sorted(sources - counts.keys()):
        raise _ProblemError(MISSING_SOURCE_TOPICS, f"Source topics {named(gone)} are missing.")
    yield
    decided = yield from _decided(topology, counts)
    found, tasks = dict[str, ConfiguredSubtopology](), 0
    for each in sorted(topology.subtopologies):
        if each.id in found:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        found[each.id] = made = ConfiguredSubtopology(
            each,
            max(_count(name, counts, decided) for name in reads(each)),
            tuple(_with_partitions(topic, decided) for topic in each.changelogs),
            tuple(_with_partitions(topic, decided) for topic in each.repartitions),
        )
        tasks += made.tasks
        if pace.enough(size(each)):
            yield
    if tasks > MOST_TASKS:
        raise ApiError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY,
            f"The topology comes to {tasks} tasks, and mockbroker takes {MOST_TASKS}.",
        )
    internal = {
        topic.name: topic for each in found.values() for topic in (*each.repartitions, *each.changelogs)
    }
    yield
    for some in portions((yield from ordering(names))):
        for name in some:
            if name in internal and name in counts and counts[name] != internal[name].partitions:
                raise _ProblemError(
                    INCORRECTLY_PARTITIONED_TOPICS,
                    f"Existing topic {name} has different number of partitions: expected "
                    f"{internal[name].partitions}, found {counts[name]}",
                )
        yield
    ordered = yield from ordering(internal)
    missing = {name: internal[name] for name in ordered if name not in counts}
    problem = None
    if missing:
        listed = named(list(missing))
        text = f"Internal topics are missing: {f'[{listed}]' if names_all else listed}"
        problem = Problem(MISSING_INTERNAL_TOPICS, text)
    return Configured(topology.epoch, found, missing, problem)


def _decided(topology: TopologyValue, counts: Counts) -> Parts[dict[str, int]]:
    """The numbers of partitions of internal topics."""
    decided = yield from _of_repartitions(topology.subtopologies, counts)
    topics = [topic for each in topology.subtopologies for topic in each.repartitions]
    fixed = {topic.name for topic in topics if topic.partitions}
    flexible = {topic.name for topic in topics if not topic.partitions}
    alike, pace = _Alike(fixed, flexible, counts, decided), Pace()
    yield
    for each in topology.subtopologies:
        for group in each.copartitions:
            if names := _copartitioned(each, group):
                alike.enforce(names)
            if pace.enough(1 + len(names)):
                yield
    for each in topology.subtopologies:
        if not (read := reads(each)):
            raise ApiError(
                ErrorCode.STREAMS_INVALID_TOPOLOGY, f"No source topics found for subtopology {each.id}"
            )
        most = max(_count(name, counts, decided) for name in read)
        decided |= dict.fromkeys((topic.name for topic in each.changelogs), most)
        if pace.enough(size(each)):
            yield
    return decided


def _copartitioned(each: Subtopology, group: Copartition) -> set[str]:
    """ApiError UNKNOWN_SERVER_ERROR."""
    try:
        names = {each.sources[place] for place in group.sources}
        return names | {each.repartitions[place].name for place in group.repartitions}
    except IndexError:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR) from None


def _of_repartitions(subtopologies: Sequence[Subtopology], counts: Counts) -> Parts[dict[str, int]]:
    """A repartition topic has as many partitions as the largest topic that the subtopology reads which writes
    to it, of those that are decided by then: brokers pass over the subtopologies again and again
    (`RepartitionTopics.java`). ApiError STREAMS_INVALID_TOPOLOGY."""
    decided = {
        topic.name: topic.partitions
        for each in subtopologies
        for topic in each.repartitions
        if topic.partitions
    }
    readers: dict[str, list[int]] = {}
    due: list[tuple[int, int]] = []
    """The passes in which subtopologies know some of what they read, and their places."""
    pace, passed = Pace(), set[int]()
    yield
    for place, each in enumerate(subtopologies):
        for topic in each.repartitions:
            readers.setdefault(topic.name, []).append(place)
        known = any(topic.name in decided for topic in each.repartitions)
        if known or any(name in counts for name in each.sources):
            heappush(due, (0, place))
        if pace.enough(size(each)):
            yield
    while due:
        turn, place = heappop(due)
        if pace.enough():
            yield
        if place in passed:
            continue
        passed.add(place)
        each = subtopologies[place]
        if fresh := [name for name in dict.fromkeys(each.sinks) if name not in decided]:
            read = [decided[topic.name] for topic in each.repartitions if topic.name in decided]
            read += [counts[name] for name in each.sources if name in counts]
            decided |= dict.fromkeys(fresh, max(read))
            for name in fresh:
                for reader in readers.get(name, ()):
                    heappush(due, (turn + (reader <= place), reader))
        if pace.enough(size(each)):
            yield
    if any(sink not in decided for each in subtopologies for sink in each.sinks):
        raise ApiError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY,
            "Failed to compute number of partitions for all repartition topics. There may be loops in "
            "the topology that cannot be resolved.",
        )
    yield
    if readers.keys() - decided.keys():
        raise ApiError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY,
            "Failed to compute number of partitions for all repartition topics, because a repartition source "
            "topic is never used as a sink topic.",
        )
    return decided


class _Alike:
    """Has the internal topics of a group of topics have the same number of partitions
    (`CopartitionedTopicsEnforcer.java`)."""

    def __init__(self, fixed: set[str], flexible: set[str], counts: Counts, decided: dict[str, int]) -> None:
        self._fixed, self._flexible, self._counts, self._decided = fixed, flexible, counts, decided
        self._sizes = {_count(name, counts, decided) for name in fixed}

    def enforce(self, names: set[str]) -> None:
        sizes = {name: _count(name, self._counts, self._decided) for name in names}
        internal = {
            name: size for name, size in sizes.items() if name in self._fixed or name in self._flexible
        }
        others = {name: size for name, size in sizes.items() if name not in internal}
        if others:
            most = _same(others.values(), others)
        elif self._fixed:
            most = _same(self._sizes, internal)
        else:
            most = max(internal.values())
        for name, size in internal.items():
            if name in self._fixed and size != most:
                raise _ProblemError(
                    INCORRECTLY_PARTITIONED_TOPICS,
                    f"Number of partitions [{size}] of repartition topic [{name}] doesn't match number of "
                    f"partitions [{most}] of the source topic.",
                )
        self._decided |= dict.fromkeys(internal, most)


def _same(sizes: Iterable[int], shown: Counts) -> int:
    found = set(sizes)
    if len(found) > 1:
        listed = ", ".join(f"{name}={size}" for name, size in sorted(shown.items()))
        raise _ProblemError(
            INCORRECTLY_PARTITIONED_TOPICS,
            f"Following topics do not have the same number of partitions: [{{{listed}}}]",
        )
    return found.pop()


def _count(name: str, counts: Counts, decided: Counts) -> int:
    """ApiError UNKNOWN_SERVER_ERROR."""
    size = counts.get(name, decided.get(name))
    if size is None:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return size


def _with_partitions(topic: InternalTopic, decided: Counts) -> InternalTopic:
    return topic._replace(partitions=topic.partitions or decided[topic.name])


def _first(topics: list[str]) -> str:
    rest = len(topics) - _SHOWN
    return ", ".join(topics[:_SHOWN]) + (f" and {rest} additional topics" if rest > 0 else "")
