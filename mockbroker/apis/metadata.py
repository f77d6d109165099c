"""Metadata (3): KIP-4, auto creation by KIP-361, authorized operations by KIP-430, ids by KIP-516."""

from collections.abc import Collection, Generator, Iterable, Iterator
from typing import Final

from ..cluster.call import Call
from ..cluster.topic import INTERNAL
from ..cluster.topic_auto_creation import auto_create
from ..controller import topic_creation, topic_names
from ..metadata.image import TopicImage
from ..outcome import Steps
from ..policies.topics.auto_created_topic import auto_created_topic
from ..portions import MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from .registry import handles

TOPIC_OPERATIONS: Final = 3576
"""Bits of all operations on a topic: read, write, create, delete, alter, describe, describe and alter
configs."""
CLUSTER_OPERATIONS: Final = 8096
"""Bits of all operations on a cluster; without an authorizer everybody may do everything."""
_IDS_SINCE: Final = 12
_TOPICS_IN_A_PART: Final = 8
"""They may have to be created."""


@handles(
    ApiKey.METADATA,
    changes=False,
    usual_level="topic",
    source="""KafkaApis.handleTopicMetadataRequest, MetadataCache.getPartitionMetadata and KRaftMetadataCache
        (LISTENER_NOT_FOUND was LEADER_NOT_AVAILABLE before v6, REPLICA_NOT_AVAILABLE only in v0),
        AutoTopicCreationManager, MetadataRequest.getErrorResponse; no broker of Kafka's gives
        REBOOTSTRAP_REQUIRED (v13, KIP-1102)""",
    topic_retry="LEADER_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID v10+",
    topic="""INVALID_TOPIC_EXCEPTION, INVALID_REPLICATION_FACTOR, INVALID_REQUEST v10-11,
        TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED""",
    partition_retry="LEADER_NOT_AVAILABLE, LISTENER_NOT_FOUND v6+, REPLICA_NOT_AVAILABLE v0",
)
def metadata(call: Call, request: MetadataRequest) -> object:
    return call.in_parts(_answer(call, request))


def _answer(call: Call, request: MetadataRequest) -> Steps:
    """One part for every few topics."""
    cluster = call.cluster
    if (code := (yield from _fault(request, call.version))) is not None:
        return _refused(request, code)
    topics = []
    for topic in _topics(call, request):
        topics.append(topic)
        if len(topics) % _TOPICS_IN_A_PART == 0:
            yield
    if request.include_topic_authorized_operations:
        for each in topics:
            if each.error_code != ErrorCode.UNKNOWN_TOPIC_ID:
                each.topic_authorized_operations = TOPIC_OPERATIONS
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=broker.id, host=told.host, port=told.port, rack=broker.rack)
            for broker in call.broker.listed
            for told in (call.told(broker),)
        ],
        cluster_id=cluster.cluster_id,
        controller_id=call.broker.named_controller,
        topics=topics,
        **(
            {"cluster_authorized_operations": CLUSTER_OPERATIONS}
            if request.include_cluster_authorized_operations
            else {}
        ),
    )


def _topics(call: Call, request: MetadataRequest) -> Iterator[MetadataResponseTopic]:
    """The topics one by one. Unknown ids come first, unknown names last."""
    image = call.broker.image
    brokers = {broker.id for broker in call.broker.listed}
    if request.topics is None:
        for topic in list(image.topics.values()):
            yield _described(topic, brokers)
    elif ids := dict.fromkeys(each.topic_id for each in request.topics if each.topic_id is not None):
        known = []
        for topic_id in ids:
            if topic_id in image.topic_ids:
                known.append(image.topic_ids[topic_id])
            else:
                yield MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, topic_id=topic_id)
        for topic in known:
            yield _described(topic, brokers)
    else:
        names = dict.fromkeys(each.name or "" for each in request.topics)
        yield from _named(call, names, _why_not_creating(call, request), brokers)


def _why_not_creating(call: Call, request: MetadataRequest) -> str:
    """Why topics that don't exist are not created; empty if they are."""
    if not call.environment.configs.broker_bool("auto.create.topics.enable"):
        return "auto.create.topics.enable is false"
    if not request.allow_auto_topic_creation:
        return f"the client {call.client_id!r} asked for it, and not to create it (allow_auto_topic_creation)"
    return ""


def _fault(request: MetadataRequest, version: int) -> Generator[None, None, ErrorCode | None]:
    """The error of a request that can't be answered at all."""
    with_id = without_name = False
    for some in portions(request.topics or (), MANY):
        with_id = with_id or any(each.topic_id is not None for each in some)
        without_name = without_name or any(each.name is None for each in some)
        if version < _IDS_SINCE and (with_id or without_name):
            return ErrorCode.INVALID_REQUEST
        if len(some) == MANY:
            yield
    return ErrorCode.UNKNOWN_SERVER_ERROR if without_name and not with_id else None


def _refused(request: MetadataRequest, code: ErrorCode) -> MetadataResponse:
    """Every topic with the same error, and nothing else."""
    topics = [
        MetadataResponseTopic(error_code=code, name=each.name or "", topic_id=each.topic_id)
        for each in request.topics or ()
    ]
    return MetadataResponse(topics=topics, error_code=code)


def _named(
    call: Call, names: Iterable[str], not_creating: str, brokers: Collection[int]
) -> Iterator[MetadataResponseTopic]:
    """The topics that exist, then the others with their errors."""
    cluster, image, missing = call.cluster, call.broker.image, []
    for name in names:
        topic = image.topics.get(name)
        if topic is None:
            missing.append(name)
        else:
            yield _described(topic, brokers)
    if not not_creating and not topic_creation.may_auto_create(cluster.controller, missing):
        not_creating = f"{len(missing)} topics at once are more than the controller creates"
    for name in missing:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if (fault := topic_names.fault(name)) is not None:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
            cluster.notes.topic_not_created(name, fault)
        elif not_creating:
            cluster.notes.topic_not_created(name, not_creating, tried=False)
        else:
            auto_create(cluster, name)
            if name in image.topics:
                code = call.policies[auto_created_topic]
        if code is ErrorCode.NONE:
            yield _described(image.topics[name], brokers)
        else:
            yield MetadataResponseTopic(error_code=code, name=name, is_internal=name in INTERNAL)


def _described(topic: TopicImage, brokers: Collection[int]) -> MetadataResponseTopic:
    """`brokers` are those that the client is told about. The lists of replicas are shared: they never
    change."""
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL,
        partitions=[
            MetadataResponsePartition(
                0 if partition.leader in brokers else ErrorCode.LEADER_NOT_AVAILABLE,
                index,
                partition.leader,
                partition.leader_epoch,
                partition.replicas,
                partition.isr,
                [r for r in partition.replicas if r not in brokers],
            )
            for index, partition in enumerate(topic.partitions)
        ],
    )
