"""What a StreamsGroupHeartbeat has to be like (`GroupCoordinatorService.java`)."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from ...policies.streams_groups.streams_heartbeats import streams_heartbeats
from ...portions import Pace, Parts, portions
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages import streams_group_heartbeat as messages
from ...protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ...protocol.messages.streams_groups import TaskIds, TopicInfo
from ...protocol.streams_group_records import Copartition, InternalTopic, Subtopology, TopologyValue
from ..home import Request
from .member import JOINING, LEAVING_FOR_A_WHILE, Assigned, Tasks

E = ErrorCode
MOST_NAMES: Final = 10_000
"""Topics that a topology may name, and subtopologies. Real brokers have no such limit."""
_ONE_FOR_ALL: Final = "If one task-type is non-null, all must be non-null."


def check_size(topology: messages.Topology) -> Parts[None]:
    """ApiError STREAMS_INVALID_TOPOLOGY if the topology is too large to look at."""
    count = 0
    for some in portions(topology.subtopologies):
        count += sum(map(_size, some))
        yield
    if count > MOST_NAMES:
        raise ApiError(
            E.STREAMS_INVALID_TOPOLOGY,
            f"The topology has {count} subtopologies, topics and groups of topics, and mockbroker takes "
            f"{MOST_NAMES}.",
        )


def _size(each: messages.Subtopology) -> int:
    return (
        1
        + len(each.source_topics)
        + len(each.repartition_sink_topics)
        + len(each.repartition_source_topics)
        + len(each.state_changelog_topics)
        + len(each.copartition_groups)
    )


def check(request: StreamsGroupHeartbeatRequest, call: Request) -> Parts[None]:
    """ApiError INVALID_REQUEST, STREAMS_INVALID_TOPOLOGY."""
    if call.policies[streams_heartbeats] == "limited":
        _check_unsupported(request)
    for some in portions([] if request.topology is None else request.topology.subtopologies):
        if any(each.source_topic_regex for each in some):
            raise ApiError(E.INVALID_REQUEST, "Regular expressions for source topics are not supported yet.")
        yield
    for text, name in (
        (request.member_id, "MemberId"),
        (request.group_id, "GroupId"),
        (request.instance_id, "InstanceId"),
        (request.rack_id, "RackId"),
    ):
        if text is not None and not text.strip():
            raise ApiError(E.INVALID_REQUEST, f"{name} can't be empty.")
    epoch = request.member_epoch
    kinds = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    if epoch == JOINING:
        yield from _check_joining(request)
    elif epoch == LEAVING_FOR_A_WHILE and request.instance_id is None:
        raise ApiError(E.INVALID_REQUEST, "InstanceId can't be null.")
    elif epoch < LEAVING_FOR_A_WHILE:
        raise ApiError(E.INVALID_REQUEST, f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    if any(each is not None for each in kinds) and any(each is None for each in kinds):
        raise ApiError(E.INVALID_REQUEST, _ONE_FOR_ALL)
    if epoch != JOINING and request.topology is not None:
        raise ApiError(E.INVALID_REQUEST, "Topology can only be provided when (re-)joining.")


def _check_unsupported(request: StreamsGroupHeartbeatRequest) -> None:
    if request.instance_id is not None:
        raise ApiError(E.INVALID_REQUEST, "Static membership is not yet supported.")
    if request.task_offsets is not None:
        raise ApiError(E.INVALID_REQUEST, "TaskOffsets are not supported yet.")
    if request.task_end_offsets is not None:
        raise ApiError(E.INVALID_REQUEST, "TaskEndOffsets are not supported yet.")
    if request.warmup_tasks:
        raise ApiError(E.INVALID_REQUEST, "WarmupTasks are not supported yet.")


def _check_joining(request: StreamsGroupHeartbeatRequest) -> Parts[None]:
    if request.rebalance_timeout_ms == -1:
        raise ApiError(E.INVALID_REQUEST, "RebalanceTimeoutMs must be provided in first request.")
    for name, tasks in (
        ("ActiveTasks", request.active_tasks),
        ("StandbyTasks", request.standby_tasks),
        ("WarmupTasks", request.warmup_tasks),
    ):
        if tasks is None or tasks:
            raise ApiError(E.INVALID_REQUEST, f"{name} must be empty when (re-)joining.")
    if request.topology is None:
        raise ApiError(E.INVALID_REQUEST, "Topology must be non-null when (re-)joining.")
    pace = Pace()
    for each in request.topology.subtopologies:
        if pace.enough(1 + len(each.state_changelog_topics)):
            yield
        for topic in each.state_changelog_topics:
            if topic.partitions:
                raise ApiError(
                    E.STREAMS_INVALID_TOPOLOGY,
                    f"Changelog topic {topic.name} must have an undefined partition count, but it is set to "
                    f"{topic.partitions}.",
                )


def topics_of(topology: messages.Topology) -> Iterator[str]:
    """All that it names, each once."""
    known = set[str]()
    for each in topology.subtopologies:
        for name in chain(
            each.source_topics,
            each.repartition_sink_topics,
            (topic.name for topic in each.repartition_source_topics),
            (topic.name for topic in each.state_changelog_topics),
        ):
            if name not in known:
                known.add(name)
                yield name


def topology_of(asked: messages.Topology) -> Parts[TopologyValue]:
    subtopologies, pace = list[Subtopology](), Pace()
    for each in asked.subtopologies:
        subtopologies.append(
            Subtopology(
                each.subtopology_id,
                tuple(each.source_topics),
                tuple(each.source_topic_regex),
                tuple(map(_topic, each.state_changelog_topics)),
                tuple(each.repartition_sink_topics),
                tuple(map(_topic, each.repartition_source_topics)),
                tuple(
                    Copartition(
                        tuple(group.source_topics),
                        tuple(group.source_topic_regex),
                        tuple(group.repartition_source_topics),
                    )
                    for group in each.copartition_groups
                ),
            )
        )
        if pace.enough(_size(each)):
            yield
    return TopologyValue(asked.epoch, tuple(subtopologies))


def _topic(info: TopicInfo) -> InternalTopic:
    configs = tuple((each.key, each.value) for each in info.topic_configs)
    return InternalTopic(info.name, info.partitions, info.replication_factor, configs)


def owned_of(request: StreamsGroupHeartbeatRequest) -> Parts[Assigned | None]:
    """What the member says that it has."""
    active, standby, warmup = request.active_tasks, request.standby_tasks, request.warmup_tasks
    if active is None or standby is None or warmup is None:
        return None
    return Assigned((yield from _tasks(active)), (yield from _tasks(standby)), (yield from _tasks(warmup)))


def names_twice(request: StreamsGroupHeartbeatRequest, owned: Assigned | None) -> bool:
    """Whether it lists the tasks of a subtopology in two places (`TasksTuple.fromHeartbeatRequest`)."""
    kinds = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    return owned is not None and any(
        len(tasks) < len(listed or ()) for tasks, listed in zip(owned, kinds, strict=True)
    )


def _tasks(listed: Sequence[TaskIds]) -> Parts[Tasks]:
    found: dict[str, set[int]] = {}
    for some in portions(listed):
        for each in some:
            found.setdefault(each.subtopology_id, set()).update(each.partitions)
        yield
    return {name: frozenset(partitions) for name, partitions in found.items()}
