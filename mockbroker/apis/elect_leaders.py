"""ElectLeaders (43): preferred and unclean elections (KIP-183, KIP-460)."""

from ..cluster import controller
from ..cluster.api_error import ApiError
from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from .registry import handles

_ELECTIONS = {0: controller.elect_preferred, 1: controller.elect_unclean}


@handles(ApiKey.ELECT_LEADERS)
def elect_leaders(call: Call, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Null stands for all partitions; those that need no election are left out of the answer then."""
    if request.election_type not in _ELECTIONS:
        return ElectLeadersResponse(error_code=ErrorCode.INVALID_REQUEST)
    topics = call.cluster.topics
    if request.topic_partitions is None:
        asked = [(name, list(range(len(topic.partitions)))) for name, topic in topics.items()]
    else:
        asked = [(each.topic, each.partitions) for each in request.topic_partitions]
    answer = ElectLeadersResponse()
    for name, indexes in asked:
        results = [_elect(call, name, index, request.election_type) for index in indexes]
        if request.topic_partitions is None:
            results = [r for r in results if r.error_code != ErrorCode.ELECTION_NOT_NEEDED]
        if results or request.topic_partitions is not None:
            answer.replica_election_results.append(ReplicaElectionResult(name, results))
    return answer


def _elect(call: Call, topic: str, index: int, election_type: int) -> PartitionResult:
    partition = call.cluster.partition(topic, index)
    if partition is None:
        missing = f"partition as {topic}-{index}" if topic in call.cluster.topics else f"topic as {topic}"
        message = f"No such {missing}"
        return PartitionResult(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    try:
        _ELECTIONS[election_type](call.cluster, partition)
    except ApiError as error:
        return PartitionResult(index, error.code, error.message)
    return PartitionResult(index, 0, None)
