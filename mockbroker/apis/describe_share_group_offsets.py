"""DescribeShareGroupOffsets (90): how far share groups are in their partitions (KIP-932, KIP-1226)."""

from collections.abc import Iterable
from uuid import UUID

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..outcome import Steps
from ..portions import FEW, Pace
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from ..protocol.share_state_log import UNKNOWN, SharePartitionKey
from ..share_partitions.kept import Kept
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    changes=False,
    source="""KafkaApis.handleDescribeShareGroupOffsetsRequest,
        GroupCoordinatorService.describeShareGroupOffsets""",
    group_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    group="UNSUPPORTED_VERSION, GROUP_AUTHORIZATION_FAILED",
    partition="TOPIC_AUTHORIZATION_FAILED",
)
def describe_share_group_offsets(call: Call, request: DescribeShareGroupOffsetsRequest) -> Steps:
    """Partitions that a group does not have, and topics that do not exist, have the start offset -1."""
    reply: Reply[DescribeShareGroupOffsetsResponse] = Reply(call)
    answer, pace, asked = DescribeShareGroupOffsetsResponse(), Pace(FEW), _Asked(call, reply)
    for group in request.groups:
        shown = DescribeShareGroupOffsetsResponseGroup(group.group_id)
        answer.groups.append(shown)
        if not call.broker.groups.shares.served:
            shown.error_code = E.UNSUPPORTED_VERSION
            continue
        if group.topics is None:
            error = call.broker.groups.refuses(group.group_id, may_be_empty=True)
            if error:
                shown.error_code, shown.error_message = error, default_message(error)
                continue
            topics = _all(call, group.group_id)
        elif any(not topic.partitions and _id(call, topic.topic_name) for topic in group.topics):
            # Nothing can be asked of the share coordinator.
            shown.error_code = E.UNKNOWN_SERVER_ERROR
            shown.error_message = default_message(E.UNKNOWN_SERVER_ERROR)
            continue
        else:
            topics = _named(group)
        missing: list[DescribeShareGroupOffsetsResponseTopic] = []
        for name, partitions in topics:
            topic_id = _id(call, name)
            told = DescribeShareGroupOffsetsResponseTopic(name, topic_id)
            (missing if topic_id is None else shown.topics).append(told)
            for index in partitions:
                call.count(1)
                part = DescribeShareGroupOffsetsResponsePartition(index, UNKNOWN)
                told.partitions.append(part)
                if topic_id is not None:
                    asked.ask(SharePartitionKey(group.group_id, topic_id, index), name, part)
                if pace.enough():
                    yield
        shown.topics += missing
    asked.end(answer)
    return reply.outcome()


class _Asked:
    """Partitions whose share coordinators were asked; answered when all have answered."""

    def __init__(self, call: Call, reply: Reply[DescribeShareGroupOffsetsResponse]) -> None:
        self._call = call
        self._reply = reply
        self._answer: DescribeShareGroupOffsetsResponse | None = None
        self._waiting = 0

    def ask(
        self, key: SharePartitionKey, name: str, part: DescribeShareGroupOffsetsResponsePartition
    ) -> None:
        self._waiting += 1

        def told(kept: Kept) -> None:
            if kept.state is not None and not kept.error:
                now = kept.state.now
                part.start_offset, part.leader_epoch = now.start_offset, now.leader_epoch
                if UNKNOWN not in (now.start_offset, now.complete_count):
                    end = self._end(name, part)
                    if end is not None:
                        part.lag = end - now.start_offset - now.complete_count
            self._waiting -= 1
            self._settle()

        self._call.broker.persister.summarize(key, told)

    def _end(self, name: str, part: DescribeShareGroupOffsetsResponsePartition) -> int | None:
        """Where the partition ends, by its leader."""
        partition = self._call.broker.leader_of(name, part.partition_index)
        if partition is None or not partition.leads:
            part.start_offset = part.leader_epoch = 0
            part.error_code = E.NOT_LEADER_OR_FOLLOWER
            part.error_message = default_message(E.NOT_LEADER_OR_FOLLOWER)
            return None
        return partition.log.high_watermark

    def end(self, answer: DescribeShareGroupOffsetsResponse) -> None:
        self._answer = answer
        self._settle()

    def _settle(self) -> None:
        if self._answer is not None and not self._waiting:
            self._reply.complete(self._answer)


def _id(call: Call, name: str) -> UUID | None:
    topic = call.broker.image.topics.get(name)
    return None if topic is None else topic.id


def _all(call: Call, group_id: str) -> list[tuple[str, Iterable[int]]]:
    groups = call.broker.groups
    group = groups.groups.get(group_id)
    if group is None or group.type != "share":
        return []
    found = groups.share_offsets.of_all(group_id, group)
    names = call.broker.image.topic_ids
    return [(names[topic_id].name, sorted(partitions)) for topic_id, partitions in found.items()]


def _named(group: DescribeShareGroupOffsetsRequestGroup) -> list[tuple[str, Iterable[int]]]:
    return [(topic.topic_name, topic.partitions) for topic in group.topics or ()]
