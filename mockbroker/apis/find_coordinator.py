"""FindCoordinator (10): which broker coordinates a group or a transactional id."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..cluster.call import Call
from ..cluster.cluster import java_hash
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from .registry import handles

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.cluster import Cluster

GROUP: Final = 0
TRANSACTION: Final = 1
SHARE: Final = 2


@handles(ApiKey.FIND_COORDINATOR)
def find_coordinator(call: Call, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    """The internal topics exist as soon as they are asked for: a client never has to come again for them."""
    answer = FindCoordinatorResponse()
    for key in request.coordinator_keys:
        if request.key_type in _COORDINATORS:
            broker = _COORDINATORS[request.key_type](call.cluster, key)
            found = Coordinator(key, broker.id, broker.host, broker.port, ErrorCode.NONE, "")
        else:
            found = Coordinator(key, -1, "", -1, ErrorCode.INVALID_REQUEST, "")
        if call.version < 4:
            found.error_message = _MESSAGES[ErrorCode(found.error_code)]
        answer.coordinators.append(found)
    return answer


def transaction_coordinator(cluster: "Cluster", transactional_id: str) -> "Broker":
    """The leader of the id's partition of `__transaction_state`, or who would be."""
    count = cluster.configs.broker_int("transaction.state.log.num.partitions")
    index = java_hash(transactional_id) % count
    partition = cluster.partition("__transaction_state", index)
    leader = cluster.assign_replicas(count, 1)[index][0] if partition is None else partition.leader
    return cluster.brokers[leader]


_COORDINATORS: Final[dict[int, Callable[["Cluster", str], "Broker"]]] = {
    GROUP: lambda cluster, key: cluster.coordinator(key),
    TRANSACTION: transaction_coordinator,
}

_MESSAGES: Final = {
    ErrorCode.NONE: "NONE",
    ErrorCode.INVALID_REQUEST: "This most likely occurs because of a request being malformed by the client "
    "library or the message was sent to an incompatible broker. See the broker logs for more details.",
}
"""Up to v3 every answer has a message (`Errors.java`)."""
