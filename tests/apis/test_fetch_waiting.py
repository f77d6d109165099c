"""What answers a Fetch that waits, as 2.8.2, 3.9.2 and 4.4.0 did it."""

from random import Random
from typing import Any

import pytest

from mockbroker.apis import HANDLERS
from mockbroker.cluster.call import PARKED, Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.follower import FollowerState
from mockbroker.conformance.batches import batch, records
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.releases import parse

WAIT_MS = 60_000
LAG_MS = 4000
ENOUGH = 1000
"""More bytes than any of these logs holds."""


class Lab:
    """A partition of two replicas that has ten records; the follower may be paused."""

    def __init__(self, kafka: str = "4.4") -> None:
        config = {"replica.lag.time.max.ms": str(LAG_MS), "log.retention.ms": "-1"}
        self.cluster = Cluster(parse(kafka), Random(0), brokers=2, config=config, now_ms=1_700_000_000_000)
        self.topic = self.cluster.create_topic("t", [[1, 2]])
        self.partition = self.topic.partitions[0]
        self.produce(10)

    def ask(self, key: ApiKey, version: int, request: Any) -> tuple[Any, list[Any]]:
        """The answer at once, and a list that a later answer is put into."""
        later: list[Any] = []
        call = Call(
            self.cluster.brokers[1], version, Client(), "test", lambda _, answer: later.append(answer)
        )
        return HANDLERS[key](call, request), later

    def produce(self, count: int) -> None:
        made = batch(records(count, size=10))
        data = TopicProduceData(name="t", partition_data=[PartitionProduceData(0, made)])
        answer, _ = self.ask(ApiKey.PRODUCE, 9, ProduceRequest(None, 1, 1000, [data]))
        assert answer.responses[0].partition_responses[0].error_code == 0

    def delete(self, offset: int) -> None:
        topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, offset)])
        self.ask(ApiKey.DELETE_RECORDS, 0, DeleteRecordsRequest(topics=[topic]))

    def fetch(
        self, offset: int, min_bytes: int = 1, *, version: int = 12, epoch: int = -1, last_epoch: int = -1
    ) -> "Waiting":
        wanted = FetchPartition(0, epoch, offset, last_epoch, -1, 1 << 20)
        topics = [FetchTopic(topic="t", partitions=[wanted])]
        request = FetchRequest(topics=topics, max_wait_ms=WAIT_MS, min_bytes=min_bytes)
        return Waiting(*self.ask(ApiKey.FETCH, version, request))

    def pass_time(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)


class Waiting:
    """A Fetch that was sent."""

    def __init__(self, answer: Any, later: list[Any]) -> None:
        self._answers = later if answer is PARKED else [answer]

    @property
    def answer(self) -> PartitionData | None:
        """That of the partition, None while there is none."""
        assert len(self._answers) <= 1
        return self._answers[0].responses[0].partitions[0] if self._answers else None

    @property
    def result(self) -> tuple[int, int, int] | None:
        """Error, high watermark and bytes, None while there is no answer."""
        found = self.answer
        if found is None:
            return None
        return found.error_code, found.high_watermark, sum(map(len, found.records or ()))


def test_batches_wait_for_min_bytes() -> None:
    lab = Lab()
    waiting = lab.fetch(10, 100)
    lab.produce(1)
    assert waiting.result is None
    lab.produce(1)
    assert waiting.result == (0, 12, 156)


def test_a_high_watermark_that_moves_too_little_answers_nobody() -> None:
    lab = Lab()
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(3)
    at_it, at_it_for_more, below = lab.fetch(10), lab.fetch(10, ENOUGH), lab.fetch(5, ENOUGH)
    lab.pass_time(2 * LAG_MS)
    assert lab.partition.log.high_watermark == 13
    assert at_it.result == (0, 13, 112)
    assert at_it_for_more.result is None
    assert below.result is None
    lab.pass_time(WAIT_MS)
    assert at_it_for_more.result == (0, 13, 112)
    assert below.result == (0, 13, 343)


def test_what_the_high_watermark_passed_counts_towards_min_bytes() -> None:
    lab = Lab()
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(3)
    waiting = lab.fetch(10, 150)
    lab.partition.set_follower(2, FollowerState.BEHIND)
    assert waiting.result is None
    lab.produce(1)
    assert waiting.result == (0, 14, 190)


@pytest.mark.parametrize("start", [3, 8])
def test_deleted_records_answer_nobody_before_the_time_is_over(start: int) -> None:
    lab = Lab()
    waiting = lab.fetch(5, ENOUGH)
    lab.delete(start)
    assert waiting.result is None
    lab.pass_time(WAIT_MS)
    assert waiting.result == ((0, 10, 231) if start <= 5 else (ErrorCode.OFFSET_OUT_OF_RANGE, -1, 0))


def test_a_leader_that_moves_answers_those_whom_it_refuses() -> None:
    lab = Lab()
    free, fenced, leader_only = lab.fetch(10), lab.fetch(10, epoch=0), lab.fetch(10, version=10)
    lab.partition.lead(2)
    assert fenced.result == (ErrorCode.FENCED_LEADER_EPOCH, -1, 0)
    assert leader_only.result == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, 0)
    assert free.result is None
    lab.pass_time(WAIT_MS)
    assert free.result == (0, 10, 0)


def test_a_divergence_is_answered_at_once() -> None:
    lab = Lab()
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(3)
    lab.pass_time(2 * LAG_MS)
    waiting = lab.fetch(13, last_epoch=0)
    assert waiting.result is None
    lab.partition.isr = [2]
    lab.partition.lead(2)
    assert waiting.answer is not None
    assert waiting.answer.diverging_epoch.end_offset == 10


def test_a_topic_that_is_deleted_answers() -> None:
    lab = Lab()
    waiting = lab.fetch(10, ENOUGH)
    lab.cluster.delete_topics([lab.topic])
    assert waiting.result == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, 0)


PAST = [("2.8", None, None), ("3.7", None, None), ("3.9", (0, 10, 0), (0, 10, 0)), ("4.4", None, (0, 10, 0))]


@pytest.mark.parametrize(("release", "within", "beyond"), PAST)
def test_past_the_high_watermark(release: str, within: object, beyond: object) -> None:
    """At the second record of the first batch above it, and at the log end offset."""
    lab = Lab(release)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(3)
    assert lab.fetch(10).result is None
    assert lab.fetch(11).result == within
    assert lab.fetch(13).result == beyond
