"""StreamsGroupTopologyDescriptionUpdate (93): instances describe their topology (KIP-1331)."""

from collections.abc import Iterator

from ..cluster.call import Call
from ..coordinators.streams import descriptions
from ..outcome import Steps
from ..portions import portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from ..protocol.messages.streams_groups import TopologyDescription, TopologyDescriptionNode
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
    changes=True,
    source="""KafkaApis.handleStreamsGroupTopologyDescriptionUpdate,
        GroupCoordinatorService.streamsGroupTopologyDescriptionUpdate""",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="""INVALID_REQUEST, UNKNOWN_MEMBER_ID, GROUP_ID_NOT_FOUND, UNSUPPORTED_VERSION,
        GROUP_AUTHORIZATION_FAILED""",
)
def streams_group_topology_description_update(
    call: Call, request: StreamsGroupTopologyDescriptionUpdateRequest
) -> Steps:
    """UNSUPPORTED_VERSION without a plugin (`group.streams.topology.description.plugin.class`), as without
    streams groups. Answered once that there is a description is replicated."""
    groups = call.broker.groups
    failure = StreamsGroupTopologyDescriptionUpdateResponse
    if not groups.streams.served:
        return failure(error_code=E.UNSUPPORTED_VERSION)
    if not descriptions.are_kept(call.environment.configs):
        return failure(
            error_code=E.UNSUPPORTED_VERSION,
            error_message="The broker has no streams group topology description plugin configured.",
        )
    count, wrong = 0, None
    for some in portions(_nodes(request.topology_description)):
        count += len(some)
        try:
            descriptions.check(some)
        except ApiError as error:
            wrong = wrong or error
        yield
    try:
        _check_ids(request)
        if code := groups.refuses(request.group_id):
            return failure(error_code=code)
        groups.streams.describe(request, count, wrong)
    except ApiError as error:
        return failure(error_code=error.code, error_message=error.message)
    answer = StreamsGroupTopologyDescriptionUpdateResponse()
    return groups.once_settled(call, request.group_id, answer, lambda late: failure(error_code=late))


def _check_ids(request: StreamsGroupTopologyDescriptionUpdateRequest) -> None:
    for name, text in (("GroupId", request.group_id), ("MemberId", request.member_id)):
        if not text.strip():
            raise ApiError(E.INVALID_REQUEST, f"{name} can't be empty.")


def _nodes(description: TopologyDescription) -> Iterator[TopologyDescriptionNode]:
    for each in description.subtopologies:
        yield from each.nodes
    for store in description.global_stores:
        yield from (store.source, store.processor)
