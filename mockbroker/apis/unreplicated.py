"""Produce with acks=-1 that waits until the in-sync replicas have its records (`DelayedProduce.java`).

If that fails, the answer still has the offset of the records in the leader's log.
"""

import functools
from collections.abc import Callable
from typing import Final, NamedTuple

from ..cluster.call import Call
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import LeaderIdAndEpoch
from ..protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ..replication.partition import Partition
from .leaders import produce_endpoints
from .produced_partitions import topic_of

_ENDPOINTS_SINCE: Final = 10


class _Required(NamedTuple):
    """What has to be replicated before one partition's answer is right."""

    answer: PartitionProduceResponse
    leader_epoch: int
    offset: int
    callback: Callable[[], None]


class Unreplicated:
    """Delays an answer while `left` has partitions whose high watermark is below what was appended."""

    def __init__(self, call: Call, request: ProduceRequest, answer: ProduceResponse) -> None:
        self._call = call
        self._answer = answer
        self.left: dict[Partition, _Required] = {}
        for topic in answer.responses:
            for one in topic.partition_responses:
                partition = None if one.error_code else self._partition(topic, one.index)
                if partition is not None and partition.log.high_watermark < partition.log.end_offset:
                    self._wait(partition, one)
        if self.left:
            self._timer = call.environment.wait(max(0, request.timeout_ms), self._expire)

    def _partition(self, topic: TopicProduceResponse, index: int) -> Partition | None:
        return self._call.partition(topic_of(self._call, topic.name, topic.topic_id), index)

    def _wait(self, partition: Partition, answer: PartitionProduceResponse) -> None:
        callback = functools.partial(self._reached, partition)
        end = partition.log.end_offset
        self.left[partition] = _Required(answer, partition.leader_epoch, end, callback)
        partition.when_replicated(end, callback)
        self._call.cluster.notes.produce_waits(self._call.client_id, partition, self.left)

    def _reached(self, partition: Partition) -> None:
        answer, leader_epoch, offset, _ = self.left.pop(partition)
        self._call.cluster.notes.produce_waited(self._call.client_id, partition, self.left)
        error = ErrorCode.NONE
        if partition.deleted:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif partition.leader_epoch != leader_epoch:
            error = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif partition.log.high_watermark < offset:
            error = ErrorCode.REQUEST_TIMED_OUT
        elif partition.is_under_min_isr:
            error = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        answer.error_code = error
        if not self.left:
            self._timer.cancel()
            if self._call.version >= _ENDPOINTS_SINCE:
                self._name_leaders()
            self._call.answer(self._answer)

    def _name_leaders(self) -> None:
        """Names those that lead now, also of partitions that were refused before the others waited."""
        for topic in self._answer.responses:
            for one in topic.partition_responses:
                if one.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                    continue
                if (partition := self._partition(topic, one.index)) is not None:
                    one.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
        self._answer.node_endpoints = produce_endpoints(self._call, self._answer)

    def _expire(self) -> None:
        for partition, required in list(self.left.items()):
            partition.forget(required.callback)
            self._reached(partition)
