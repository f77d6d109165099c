"""StreamsGroupHeartbeat (88): instances of Kafka Streams join, learn their tasks, and leave (KIP-1071)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..acls import Operation, ResourceType
from ..cluster.call import Call
from ..cluster.topic import INTERNAL
from ..controller.topic_names import fault
from ..coordinators.streams.configuring import MISSING_INTERNAL_TOPICS, Problem
from ..coordinators.streams.coordinating import Beat
from ..coordinators.streams.member import Owned, Tasks
from ..coordinators.streams.requests import check, check_size, topics_of
from ..coordinators.streams.settings import heartbeat_ms
from ..outcome import PARKED, Steps
from ..policies.streams_groups.streams_answers import streams_answers
from ..policies.streams_groups.streams_heartbeats import streams_heartbeats
from ..portions import PORTION, Parts, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.streams_group_heartbeat import (
    Status,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Topology,
)
from ..protocol.messages.streams_groups import TaskIds
from ..protocol.streams_group_records import InternalTopic
from .registry import handles

E = ErrorCode
_PATIENCE: Final = 2
"""After so many heartbeats a topic that could not be created is tried again."""
_TASK_OFFSET_INTERVAL_MS: Final = 60_000
_ACCEPTABLE_RECOVERY_LAG: Final = 10_000
"""In offsets."""
_SHOWN: Final = 3
"""How many failures are told at most."""


@handles(
    ApiKey.STREAMS_GROUP_HEARTBEAT,
    changes=True,
    source="""KafkaApis.handleStreamsGroupHeartbeat, GroupCoordinatorService.streamsGroupHeartbeat,
        GroupMetadataManager.streamsGroupHeartbeat, InternalTopicManager""",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="""INVALID_REQUEST, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, GROUP_MAX_SIZE_REACHED,
        GROUP_ID_NOT_FOUND, STREAMS_INVALID_TOPOLOGY, UNSUPPORTED_VERSION, TOPIC_AUTHORIZATION_FAILED,
        GROUP_AUTHORIZATION_FAILED""",
)
def streams_group_heartbeat(call: Call, request: StreamsGroupHeartbeatRequest) -> object:
    """Answered once everything that was written before is replicated. UNSUPPORTED_VERSION unless
    `streams.version` is finalized."""
    groups = call.broker.groups

    def failed(code: ErrorCode, message: str | None = None) -> StreamsGroupHeartbeatResponse:
        return StreamsGroupHeartbeatResponse(
            error_code=code, error_message=message, status=_statuses(call, ())
        )

    def steps() -> Steps:
        try:
            if request.topology is not None:
                yield from check_size(request.topology)
                yield from _check_topics(request.topology)
            yield from check(request, call)
            if error := groups.refuses(request.group_id):
                return failed(error)
            beat = yield from groups.streams.beat(request, call)
        except ApiError as error:
            return failed(error.code, error.message)
        answer = _answer(call, request, beat)
        if beat.missing:
            _create(call, request.group_id, beat.missing, answer)
        return groups.once_settled(call, request.group_id, answer, failed)

    if not groups.streams.served:
        return failed(E.UNSUPPORTED_VERSION)
    answer = groups.streams.turns.begin(request.group_id, call, steps())
    call.long = call.long or answer is PARKED
    return answer


def _check_topics(topology: Topology) -> Parts[None]:
    """Before anything else. ApiError STREAMS_INVALID_TOPOLOGY."""
    internal, invalid = list[str](), list[str]()
    for some in portions(topics_of(topology)):
        internal += [each for each in some if each in INTERNAL]
        invalid += filter(fault, some)
        if len(some) == PORTION:
            yield
    if internal:
        raise ApiError(
            E.STREAMS_INVALID_TOPOLOGY,
            f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is prohibited.",
        )
    if invalid:
        raise ApiError(
            E.STREAMS_INVALID_TOPOLOGY, f"Topic names {','.join(invalid)} are not valid topic names."
        )


def _answer(call: Call, request: StreamsGroupHeartbeatRequest, beat: Beat) -> StreamsGroupHeartbeatResponse:
    member = beat.member
    if member is None:
        return StreamsGroupHeartbeatResponse(
            member_id=request.member_id, member_epoch=request.member_epoch, status=_statuses(call, ())
        )
    answer = StreamsGroupHeartbeatResponse(
        member_id=member.id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=heartbeat_ms(call.environment.configs, request.group_id),
        status=_statuses(call, beat.statuses),
        endpoint_information_epoch=beat.endpoint_epoch,
        partitions_by_user_endpoint=beat.endpoints,
    )
    if call.policies[streams_heartbeats] == "full":
        answer.task_offset_interval_ms = _TASK_OFFSET_INTERVAL_MS
        answer.acceptable_recovery_lag = _ACCEPTABLE_RECOVERY_LAG
    answer.topology_description_required = beat.wants_description
    if beat.assigned:
        answer.active_tasks = _listed(member.assigned.active)
        answer.standby_tasks = _listed(member.assigned.standby)
        answer.warmup_tasks = _listed(member.assigned.warmup)
    return answer


def _statuses(call: Call, problems: Sequence[Problem]) -> list[Status] | None:
    if not problems and call.policies[streams_answers] == "preview":
        return None
    return [Status(*each) for each in problems]


def _create(
    call: Call, group_id: str, missing: Mapping[str, InternalTopic], answer: StreamsGroupHeartbeatResponse
) -> None:
    """Has internal topics created; the answer says which could not be before, since 4.2."""
    told = next(each for each in answer.status or () if each.status_code == MISSING_INTERNAL_TOPICS)
    if forbidden := _forbidden(call, missing):
        told.status_detail += f"; Unauthorized to CREATE on topics {', '.join(forbidden)}."
        return
    topics = call.broker.streams_topics
    topics.create(missing, _PATIENCE * heartbeat_ms(call.environment.configs, group_id))
    failures = topics.failures(missing)
    if failures and call.policies[streams_answers] == "released":
        listed = ", ".join(f"{name} ({why})" for name, why in list(failures.items())[:_SHOWN])
        rest = len(failures) - _SHOWN
        told.status_detail += f"; Creation failed: {listed}" + (f" and {rest} more." if rest > 0 else ".")


def _forbidden(call: Call, names: Iterable[str]) -> list[str]:
    """The topics that the client may not create."""
    asker = call.asker
    if asker is None or asker.may(Operation.CREATE, ResourceType.CLUSTER, quietly=True):
        return []
    return [name for name in names if not asker.may(Operation.CREATE, ResourceType.TOPIC, name)]


def _listed(tasks: Owned | Tasks) -> list[TaskIds]:
    return [TaskIds(name, sorted(partitions)) for name, partitions in tasks.items()]
