"""Brokers, one partition on all of them, and clients that ask them what they like."""

from random import Random
from typing import Any

from mockbroker.apis import HANDLERS
from mockbroker.cluster.call import Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.follower import FollowerState
from mockbroker.cluster.partition import Partition
from mockbroker.conformance.batches import batch
from mockbroker.policies import Policies
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from mockbroker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.releases import parse

LAG_MS = 30_000
NOW_MS = 1_700_000_000_000


class Bench:
    """A cluster of three brokers with a topic `t`; `overrides` are its configuration, `_` for dots."""

    def __init__(
        self,
        policies: dict[str, str] | None = None,
        *,
        kafka: str = "4.4",
        brokers: int = 3,
        replicas: list[int] | None = None,
        config: dict[str, str] | None = None,
        racks: dict[int, str] | None = None,
        **overrides: str,
    ) -> None:
        release = parse(kafka)
        self.cluster = Cluster(
            release,
            Random(0),
            brokers=brokers,
            config=config,
            policies=Policies(release, policies),
            racks=racks,
            now_ms=NOW_MS,
        )
        named = {name.replace("_", "."): value for name, value in overrides.items()}
        self.partition = self.cluster.create_topic(
            "t", [replicas or list(self.cluster.brokers)], named
        ).partitions[0]

    def ask(
        self, key: ApiKey, version: int, request: Any, broker: int | None = None
    ) -> tuple[Any, list[Any]]:
        """The answer at once, and a list that a later answer is put into."""
        later: list[Any] = []
        chosen = self.cluster.brokers[broker or self.partition.leader]
        call = Call(chosen, version, Client(), "test", lambda _, answer: later.append(answer))
        return HANDLERS[key](call, request), later

    def produce(
        self,
        records: int = 1,
        acks: int = -1,
        timeout_ms: int = 60_000,
        broker: int | None = None,
        producer_id: int = -1,
    ) -> tuple[Any, list[Any]]:
        """A producer with an id always sends its first batch."""
        number = 0 if producer_id >= 0 else -1
        made = batch(records, producer_id=producer_id, producer_epoch=number, sequence=number)
        data = TopicProduceData(name="t", partition_data=[PartitionProduceData(0, made)])
        return self.ask(ApiKey.PRODUCE, 9, ProduceRequest(None, acks, timeout_ms, [data]), broker)

    def delete(self, offset: int) -> None:
        """Deletes on the leader, and on its followers when they hear of it."""
        topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, offset)])
        answer, _ = self.ask(ApiKey.DELETE_RECORDS, 0, DeleteRecordsRequest(topics=[topic]))
        assert answer.topics[0].partitions[0].error_code in (0, ErrorCode.REQUEST_TIMED_OUT)

    def pass_time(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)


class Lab(Bench):
    """Followers fetch here as well, and brokers tell who leads."""

    def fetch(
        self,
        offset: int,
        *,
        replica: int = -1,
        broker: int | None = None,
        epoch: int = -1,
        log_start: int = -1,
    ) -> PartitionData:
        asked = FetchPartition(0, epoch, offset, -1, log_start, 1 << 20)
        request = FetchRequest(replica_id=replica, topics=[FetchTopic(topic="t", partitions=[asked])])
        answer, _ = self.ask(ApiKey.FETCH, 12, request, broker)
        only: PartitionData = answer.responses[0].partitions[0]
        return only

    def leader_told_by(self, broker: int) -> tuple[int, int]:
        """(leader, leader epoch) in the Metadata of `broker`."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
        answer, _ = self.ask(ApiKey.METADATA, 9, request, broker)
        only = answer.topics[0].partitions[0]
        return only.leader_id, only.leader_epoch

    def state_of(self, broker: int, partition: Partition | None = None) -> FollowerState:
        return (partition or self.partition).followers[broker].state

    def ends(self) -> dict[int, int]:
        return {broker: log.end_offset for broker, log in self.partition.logs.items()}


def outcome(answer: Any) -> tuple[int, int]:
    """(error code, base offset) of a Produce answer."""
    only = answer.responses[0].partition_responses[0]
    return only.error_code, only.base_offset
