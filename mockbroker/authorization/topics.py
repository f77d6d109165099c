"""Requests for topics."""

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any, Final

from ..acls import Operation, ResourceType
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..metadata.image import MetadataImage
from ..portions import MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from ..protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse
from ..protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from ..protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from .refusing import each, left_to_handler, named, parted, topic_named
from .verdict import Judging, Verdict, Walk

TOPIC: Final = ResourceType.TOPIC
_FAILED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_TOLD: Final = "Authorization failed."


def once(api: ApiKey, operation: Operation, message: str | None = None) -> Walk:
    """Needs an operation on each topic that is named once; what is named twice fails for that reason."""

    def rule(asker: Asker, call: Call, request: Any) -> Judging:
        twice = yield from repeated(request.topics)

        def name_of(_: Call, entry: Any) -> str | None:
            return None if entry.name in twice else entry.name

        return (yield from each(api, operation, TOPIC, "topics", name_of, message)(asker, call, request))

    return rule


def repeated(entries: Iterable[Any]) -> Generator[None, None, set[str]]:
    """The names that occur more than once."""
    seen: set[str] = set()
    found: set[str] = set()
    for portion in portions(entries, MANY):
        for entry in portion:
            (found if entry.name in seen else seen).add(entry.name)
        yield
    return found


def create(asker: Asker, call: Call, request: CreateTopicsRequest) -> Judging:
    """Without CREATE on the cluster, each topic needs it; its configuration is told to whoever has
    DESCRIBE_CONFIGS (`ControllerApis.createTopics`)."""
    verdict = Verdict(request)
    if not asker.may(Operation.CREATE, ResourceType.CLUSTER, quietly=True):
        verdict = yield from once(ApiKey.CREATE_TOPICS, Operation.CREATE, _TOLD)(asker, call, request)
    if verdict.answer is not None:
        return verdict

    def told(answer: CreateTopicsResponse) -> Generator[None, None, CreateTopicsResponse]:
        topics = []
        for portion in portions(answer.topics):
            topics += [_without_config(asker, call, topic) for topic in portion]
            yield
        return replace(answer, topics=topics)

    return verdict.after(told)


def _without_config(asker: Asker, call: Call, topic: CreatableTopicResult) -> CreatableTopicResult:
    if (
        call.version < 5
        or topic.error_code
        or asker.may(Operation.DESCRIBE_CONFIGS, TOPIC, topic.name, quietly=True)
    ):
        return topic
    return replace(
        topic, topic_config_error_code=_FAILED, num_partitions=-1, replication_factor=-1, configs=[]
    )


def delete(asker: Asker, call: Call, request: DeleteTopicsRequest) -> Judging:
    """A topic that the client may not describe is not named to it (`ControllerApis.deleteTopics`)."""
    if asker.may(Operation.DELETE, ResourceType.CLUSTER, quietly=True):
        return Verdict(request)
    twice = yield from repeated([each for each in request.topics if each.topic_id is None])
    image = call.cluster.controller.image

    def name_of(_: Call, entry: Any) -> str | None:
        if entry.name is not None:
            return None if entry.topic_id is not None or entry.name in twice else entry.name
        topic = image.topic_ids.get(entry.topic_id)
        return None if topic is None else topic.name

    def may(name: str) -> bool:
        # Whether there is such a topic, only who may describe it learns.
        return asker.may(Operation.DELETE, TOPIC, name) or (
            name not in image.topics and asker.may(Operation.DESCRIBE, TOPIC, name)
        )

    allowed, others = yield from parted(call, request.topics, name_of, may)
    if not others:
        return Verdict(request)
    refusal = DeleteTopicsResponse(responses=[_undeleted(asker, image, entry) for entry in others])
    return left_to_handler(request, "topics", allowed, refusal)


def _undeleted(asker: Asker, image: MetadataImage, entry: Any) -> DeletableTopicResult:
    name = entry.name
    if name is None:
        topic = image.topic_ids[entry.topic_id].name
        name = topic if asker.sees(TOPIC, topic) else None
    return DeletableTopicResult(name, entry.topic_id, _FAILED, "Topic authorization failed.")


