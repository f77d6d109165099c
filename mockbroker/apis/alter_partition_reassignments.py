"""AlterPartitionReassignments (45): moves replicas (KIP-455)."""

from typing import TYPE_CHECKING, Final

from ..cluster.call import Call
from ..controller import reassignments, topic_creation
from ..outcome import Steps
from ..policies.controller.reassignment_refusal import reassignment_refusal
from ..portions import FEW, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from .registry import handles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..cluster.cluster import Cluster
    from ..cluster.topic import TopicPartition
    from ..metadata.image import PartitionRegistration
    from ..metadata.records import PartitionChangeRecord

_SMALL_SET: Final = 4
"""Larger sets are printed by Scala with the name of their class."""


@handles(
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    changes=True,
    source="""ControllerApis.handleAlterPartitionReassignments,
        ReplicationControlManager.alterPartitionReassignments, ForwardingManager; KafkaController before
        4.0""",
    top_retry="NOT_CONTROLLER, REQUEST_TIMED_OUT",
    top="CLUSTER_AUTHORIZATION_FAILED",
    partition_retry="UNKNOWN_TOPIC_OR_PARTITION, REQUEST_TIMED_OUT, NOT_CONTROLLER",
    partition="""INVALID_REPLICA_ASSIGNMENT, INVALID_REPLICATION_FACTOR v1+, NO_REASSIGNMENT_IN_PROGRESS,
        CLUSTER_AUTHORIZATION_FAILED""",
)
def alter_partition_reassignments(call: Call, request: AlterPartitionReassignmentsRequest) -> Steps:
    """Each partition succeeds or fails by itself. New replicas that nothing hinders copy the log at once.

    KRaft checks the whole request before it changes anything, even if it names a partition twice. What has
    changed meanwhile is checked again.
    """
    by_zookeeper = call.policies[reassignment_refusal] == "dead-brokers"
    may_change_factor = request.allow_replication_factor_change
    answer = AlterPartitionReassignmentsResponse()
    if call.broker.is_not_controller:
        answer.error_code = ErrorCode.NOT_CONTROLLER
        answer.error_message = default_message(ErrorCode.NOT_CONTROLLER)
        return answer
    if not request.topics:
        answer.error_message = ""
    elif request.timeout_ms <= 0:
        # The controller's deadline has passed when it starts on the request.
        answer.error_code = ErrorCode.REQUEST_TIMED_OUT
    else:
        answer.allow_replication_factor_change = may_change_factor
        answer.error_message = "" if by_zookeeper else None
    reasons = call.cluster.controller.reasons
    wanted: list[_Wanted] = []
    for topic in request.topics:
        if by_zookeeper and not topic.partitions:
            continue
        results = ReassignableTopicResponse(topic.name)
        answer.responses.append(results)
        for portion in portions(topic.partitions, FEW):
            for asked in portion:
                result = ReassignablePartitionResponse(asked.partition_index, answer.error_code)
                results.partitions.append(result)
                if answer.error_code:
                    continue
                each = _Wanted(topic.name, asked, result)
                each.look(call, may_change_factor)
                if by_zookeeper and each.partition is not None:
                    with reasons.asked_by(call.who):
                        reassignments.make(each.partition, each.records)
                elif each.partition is not None:
                    wanted.append(each)
            yield
    by_partition: dict[TopicPartition, list[_Wanted]] = {}
    for each in wanted:
        assert each.partition is not None
        by_partition.setdefault(each.partition, []).append(each)
    for some in portions(by_partition.items(), FEW):
        for partition, changes in some:
            if partition.deleted or partition.registered is not changes[0].registered:
                for each in changes:
                    each.look(call, may_change_factor)
        made = [each for _, changes in some for each in changes if each.partition is not None]
        with reasons.asked_by(call.who), reasons.because(reassignments.BEGAN):
            call.cluster.controller.write(*(record for each in made for record in each.records))
            for each in made:
                if each.partition is not None:
                    reassignments.complete(each.partition)
        yield
    return answer


class _Wanted:
    """A partition that is to be reassigned, as the controller knew it, and what it will write; None if
    nothing."""

    __slots__ = ("_asked", "_result", "_topic", "partition", "records", "registered")

    def __init__(
        self, topic: str, asked: ReassignablePartition, result: ReassignablePartitionResponse
    ) -> None:
        self._topic = topic
        self._asked = asked
        self._result = result
        self.partition: TopicPartition | None = None
        self.registered: PartitionRegistration | None = None
        self.records: list[PartitionChangeRecord] = []

    def look(self, call: Call, may_change_factor: bool) -> None:
        self.partition, self.records = None, []
        try:
            partition, self.records = _looked_at(call, self._topic, self._asked, may_change_factor)
        except ApiError as error:
            self._result.error_code, self._result.error_message = error.code, error.message
        else:
            self.partition, self.registered = partition, partition.registered


def _looked_at(
    call: Call, topic: str, asked: ReassignablePartition, may_change_factor: bool
) -> "tuple[TopicPartition, list[PartitionChangeRecord]]":
    """Checks one partition in the controller's order (`ReplicationControlManager.java`). ApiError."""
    cluster, index = call.cluster, asked.partition_index
    partition = cluster.partition(topic, index)
    if call.policies[reassignment_refusal] == "dead-brokers":
        _check_as_zookeeper(cluster, partition, asked.replicas)
    if partition is None:
        missing = f"partition {topic}:{index}" if topic in cluster.topics else f"a topic named {topic}"
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find {missing}.")
    if asked.replicas is None:
        return partition, reassignments.records(partition, None)
    topic_creation.check_brokers(cluster.controller, asked.replicas)
    before, after = reassignments.replication_factor(partition), len(asked.replicas)
    if not may_change_factor and before != after:
        message = f"The replication factor is changed from {before} to {after}"
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    return partition, reassignments.records(partition, asked.replicas)


def _check_as_zookeeper(
    cluster: "Cluster", partition: "TopicPartition | None", replicas: "Sequence[int] | None"
) -> None:
    """ApiError, with the order of checks and the messages of `KafkaController.scala`."""
    if replicas is None:
        if partition is None or not reassignments.under_way(partition):
            message = "No partition reassignment is in progress."
            raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, message)
        return
    why = None
    present = reassignments.original_replicas(partition) if partition is not None else []
    added = [broker for broker in dict.fromkeys(replicas) if broker not in present]
    live = sorted(broker.id for broker in cluster.brokers.values() if not broker.fenced)
    if not replicas:
        why = "Empty replica list specified in partition reassignment."
    elif len(set(replicas)) < len(replicas):
        why = f"Duplicate replica ids in partition reassignment replica list: {_scala(replicas)}"
    elif min(replicas) < 0:
        why = f"Invalid broker id in replica list: {_scala(replicas)}"
    elif not set(added) <= set(live):
        why = (
            f"Replica assignment has brokers that are not alive. Replica list: {_scala(added)}, "
            f"live broker list: {_scala(live, 'Set' if len(live) <= _SMALL_SET else 'HashSet')}"
        )
    if why is not None:
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")


def _scala(brokers: "Sequence[int]", collection: str = "ArrayBuffer") -> str:
    return f"{collection}({', '.join(map(str, brokers))})"
