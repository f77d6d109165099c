"""One partition, and clients that produce and fetch through the handlers."""

from random import Random
from typing import Any

from mockbroker.apis import HANDLERS
from mockbroker.cluster.call import Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.conformance.batches import batch
from mockbroker.policies import Policies
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.record_batch import header_of
from mockbroker.protocol.releases import parse

LAG_MS = 30_000
START_MS = 1_700_000_000_000


class Lab:
    """Three brokers, one topic `t` with one partition."""

    def __init__(
        self,
        release: str = "4.4",
        policies: dict[str, str] | None = None,
        *,
        replicas: list[int] | None = None,
        config: dict[str, str] | None = None,
        racks: dict[int, str] | None = None,
        **overrides: str,
    ) -> None:
        line = parse(release)
        self.cluster = Cluster(
            line,
            Random(0),
            config=config,
            policies=Policies(line, policies),
            racks=racks,
            now_ms=START_MS,
        )
        named = {name.replace("_", "."): value for name, value in overrides.items()}
        self.partition = self.cluster.create_topic("t", [replicas or [1, 2, 3]], named).partitions[0]

    def ask(
        self, key: ApiKey, version: int, request: Any, broker: int | None = None
    ) -> tuple[Any, list[Any]]:
        """The answer at once, and a list that a later one is put into."""
        later: list[Any] = []
        chosen = self.cluster.brokers[broker or self.partition.leader]
        call = Call(chosen, version, Client(), "test", lambda _, answer: later.append(answer))
        return HANDLERS[key](call, request), later

    def produce(self, records: int = 1, acks: int = -1) -> None:
        """One batch, whose records are years old."""
        data = TopicProduceData(name="t", partition_data=[PartitionProduceData(0, batch(records))])
        self.ask(ApiKey.PRODUCE, 7, ProduceRequest(None, acks, 60_000, [data]))

    def delete_records(self, offset: int) -> None:
        topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, offset)])
        self.ask(ApiKey.DELETE_RECORDS, 1, DeleteRecordsRequest([topic]))

    def request(
        self,
        offset: int,
        *,
        epoch: int = -1,
        last_epoch: int = -1,
        rack: str = "",
        session: tuple[int, int] = (0, -1),
        wait_ms: int = 0,
    ) -> FetchRequest:
        asked = FetchPartition(0, epoch, offset, last_epoch, -1, 1 << 20)
        session_id, session_epoch = session
        return FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=1,
            session_id=session_id,
            session_epoch=session_epoch,
            topics=[FetchTopic(topic="t", partitions=[asked])],
            rack_id=rack,
        )

    def fetch(
        self, offset: int, *, broker: int | None = None, version: int = 12, **asked: Any
    ) -> FetchResponse:
        answer, _ = self.ask(ApiKey.FETCH, version, self.request(offset, **asked), broker)
        assert isinstance(answer, FetchResponse)
        return answer

    def read(self, offset: int, **asked: Any) -> PartitionData:
        """What is answered for the partition."""
        return self.fetch(offset, **asked).responses[0].partitions[0]

    def pass_time(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)


def offsets(found: PartitionData) -> list[int]:
    """Those of the records that were read, by batch."""
    return [
        offset
        for header in map(header_of, found.records or ())
        for offset in range(header.base_offset, header.base_offset + header.last_offset_delta + 1)
    ]