def metadata(asker: Asker, call: Call, request: MetadataRequest) -> Judging:
    """Topics that the client may not describe are refused, or left out if it asks for all; those that do not
    exist are refused if it may not create them (`KafkaApis.handleTopicMetadataRequest`)."""

    def then(answer: MetadataResponse) -> Generator[None, None, MetadataResponse]:
        return _shown(asker, request, answer, refused)

    refused: list[MetadataResponseTopic] = []
    if request.topics is None or any(each.name is None and each.topic_id is None for each in request.topics):
        return Verdict(request, then=then)
    by_id = any(entry.topic_id is not None for entry in request.topics)
    describing, hidden = yield from parted(
        call, request.topics, topic_named, lambda name: asker.may(Operation.DESCRIBE, TOPIC, name)
    )
    creating: list[Any] = describing
    uncreated: list[Any] = []
    image = call.broker.image
    if (
        request.allow_auto_topic_creation
        and _creates(call)
        and not asker.may(Operation.CREATE, ResourceType.CLUSTER, quietly=True)
    ):
        creating, uncreated = yield from parted(
            call,
            describing,
            topic_named,
            lambda name: name in image.topics or asker.may(Operation.CREATE, TOPIC, name),
        )
    for portion in portions([*uncreated, *hidden]):
        refused += [
            MetadataResponseTopic(
                error_code=_FAILED, name=None if by_id else entry.name, topic_id=entry.topic_id
            )
            for entry in portion
        ]
        yield
    return Verdict(replace(request, topics=creating) if refused else request, then=then)


def _creates(call: Call) -> bool:
    return call.environment.configs.broker_bool("auto.create.topics.enable")


def _shown(
    asker: Asker, request: MetadataRequest, answer: MetadataResponse, refused: list[MetadataResponseTopic]
) -> Generator[None, None, MetadataResponse]:
    topics: list[MetadataResponseTopic] = []
    for portion in portions(answer.topics):
        for topic in portion:
            if request.topics is None and not asker.sees(TOPIC, topic.name or ""):
                continue
            if request.include_topic_authorized_operations and topic.name:
                bits = asker.operations(TOPIC, topic.name, topic.topic_authorized_operations)
                topic = replace(topic, topic_authorized_operations=bits)
            topics.append(topic)
        yield
    answer = replace(answer, topics=[*topics, *refused])
    if request.include_cluster_authorized_operations:
        bits = on_cluster(asker, answer.cluster_authorized_operations)
        answer = replace(answer, cluster_authorized_operations=bits)
    return answer


def on_cluster(asker: Asker, bits: int) -> int:
    """What the client may do with the cluster, of these: nothing unless it may describe it."""
    if not asker.may(Operation.DESCRIBE, ResourceType.CLUSTER):
        return 0
    return asker.operations(ResourceType.CLUSTER, mask=bits)


def describe_partitions(asker: Asker, call: Call, request: DescribeTopicPartitionsRequest) -> Judging:
    """Topics that the client may not describe are refused, or left out if it asks for all
    (`DescribeTopicPartitionsRequestHandler.java`)."""

    def may(name: str) -> bool:
        return asker.may(Operation.DESCRIBE, TOPIC, name, quietly=not request.topics)

    cursor = request.cursor
    if cursor is not None and request.topics and cursor.topic_name not in map(_name, request.topics):
        return Verdict(request)
    start = cursor.topic_name if cursor is not None else ""
    everything = not request.topics
    entries = request.topics or [TopicRequest(name) for name in call.broker.image.topics]
    allowed, others = yield from parted(call, entries, named, may)
    refused = [
        DescribeTopicPartitionsResponseTopic(_FAILED, name)
        for name in dict.fromkeys(map(_name, others))
        if not everything and name >= start
    ]

    def then(answer: DescribeTopicPartitionsResponse) -> Generator[None, None, Any]:
        topics = []
        for portion in portions(answer.topics):
            for topic in portion:
                bits = asker.operations(TOPIC, topic.name or "", topic.topic_authorized_operations)
                topics.append(replace(topic, topic_authorized_operations=bits))
            yield
        return replace(answer, topics=[*topics, *refused])

    if not others:
        return Verdict(request, then=then)
    if cursor is not None and cursor.topic_name not in map(_name, allowed):
        following = min((each.name for each in allowed if each.name > start), default=None)
        cursor = None if following is None else Cursor(following, 0)
        allowed = allowed if cursor is not None else []
    if not allowed:
        return Verdict(request, DescribeTopicPartitionsResponse(topics=refused))
    return Verdict(replace(request, topics=allowed, cursor=cursor), then=then)


def _name(entry: Any) -> str:
    return str(entry.name)
