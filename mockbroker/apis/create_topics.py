"""CreateTopics (19): KIP-4, defaults by KIP-464, returned configurations by KIP-525, ids by KIP-516."""

from collections import Counter
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Final

from ..cluster.call import Call
from ..controller import topic_creation
from ..controller.topic_names import CLUSTER_METADATA
from ..outcome import Steps
from ..policies.topics.large_creation import large_creation
from ..portions import MANY, Pace, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from .registry import handles

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster


_A_TOPIC: Final = 4
"""To create one takes as long as so many of a `Pace`, and so do some partitions."""
_PARTITIONS: Final = 4
_MANY_PARTITIONS: Final = 64
"""More are made in a step of their own."""


@handles(
    ApiKey.CREATE_TOPICS,
    changes=True,
    source="""ControllerApis.createTopics, ReplicationControlManager.createTopics, ForwardingManager
        (timeouts); KafkaApis.handleCreateTopicsRequest and ZkAdminManager before 4.0; KIP-599""",
    topic_retry="NOT_CONTROLLER, REQUEST_TIMED_OUT, THROTTLING_QUOTA_EXCEEDED v6+",
    topic="""TOPIC_ALREADY_EXISTS, INVALID_TOPIC_EXCEPTION, INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR,
        INVALID_REPLICA_ASSIGNMENT, INVALID_CONFIG, INVALID_REQUEST, POLICY_VIOLATION,
        UNSUPPORTED_VERSION, TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED""",
)
def create_topics(call: Call, request: CreateTopicsRequest) -> object:
    """Every topic succeeds or fails by itself."""
    return call.in_parts(_answer(call, request))


