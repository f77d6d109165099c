"""ElectLeaders (43): preferred and unclean elections (KIP-183, KIP-460)."""

from collections.abc import Callable, Generator, Iterator
from typing import Final

from ..cluster.call import Call
from ..controller import elections
from ..outcome import Steps
from ..policies.controller.election_refusal import election_refusal
from ..policies.controller.repeated_election import repeated_election
from ..portions import Pace
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from .registry import handles

_ELECTIONS = {0: elections.elect_preferred, 1: elections.elect_unclean}
_ELECTIONS_IN_A_PART: Final = 2
Elect = Callable[[str, int], PartitionResult]


@handles(
    ApiKey.ELECT_LEADERS,
    changes=True,
    source="""ControllerApis.handleElectLeaders, ReplicationControlManager.electLeaders, ForwardingManager;
        KafkaController before 4.0""",
    top_retry="NOT_CONTROLLER v1+, REQUEST_TIMED_OUT v1+",
    top="INVALID_REQUEST v1+, CLUSTER_AUTHORIZATION_FAILED v1+",
    partition_retry="""NOT_CONTROLLER, REQUEST_TIMED_OUT, UNKNOWN_TOPIC_OR_PARTITION,
        PREFERRED_LEADER_NOT_AVAILABLE, ELIGIBLE_LEADERS_NOT_AVAILABLE""",
    partition="ELECTION_NOT_NEEDED, INVALID_REQUEST, INVALID_TOPIC_EXCEPTION, CLUSTER_AUTHORIZATION_FAILED",
)
def elect_leaders(call: Call, request: ElectLeadersRequest) -> Steps:
    """Null means all partitions: then those that need no election are left out of the answer, but not their
    topics."""
    cluster = call.cluster
    if call.broker.is_not_controller:
        everything = request.topic_partitions is None
        asked = _all(call) if everything else _named(request)
        return (yield from _results(asked, _failing(ErrorCode.NOT_CONTROLLER)))
    if request.topic_partitions is not None and not request.topic_partitions:
        return ElectLeadersResponse()
    if request.timeout_ms <= 0:
        # The controller's deadline has passed when it starts on the request.
        return (yield from _refused(request, ErrorCode.REQUEST_TIMED_OUT))
    if request.election_type not in _ELECTIONS:
        why = f"Unknown election type {request.election_type}"
        return (yield from _refused(request, ErrorCode.INVALID_REQUEST, why))

    elected: set[tuple[str, int]] = set()

    def elect(name: str, index: int) -> PartitionResult:
        again = cluster.partition(name, index) if (name, index) in elected else None
        if again is not None and call.policies[repeated_election] == "each":
            with again.reasons.because("it was elected again"), again.reasons.asked_by(call.who):
                again.bump_epoch()
            return PartitionResult(index, 0, None)
        result = _elect(call, name, index, request.election_type)
        if not result.error_code:
            elected.add((name, index))
        return result

    if request.topic_partitions is not None:
        return (yield from _results(_named(request), elect))
    return (yield from _results(_all(call), elect, without=ErrorCode.ELECTION_NOT_NEEDED))


def _all(call: Call) -> Iterator[tuple[str, list[int]]]:
    """In the order of the controller's hash tables."""
    controller = call.cluster.controller
    for topic in controller.topic_order():
        if topic.id in controller.image.topic_ids:
            yield topic.name, controller.partition_order(topic.id)


def _named(request: ElectLeadersRequest) -> Iterator[tuple[str, list[int]]]:
    return ((each.topic, each.partitions) for each in request.topic_partitions or ())


def _results(
    asked: Iterator[tuple[str, list[int]]], elect: Elect, *, without: ErrorCode | None = None
) -> Generator[None, None, ElectLeadersResponse]:
    answer, pace = ElectLeadersResponse(), Pace(_ELECTIONS_IN_A_PART)
    for name, indexes in asked:
        answer.replica_election_results.append(result := ReplicaElectionResult(name))
        for index in indexes:
            elected = elect(name, index)
            if elected.error_code != without:
                result.partition_result.append(elected)
            if pace.enough():
                yield
    return answer


def _failing(error: ErrorCode, message: str | None = None) -> Elect:
    return lambda _, index: PartitionResult(index, error, message)


def _refused(request: ElectLeadersRequest, error: ErrorCode, message: str | None = None) -> Steps:
    """The error is at the top, and with each partition that was named."""
    answer = yield from _results(_named(request), _failing(error, message))
    answer.error_code = error
    return answer


def _elect(call: Call, topic: str, index: int, election_type: int) -> PartitionResult:
    partition = call.cluster.partition(topic, index)
    if partition is None:
        words = call.policies[election_refusal]
        message = words.unknown_partition if topic in call.cluster.topics else words.unknown_topic
        message = message.format(topic=topic, partition=index)
        return PartitionResult(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    try:
        with partition.reasons.asked_by(call.who):
            _ELECTIONS[election_type](partition)
    except ApiError as error:
        return PartitionResult(index, error.code, error.message)
    return PartitionResult(index, 0, None)
