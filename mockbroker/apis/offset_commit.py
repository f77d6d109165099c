"""OffsetCommit (8): a group's positions (KIP-211, KIP-848)."""

from ..cluster.call import Call
from ..cluster.topic import Topic
from ..coordinators.members import Claim
from ..coordinators.offsets import CommittedOffset, Key
from ..coordinators.reply import Reply
from ..outcome import Steps
from ..policies.offsets.oldest_offset_requests import oldest_offset_requests
from ..policies.offsets.repeated_partitions import repeated_partitions
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import PartitionCode
from ..protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponseTopic,
)
from .answered_topics import AnsweredTopics
from .registry import handles

E = ErrorCode
_Known = tuple[OffsetCommitRequestTopic, OffsetCommitRequestPartition, Key, bytes]
"""Also the topic's id: it may be deleted meanwhile."""


@handles(
    ApiKey.OFFSET_COMMIT,
    changes=True,
    source="""KafkaApis.handleOffsetCommitRequest, OffsetMetadataManager.commitOffset,
        ClassicGroup.validateOffsetCommit, ConsumerGroup.validateOffsetCommit,
        CoordinatorOperationExceptionHelper; GroupMetadataManager.storeOffsets
        (INVALID_COMMIT_OFFSET_SIZE) before 4.0""",
    partition_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        REBALANCE_IN_PROGRESS, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID v10+""",
    partition="""ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID v7+, INVALID_GROUP_ID,
        GROUP_ID_NOT_FOUND v9+, STALE_MEMBER_EPOCH v9+, UNSUPPORTED_VERSION v0-8,
        OFFSET_METADATA_TOO_LARGE, INVALID_COMMIT_OFFSET_SIZE, TOPIC_AUTHORIZATION_FAILED,
        GROUP_AUTHORIZATION_FAILED""",
)
def offset_commit(call: Call, request: OffsetCommitRequest) -> Steps:
    """Partitions that don't exist are answered first; if there are no others, the group is not asked at
    all."""
    answer = _Answer(call.version)
    known: list[_Known] = []
    for asked in request.topics:
        topic, unknown = _find(call, asked)
        for few in portions(asked.partitions):
            for partition in few:
                if topic is None or topic.partition(partition.partition_index) is None:
                    answer.add(asked, partition, unknown)
                else:
                    known.append((asked, partition, (topic.name, partition.partition_index), topic.id.bytes))
            yield
    if not known:
        return answer.response
    if not call.version:
        return _in_zookeeper(call, request, known, answer)
    if call.policies[repeated_partitions] == "once":
        known = list({each[2]: each for each in known}.values())
    else:
        answer.begin_asked()
    limit = call.broker.groups.settings.offset_metadata_max
    expire_ms = call.broker.groups.expiry.expire_ms(request.retention_time_ms)
    offsets: dict[Key, CommittedOffset] = {}
    for some in portions(known):
        for _, partition, key, topic_id in some:
            if not _too_long(partition, limit):
                offsets[key] = CommittedOffset(
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    partition.committed_metadata or "",
                    call.now_ms,
                    expire_ms,
                    topic_id,
                )
        yield
    reply: Reply[OffsetCommitResponse] = Reply(call)

    def done(error: E) -> None:
        for asked, partition, *_ in known:
            too_long = E.OFFSET_METADATA_TOO_LARGE if _too_long(partition, limit) else E.NONE
            answer.add(asked, partition, error or too_long)
        reply.complete(answer.response)

    call.broker.groups.commit(
        request.group_id,
        Claim(request.generation_id_or_member_epoch, request.member_id, request.group_instance_id),
        call.version,
        offsets,
        done,
    )
    return reply.outcome()


def _in_zookeeper(
    call: Call, request: OffsetCommitRequest, known: list[_Known], answer: "_Answer"
) -> OffsetCommitResponse:
    if call.policies[oldest_offset_requests] == "unsupported":
        return OffsetCommitResponse(topics=[_unsupported(each) for each in request.topics])
    limit = call.broker.groups.settings.offset_metadata_max
    for asked, partition, key, _ in known:
        too_long = _too_long(partition, limit)
        error = E.OFFSET_METADATA_TOO_LARGE if too_long else E.NONE
        if not error and not request.group_id:
            # No node has an empty name.
            error = E.UNKNOWN_SERVER_ERROR
        if not error:
            call.cluster.zookeeper_offsets[request.group_id, *key] = partition.committed_offset
        answer.add(asked, partition, error)
    return answer.response


def _unsupported(asked: OffsetCommitRequestTopic) -> OffsetCommitResponseTopic:
    refused = [PartitionCode(each.partition_index, E.UNSUPPORTED_VERSION) for each in asked.partitions]
    return OffsetCommitResponseTopic(name=asked.name, partitions=refused)


class _Answer:
    def __init__(self, version: int) -> None:
        self._topics: AnsweredTopics[OffsetCommitResponseTopic] = AnsweredTopics()
        self.begin_asked = self._topics.begin_asked
        self.response = OffsetCommitResponse(topics=self._topics.topics)
        self._by_id = version >= 10

    def add(self, asked: OffsetCommitRequestTopic, partition: OffsetCommitRequestPartition, error: E) -> None:
        def made() -> OffsetCommitResponseTopic:
            return OffsetCommitResponseTopic(topic_id=asked.topic_id, name=asked.name)

        topic = self._topics.of(asked, asked.topic_id if self._by_id else asked.name, made)
        topic.partitions.append(PartitionCode(partition.partition_index, error))


def _find(call: Call, asked: OffsetCommitRequestTopic) -> tuple[Topic | None, E]:
    """The topic, and the error for its partitions if it does not exist."""
    if call.version >= 10:
        topic = None if asked.topic_id is None else call.cluster.topic_ids.get(asked.topic_id)
        return topic, E.UNKNOWN_TOPIC_ID if topic is None else E.UNKNOWN_TOPIC_OR_PARTITION
    return call.cluster.topics.get(asked.name), E.UNKNOWN_TOPIC_OR_PARTITION


def _too_long(partition: OffsetCommitRequestPartition, limit: int) -> bool:
    metadata = partition.committed_metadata
    if metadata is None or len(metadata) <= limit // 2:
        return False
    return len(metadata.encode("utf-16-le", "surrogatepass")) > 2 * limit