def _answer(call: Call, request: CreateTopicsRequest) -> Steps:
    """One part for every few topics: other requests may create some of them in between."""
    cluster = call.cluster
    if call.broker.is_not_controller:
        return CreateTopicsResponse(
            topics=[_failure(topic.name, ErrorCode.NOT_CONTROLLER, None) for topic in request.topics]
        )
    times: Counter[str] = Counter()
    for some in portions(request.topics, MANY):
        times.update(topic.name for topic in some)
        yield
    single: list[CreatableTopic] = []
    for some in portions(request.topics, MANY):
        single += [topic for topic in some if times[topic.name] == 1 and topic.name != CLUSTER_METADATA]
        yield
    answer = CreateTopicsResponse()
    if (refused := (yield from _refused(cluster, single, request))) is not None:
        for some in portions(single, MANY):
            answer.topics += [_failure(topic.name, *refused) for topic in some]
            yield
    else:
        creation, pace = _Creation(cluster, request.validate_only), Pace()
        for topic in single:
            answer.topics.append(result := (yield from creation.of(topic)))
            if pace.enough(_A_TOPIC + max(result.num_partitions, 0) // _PARTITIONS):
                yield
                creation.described.clear()
    for names in portions(times.items(), MANY):
        for name, count in names:
            if count > 1:
                answer.topics.append(_failure(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name."))
            elif name == CLUSTER_METADATA:
                message = f"Creation of internal topic {name} is prohibited."
                answer.topics.append(_failure(name, ErrorCode.INVALID_REQUEST, message))
        yield
    return answer


def _refused(
    cluster: "Cluster", topics: list[CreatableTopic], request: CreateTopicsRequest
) -> Generator[None, None, tuple[ErrorCode, str | None] | None]:
    """Why the controller refuses the whole request, if it does."""
    if request.timeout_ms <= 0:
        # The controller's deadline has passed when it starts on the request.
        return ErrorCode.REQUEST_TIMED_OUT, None
    partitions = records = 0
    for some in portions(topics, MANY):
        partitions += _partitions(cluster, some)
        records += sum(1 + len(topic.configs) for topic in some)
        yield
    if partitions > topic_creation.MAX_PARTITIONS_PER_REQUEST:
        return ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
    message = cluster.environment.policies[large_creation]
    if message is None or partitions + records <= topic_creation.MAX_RECORDS:
        return None
    records, trial, pace = 0, _Creation(cluster, validate_only=True), Pace()
    for topic in topics:
        try:
            overrides, assignment = trial.checked(topic)
        except ApiError:
            continue
        finally:
            if pace.enough(_A_TOPIC):
                yield
        records += 1 + len(assignment) + len(overrides)
        if records > topic_creation.MAX_RECORDS:
            return ErrorCode.POLICY_VIOLATION, message
    return None


class _Creation:
    """The topics of one request. They don't collide with each other, and are placed as one assignment."""

    def __init__(self, cluster: "Cluster", validate_only: bool) -> None:
        self._cluster = cluster
        self._validate_only = validate_only
        self._first = len(cluster.topics)
        self._made: set[str] = set()
        self.described: dict[tuple[tuple[str, str], ...], list[CreatableTopicConfigs]] = {}
        """The configurations in the answer, shared by topics that set the same ones."""

    def of(self, topic: CreatableTopic) -> Generator[None, None, CreatableTopicResult]:
        cluster = self._cluster
        try:
            overrides, assignment = self.checked(topic)
            if len(assignment) > _MANY_PARTITIONS:
                yield
                # Another request may have created it.
                topic_creation.check_name(cluster.controller, topic.name, beside=self._made)
        except ApiError as error:
            if not self._validate_only:
                cluster.notes.topic_not_created(topic.name, error.told)
            return _failure(topic.name, error.code, error.message)
        if self._validate_only:
            topic_id = cluster.environment.new_uuid()
        else:
            topic_id = cluster.create_topic(topic.name, assignment, overrides).id
            self._made.add(topic.name)
        return CreatableTopicResult(
            name=topic.name,
            topic_id=topic_id,
            num_partitions=len(assignment),
            replication_factor=len(assignment[0]),
            configs=list(self._configs(overrides)),
        )

    def checked(self, topic: CreatableTopic) -> tuple[dict[str, str], list[list[int]]]:
        """The topic's own configurations, and the replicas of its partitions. ApiError."""
        cluster = self._cluster
        topic_creation.check_name(cluster.controller, topic.name, beside=self._made)
        overrides = topic_creation.check_configs(
            cluster.controller, [(each.name, each.value) for each in topic.configs]
        )
        return overrides, _assignment(cluster, topic, self._first)

    def _configs(self, overrides: dict[str, str]) -> list[CreatableTopicConfigs]:
        of = tuple(overrides.items())
        if of not in self.described:
            entries = self._cluster.environment.configs.topic_entries(overrides)
            self.described[of] = [
                CreatableTopicConfigs(
                    name=key.name,
                    value=None if key.sensitive else value,
                    config_source=source,
                    is_sensitive=key.sensitive,
                )
                for key, value, source in sorted(entries, key=lambda entry: entry.key.name)
            ]
        return self.described[of]


def _partitions(cluster: "Cluster", topics: Sequence[CreatableTopic]) -> int:
    """How many partitions these ask for."""
    default = cluster.environment.configs.broker_int("num.partitions")
    return sum(
        len(topic.assignments) or (default if topic.num_partitions == -1 else max(topic.num_partitions, 0))
        for topic in topics
    )


def _assignment(cluster: "Cluster", topic: CreatableTopic, first: int) -> list[list[int]]:
    if not topic.assignments:
        return topic_creation.place(cluster.controller, topic.num_partitions, topic.replication_factor, first)
    for what, count in (
        ("replication factor", topic.replication_factor),
        ("numPartitions", topic.num_partitions),
    ):
        if count != -1:
            message = f"A manual partition assignment was specified, but {what} was not set to -1."
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
    return topic_creation.check_assignment(
        cluster.controller, [(each.partition_index, each.broker_ids) for each in topic.assignments]
    )


def _failure(name: str, code: ErrorCode, message: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=code, error_message=message)
