"""StreamsGroupDescribe (89): the state, topology, members and tasks of streams groups (KIP-1071)."""

from collections.abc import Iterable, Mapping
from typing import Final

from ..cluster.call import Call
from ..coordinators.streams import descriptions
from ..coordinators.streams.configuring import ConfiguredSubtopology, size
from ..coordinators.streams.group import Progress, StreamsGroup
from ..coordinators.streams.member import Assigned, StreamsMember, Tasks
from ..outcome import Steps
from ..policies.groups.group_operations import group_operations
from ..policies.streams_groups.streams_answers import streams_answers
from ..portions import Pace, Parts
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.streams_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    Subtopology,
    Topology,
)
from ..protocol.messages.streams_groups import Endpoint, KeyValue, TaskIds, TopicInfo
from ..protocol.streams_group_records import InternalTopic
from .registry import handles

E = ErrorCode
_NOT_STORED, _AVAILABLE = 1, 3
"""Whether there is a description of the topology."""
_TASKS: Final = 16
"""So many tasks take as long as another member."""


@handles(
    ApiKey.STREAMS_GROUP_DESCRIBE,
    changes=False,
    source="KafkaApis.handleStreamsGroupDescribe, GroupCoordinatorService.streamsGroupDescribe",
    group_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    group="""INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, UNSUPPORTED_VERSION, TOPIC_AUTHORIZATION_FAILED,
        GROUP_AUTHORIZATION_FAILED""",
)
def streams_group_describe(call: Call, request: StreamsGroupDescribeRequest) -> Steps:
    """Without an authorizer, all operations on groups are authorized. A group that is named twice is
    described twice."""
    answer, pace = StreamsGroupDescribeResponse(), Pace()
    for group_id in request.group_ids:
        described, group = yield from _describe(call, group_id)
        if request.include_authorized_operations and not described.error_code:
            described.authorized_operations = call.policies[group_operations]
        if request.include_topology_description and not described.error_code:
            found = None if group is None else descriptions.shown(group)
            described.topology_description_status = _AVAILABLE if found else _NOT_STORED
            if found is not None:
                described.topology_description = found.said
                call.count(found.nodes)
        answer.groups.append(described)
        if pace.enough():
            yield
        for member in list(group.members.values()) if group is not None else ():
            assert group is not None
            described.members.append(shown := _member(group, member))
            tasks = _size(shown.assignment) + _size(shown.target_assignment)
            call.count(1 + tasks)
            if pace.enough(2 + tasks // _TASKS):
                yield
    return answer


def _size(assignment: Assignment) -> int:
    kinds = assignment.active_tasks, assignment.standby_tasks, assignment.warmup_tasks
    return sum(len(each.partitions) for tasks in kinds for each in tasks)


def _describe(call: Call, group_id: str) -> Parts[tuple[DescribedGroup, StreamsGroup | None]]:
    """Without its members."""
    groups = call.broker.groups
    error = groups.refuses(group_id) if groups.streams.served else E.UNSUPPORTED_VERSION
    if error:
        return DescribedGroup(error_code=error, group_id=group_id), None
    try:
        group = groups.streams.existing(group_id)
    except ApiError as missing:
        return DescribedGroup(error_code=missing.code, error_message=missing.message, group_id=group_id), None
    described = DescribedGroup(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.protocol,
    )
    described.topology = yield from _shown_topology(call, group)
    return described, group


def _shown_topology(call: Call, group: StreamsGroup) -> Parts[Topology | None]:
    """As it is configured once all its topics are there; before that as the members said it, in 4.1 as far as
    it could be configured."""
    seen = group.seen
    if call.policies[streams_answers] == "preview":
        if seen is None:
            return None
        if seen.subtopologies is None:
            return Topology(seen.epoch, [])
        return (yield from _topology(group, seen.subtopologies))
    ready = seen.subtopologies if seen is not None and seen.is_ready else None
    return (yield from _topology(group, ready or {}))


def _topology(group: StreamsGroup, known: Mapping[str, ConfiguredSubtopology]) -> Parts[Topology | None]:
    """As it is configured, as far as that is `known`; otherwise as the members said it."""
    topology = group.topology
    if topology is None:
        return None
    shown, pace = [], Pace()
    for each in sorted(topology.subtopologies):
        if pace.enough(size(each)):
            yield
        changelogs, repartitions = each.changelogs, each.repartitions
        if each.id in known:
            changelogs, repartitions = known[each.id].changelogs, known[each.id].repartitions
        shown.append(
            Subtopology(
                each.id, sorted(each.sources), sorted(each.sinks), _topics(changelogs), _topics(repartitions)
            )
        )
    return Topology(topology.epoch, shown)


def _topics(topics: Iterable[InternalTopic]) -> list[TopicInfo]:
    return [
        TopicInfo(
            each.name, each.partitions, each.replication_factor, [KeyValue(*pair) for pair in each.configs]
        )
        for each in sorted(topics)
    ]


def _member(group: StreamsGroup, member: StreamsMember) -> Member:
    progress = group.progress.get(member.id, Progress((), ()))
    return Member(
        member_id=member.id,
        member_epoch=member.epoch,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if member.endpoint is None else Endpoint(*member.endpoint),
        client_tags=[KeyValue(*pair) for pair in member.tags],
        task_offsets=list(progress.offsets),
        task_end_offsets=list(progress.end_offsets),
        assignment=_assignment(member.assigned.tasks),
        target_assignment=_assignment(group.target_of(member.id)),
    )


def _assignment(tasks: Assigned) -> Assignment:
    return Assignment(*(_listed(each) for each in tasks))


def _listed(tasks: Tasks) -> list[TaskIds]:
    return [TaskIds(name, sorted(partitions)) for name, partitions in sorted(tasks.items())]
