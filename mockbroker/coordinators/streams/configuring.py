"""What a topology comes to with the topics that there are: how many tasks each subtopology has, and which
internal topics are missing (`InternalTopicManager.java`)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.streams_group_records import Copartition, InternalTopic, Subtopology, TopologyValue
from .hash_order import in_hash_order

MISSING_SOURCE_TOPICS: Final = 1
INCORRECTLY_PARTITIONED_TOPICS: Final = 2
MISSING_INTERNAL_TOPICS: Final = 3
MOST_TASKS: Final = 10_000
"""Of a group: they are assigned in one step. Real brokers have no such limit."""
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


def required(topology: TopologyValue) -> set[str]:
    """The topics that have to be there."""
    return {
        name
        for each in topology.subtopologies
        for name in (*reads(each), *(topic.name for topic in each.changelogs))
    }


def configured(topology: TopologyValue, counts: Counts, *, names_all: bool = False) -> Configured:
    """`counts` are of all topics; a problem `names_all` topics, or the first few. ApiError
    STREAMS_INVALID_TOPOLOGY, UNKNOWN_SERVER_ERROR."""
    try:
        return _configured(topology, counts, ", ".join if names_all else _first, names_all=names_all)
    except _ProblemError as error:
        return Configured(topology.epoch, None, {}, error.problem)


def _configured(
    topology: TopologyValue, counts: Counts, named: Callable[[list[str]], str], *, names_all: bool
) -> Configured:
    sources = {name for each in topology.subtopologies for name in each.sources}
    if gone := sorted(sources - counts.keys()):
        raise _ProblemError(MISSING_SOURCE_TOPICS, f"Source topics {named(gone)} are missing.")
    decided = _decided(topology, counts)
    if len({each.id for each in topology.subtopologies}) < len(topology.subtopologies):
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    found = {
        each.id: ConfiguredSubtopology(
            each,
            max(_count(name, counts, decided) for name in reads(each)),
            tuple(_with_partitions(topic, decided) for topic in each.changelogs),
            tuple(_with_partitions(topic, decided) for topic in each.repartitions),
        )
        for each in sorted(topology.subtopologies)
    }
    if (tasks := sum(each.tasks for each in found.values())) > MOST_TASKS:
        raise ApiError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY,
            f"The topology comes to {tasks} tasks, and mockbroker takes {MOST_TASKS}.",
        )
    internal = {
        topic.name: topic for each in found.values() for topic in (*each.repartitions, *each.changelogs)
    }
    for name in in_hash_order(sorted(required(topology))):
        if name in internal and name in counts and counts[name] != internal[name].partitions:
            raise _ProblemError(
                INCORRECTLY_PARTITIONED_TOPICS,
                f"Existing topic {name} has different number of partitions: expected "
                f"{internal[name].partitions}, found {counts[name]}",
            )
    missing = {name: internal[name] for name in in_hash_order(internal) if name not in counts}
    problem = None
    if missing:
        listed = named(list(missing))
        text = f"Internal topics are missing: {f'[{listed}]' if names_all else listed}"
        problem = Problem(MISSING_INTERNAL_TOPICS, text)
    return Configured(topology.epoch, found, missing, problem)


def _decided(topology: TopologyValue, counts: Counts) -> dict[str, int]:
    """The numbers of partitions of internal topics."""
    decided = _of_repartitions(topology.subtopologies, counts)
    topics = [topic for each in topology.subtopologies for topic in each.repartitions]
    fixed = {topic.name for topic in topics if topic.partitions}
    flexible = {topic.name for topic in topics if not topic.partitions}
    for each in topology.subtopologies:
        for group in each.copartitions:
            names = _copartitioned(each, group)
            if names:
                decided |= _alike(names, fixed, flexible, counts, decided)
    for each in topology.subtopologies:
        if not (read := reads(each)):
            raise ApiError(
                ErrorCode.STREAMS_INVALID_TOPOLOGY, f"No source topics found for subtopology {each.id}"
            )
        most = max(_count(name, counts, decided) for name in read)
        decided |= dict.fromkeys((topic.name for topic in each.changelogs), most)
    return decided


def _copartitioned(each: Subtopology, group: Copartition) -> set[str]:
    """ApiError UNKNOWN_SERVER_ERROR."""
    try:
        names = {each.sources[place] for place in group.sources}
        return names | {each.repartitions[place].name for place in group.repartitions}
    except IndexError:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR) from None


def _of_repartitions(subtopologies: Iterable[Subtopology], counts: Counts) -> dict[str, int]:
    """A repartition topic has as many partitions as the largest topic that the subtopology reads which writes
    to it (`RepartitionTopics.java`). ApiError STREAMS_INVALID_TOPOLOGY."""
    decided = {
        topic.name: topic.partitions
        for each in subtopologies
        for topic in each.repartitions
        if topic.partitions
    }
    while True:
        progressed = left = False
        for each in subtopologies:
            for sink in each.sinks:
                if sink in decided:
                    continue
                read = [decided[topic.name] for topic in each.repartitions if topic.name in decided]
                read += [counts[name] for name in each.sources if name in counts]
                if read:
                    decided[sink], progressed = max(read), True
                else:
                    left = True
        if not left:
            break
        if not progressed:
            raise ApiError(
                ErrorCode.STREAMS_INVALID_TOPOLOGY,
                "Failed to compute number of partitions for all repartition topics. There may be loops in "
                "the topology that cannot be resolved.",
            )
    if any(topic.name not in decided for each in subtopologies for topic in each.repartitions):
        raise ApiError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY,
            "Failed to compute number of partitions for all repartition topics, because a repartition source "
            "topic is never used as a sink topic.",
        )
    return decided


def _alike(
    names: set[str], fixed: set[str], flexible: set[str], counts: Counts, decided: Counts
) -> dict[str, int]:
    """The numbers of partitions of those that are internal, so that all have the same
    (`CopartitionedTopicsEnforcer.java`)."""
    sizes = {name: _count(name, counts, decided) for name in names}
    internal = {name: size for name, size in sizes.items() if name in fixed or name in flexible}
    others = {name: size for name, size in sizes.items() if name not in internal}
    if others:
        most = _same(others.values(), others)
    elif fixed:
        most = _same([_count(name, counts, decided) for name in sorted(fixed)], internal)
    else:
        most = max(internal.values())
    for name, size in internal.items():
        if name in fixed and size != most:
            raise _ProblemError(
                INCORRECTLY_PARTITIONED_TOPICS,
                f"Number of partitions [{size}] of repartition topic [{name}] doesn't match number of "
                f"partitions [{most}] of the source topic.",
            )
    return dict.fromkeys(internal, most)


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
