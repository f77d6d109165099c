"""FindCoordinator (10): which broker coordinates a group, a transactional id or a share partition."""

from typing import TYPE_CHECKING, Final

from ..cluster.call import Call
from ..configs import java
from ..outcome import Steps
from ..policies.groups.share_coordinator import share_coordinator
from ..policies.share_groups.share_group_with_colons import share_group_with_colons
from ..portions import FEW, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from ..protocol.primitives import uuid_of_short
from .registry import handles

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.topic import TopicPartition

GROUP: Final = 0
TRANSACTION: Final = 1
SHARE: Final = 2
_COLONS: Final = 2
"""Between the parts of a share partition's key."""

_MESSAGES: Final = {
    ErrorCode.NONE: "NONE",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    ErrorCode.INVALID_REQUEST: "This most likely occurs because of a request being malformed by the client "
    "library or the message was sent to an incompatible broker. See the broker logs for more details.",
}
"""Up to v3 every answer has a message (`Errors.java`); since v4 only the error for an unknown key type has
one."""


@handles(
    ApiKey.FIND_COORDINATOR,
    changes=False,
    source="""KafkaApis.handleFindCoordinatorRequest and getCoordinator, FindCoordinatorResponse: the top has
        the error before v4, each coordinator since""",
    top_retry="COORDINATOR_NOT_AVAILABLE v0-3",
    top="""INVALID_REQUEST v0-3, INVALID_GROUP_ID v0-3, GROUP_AUTHORIZATION_FAILED v0-3,
        TRANSACTIONAL_ID_AUTHORIZATION_FAILED v1-3""",
    coordinator_retry="COORDINATOR_NOT_AVAILABLE v4+",
    coordinator="""INVALID_REQUEST v4+, INVALID_GROUP_ID v4+, GROUP_AUTHORIZATION_FAILED v4+,
        TRANSACTIONAL_ID_AUTHORIZATION_FAILED v4+, CLUSTER_AUTHORIZATION_FAILED v6+""",
)
def find_coordinator(call: Call, request: FindCoordinatorRequest) -> Steps:
    """The internal topics exist as soon as they are needed, so a client never has to ask again for that
    reason."""
    answer = FindCoordinatorResponse()
    explain = call.version < 4 or request.key_type not in (GROUP, TRANSACTION, SHARE)
    for portion in portions(request.coordinator_keys, FEW):
        for key in portion:
            broker, error = _find(call, request.key_type, key)
            message = _MESSAGES[error] if explain else ""
            if broker is None:
                found = Coordinator(key, -1, "", -1, error, message)
            else:
                told = call.told(broker)
                found = Coordinator(key, broker.id, told.host, told.port, error, message)
            answer.coordinators.append(found)
        yield
    return answer


def _find(call: Call, key_type: int, key: str) -> tuple["Broker | None", ErrorCode]:
    cluster = call.cluster
    if key_type == GROUP:
        cluster.notes.coordinator_sought(call.client_id, key, call.now_ms)
        return _leading(call, cluster.offsets_partition(key))
    if key_type == TRANSACTION:
        return _leading(call, cluster.transaction_partition(key))
    if key_type != SHARE or call.version < 6:
        return None, ErrorCode.INVALID_REQUEST
    error = call.policies[share_coordinator]
    if error:
        return None, error
    colons = call.policies[share_group_with_colons] == "found"
    if not _is_share_partition(key) or (key.count(":") > _COLONS and not colons):
        return None, ErrorCode.INVALID_REQUEST
    return _leading(call, cluster.internal_topics.share_state_partition(key))


def _leading(call: Call, partition: "TopicPartition") -> tuple["Broker | None", ErrorCode]:
    """Who leads a partition, as far as the broker that is asked knows."""
    leader = call.broker.leader_id(partition.topic.name, partition.index)
    broker = None if leader is None else call.cluster.brokers.get(leader)
    return broker, ErrorCode.COORDINATOR_NOT_AVAILABLE if broker is None else ErrorCode.NONE


def _is_share_partition(key: str) -> bool:
    """Whether `key` is `group:topic id:partition`; the group may have colons (`SharePartitionKey.java`)."""
    group, _, rest = key.rpartition(":")[0].rpartition(":")
    partition = java.integer(key.rpartition(":")[2], 32)
    return bool(group.strip()) and uuid_of_short(rest) is not None and partition is not None
