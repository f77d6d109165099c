"""DescribeQuorum (55): the controllers that keep the metadata log, and who reads it (KIP-595, KIP-836)."""

import hashlib
import uuid
from collections.abc import Iterable
from typing import Final

from ..cluster.broker import Broker
from ..cluster.call import Call
from ..metadata.records import NO_CONTROLLER
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from .default_messages import default_message
from .registry import handles

_TOPIC: Final = "__cluster_metadata"
_LISTENER: Final = "CONTROLLER"


@handles(ApiKey.DESCRIBE_QUORUM)
def describe_quorum(call: Call, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """The active controller is the only voter, as where one node is both broker and controller; brokers that
    it hears are observers. Only partition 0 may be asked for (`KafkaRaftClient.java`)."""
    asked = [
        (topic.topic_name, [each.partition_index for each in topic.partitions]) for topic in request.topics
    ]
    if asked != [(_TOPIC, [0])]:
        return _refused(asked, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    image = call.cluster.controller.image
    if image.controller == NO_CONTROLLER:
        return _refused(asked, ErrorCode.NOT_LEADER_OR_FOLLOWER)
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
    listener = Listener(_LISTENER, leader.host, leader.port)
    return DescribeQuorumResponse(
        error_message="", topics=[TopicData(_TOPIC, [partition])], nodes=[Node(leader.id, [listener])]
    )


def _refused(asked: Iterable[tuple[str, list[int]]], error: ErrorCode) -> DescribeQuorumResponse:
    message = default_message(error)
    topics = [
        TopicData(name, [PartitionData(each, error, message) for each in indexes]) for name, indexes in asked
    ]
    return DescribeQuorumResponse(error_message="", topics=topics)


def _replica(call: Call, broker: Broker, directory: uuid.UUID | None = None) -> ReplicaState:
    return ReplicaState(broker.id, directory, broker.image.offset, call.now_ms, call.now_ms)


def _directory(call: Call, broker: Broker) -> uuid.UUID:
    """The id of a broker's log directory, which voters that are configured do not tell (KIP-853)."""
    seed = f"{call.cluster.cluster_id}/{broker.id}".encode()
    return uuid.UUID(bytes=hashlib.blake2b(seed, digest_size=16).digest())
