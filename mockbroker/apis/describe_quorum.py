"""DescribeQuorum (55): the controllers that keep the metadata log, and who reads it (KIP-595, KIP-836)."""

import hashlib
import uuid
from typing import Final

from ..cluster.broker import Broker
from ..cluster.call import Call
from ..metadata.records import NO_CONTROLLER
from ..outcome import Steps
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.common import PartitionIndex
from ..protocol.messages.describe_quorum import (
    AskedTopic,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from .registry import handles

_TOPIC: Final = "__cluster_metadata"
_LISTENER: Final = "CONTROLLER"


@handles(
    ApiKey.DESCRIBE_QUORUM,
    changes=False,
    source="ControllerApis.handleDescribeQuorum, KafkaRaftClient.handleDescribeQuorumRequest",
    top_retry="BROKER_NOT_AVAILABLE",
    top="CLUSTER_AUTHORIZATION_FAILED",
    partition_retry="NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION",
)
def describe_quorum(call: Call, request: DescribeQuorumRequest) -> Steps:
    """The active controller is the only voter, as where one node is both broker and controller; brokers that
    it hears are observers. Only partition 0 may be asked for (`KafkaRaftClient.java`)."""
    image = call.cluster.controller.image
    if request.topics != [AskedTopic(_TOPIC, [PartitionIndex(0)])]:
        return (yield from _refused(request, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    if image.controller == NO_CONTROLLER:
        return (yield from _refused(request, ErrorCode.NOT_LEADER_OR_FOLLOWER))
    leader = call.cluster.brokers[image.controller]
    partition = PartitionData(
        partition_index=0,
        error_message="",
        leader_id=leader.id,
        leader_epoch=image.controller_epoch,
        high_watermark=image.offset,
        current_voters=[_replica(call, leader)],
        observers=[
            _replica(call, each, _directory(call, each))
            for each in call.cluster.brokers.values()
            if each is not leader and each.online and each.hears_controller
        ],
    )
    listener = Listener(_LISTENER, leader.endpoint.host, leader.endpoint.port)
    return DescribeQuorumResponse(
        error_message="", topics=[TopicData(_TOPIC, [partition])], nodes=[Node(leader.id, [listener])]
    )


def _refused(request: DescribeQuorumRequest, error: ErrorCode) -> Steps:
    """Every partition with the same error."""
    message, answer = default_message(error), DescribeQuorumResponse(error_message="")
    for topic in request.topics:
        answer.topics.append(result := TopicData(topic.topic_name))
        for portion in portions(topic.partitions):
            result.partitions += [PartitionData(each.partition_index, error, message) for each in portion]
            yield
    return answer


def _replica(call: Call, broker: Broker, directory: uuid.UUID | None = None) -> ReplicaState:
    return ReplicaState(broker.id, directory, broker.image.offset, call.now_ms, call.now_ms)


def _directory(call: Call, broker: Broker) -> uuid.UUID:
    """The id of a broker's log directory, which voters that are configured do not tell (KIP-853)."""
    seed = f"{call.cluster.cluster_id}/{broker.id}".encode()
    return uuid.UUID(bytes=hashlib.blake2b(seed, digest_size=16).digest())
