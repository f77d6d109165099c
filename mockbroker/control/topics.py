"""Operations on topics: which there are, creating and deleting them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict

from ..contents.topics import describe
from ..contents.values import TopicDescription
from ..protocol.api_keys import ApiKey
from ..protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from ..protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ..protocol.messages.of_administrators import Config
from ..verbs.parameters import TopicName
from .asking import change
from .registry import operation
from .shaping import shaped
from .target import Target

_TIMEOUT_MS = 60_000


class TopicListing(TypedDict):
    """A topic in short."""

    name: str
    topic_id: str
    internal: bool
    partitions: int
    replication_factor: int


class PartitionState(TypedDict):
    """A partition as the controller knows it, with the offsets of its leader, or of the last that led it."""

    partition: int
    leader: int | None
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    last_stable_offset: int
    adding_replicas: list[int]
    removing_replicas: list[int]
    eligible_leader_replicas: list[int]


class TopicState(TypedDict):
    """`topic_id` is as Kafka's tools print it; `configs` has what is set for the topic itself."""

    name: str
    topic_id: str
    internal: bool
    partitions: list[PartitionState]
    configs: dict[str, str]


@operation("topics list", "GET", "/topics")
def list_topics(
    target: Target, internal: Annotated[bool, "List Kafka's internal topics too."] = False
) -> list[TopicListing]:
    """Lists every topic."""
    found = topics(target, internal=internal).values()
    return [shaped(TopicListing, each, partitions=len(each.partitions)) for each in found]


@operation("topics show", "GET", "/topics/{topic}")
def show(target: Target, topic: TopicName) -> TopicState:
    """Shows a topic's partitions with their leaders, replicas and offsets, and the topic's configuration."""
    return shaped(TopicState, topic_named(target, topic))


@operation("topics create", "POST", "/topics")
def create(
    target: Target,
    topic: TopicName,
    partitions: Annotated[int | None, "How many partitions; num.partitions if left out."] = None,
    replication_factor: Annotated[
        int | None, "How many replicas of each; default.replication.factor if left out."
    ] = None,
    config: Annotated[dict[str, str] | None, "The topic's configuration, as in retention.ms=1000."] = None,
) -> TopicState:
    """Creates a topic, as a client's CreateTopics does."""
    return shaped(TopicState, create_topic(target, topic, partitions, replication_factor, config or {}))


@operation("topics delete", "DELETE", "/topics/{topic}")
def delete(target: Target, topic: TopicName) -> TopicState:
    """Deletes a topic, as a client's DeleteTopics does, and shows what it was."""
    return shaped(TopicState, delete_topic(target, topic))


def topics(target: Target, *, internal: bool) -> dict[str, TopicDescription]:
    """By name, in order."""
    found = target.cluster.topics.values()
    listed = (topic for topic in found if internal or not topic.internal)
    return {topic.name: describe(topic) for topic in sorted(listed, key=lambda each: each.name)}


def topic_named(target: Target, topic: str) -> TopicDescription:
    """NotThereError."""
    return describe(target.topic(topic))


def create_topic(
    target: Target,
    topic: str,
    partitions: int | None,
    replication_factor: int | None,
    config: Mapping[str, str],
    assignment: Sequence[Sequence[int]] = (),
) -> TopicDescription:
    """RefusedError. None is the broker's default; `assignment` has the replicas of each partition."""
    wanted = CreatableTopic(
        topic,
        -1 if partitions is None else partitions,
        -1 if replication_factor is None else replication_factor,
        [CreatableReplicaAssignment(index, list(brokers)) for index, brokers in enumerate(assignment)],
        [Config(name, value) for name, value in config.items()],
    )
    request = CreateTopicsRequest([wanted], _TIMEOUT_MS)
    change(target.cluster, ApiKey.CREATE_TOPICS, request, f"topic {topic!r} was not created")
    return topic_named(target, topic)


def delete_topic(target: Target, topic: str) -> TopicDescription:
    """What it was. NotThereError, RefusedError."""
    was = topic_named(target, topic)
    request = DeleteTopicsRequest([DeleteTopicState(topic)], _TIMEOUT_MS)
    change(target.cluster, ApiKey.DELETE_TOPICS, request, f"topic {topic!r} was not deleted")
    return was
