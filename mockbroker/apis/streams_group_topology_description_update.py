"""StreamsGroupTopologyDescriptionUpdate (93): instances describe their topology (KIP-1331)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from .registry import handles


@handles(
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
    changes=False,
    source="""KafkaApis.handleStreamsGroupTopologyDescriptionUpdate,
        GroupCoordinatorService.streamsGroupTopologyDescriptionUpdate""",
    top="UNSUPPORTED_VERSION, GROUP_AUTHORIZATION_FAILED",
)
def streams_group_topology_description_update(
    call: Call, request: StreamsGroupTopologyDescriptionUpdateRequest
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    """Brokers need a plugin for it, which is never there: no client is asked for a description."""
    answer = StreamsGroupTopologyDescriptionUpdateResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    if call.broker.groups.streams.served:
        answer.error_message = "The broker has no streams group topology description plugin configured."
    return answer
