"""A partition of one topic whose time the test moves, and what is in it."""

from collections.abc import Sequence
from random import Random
from typing import Any

from mockbroker.apis import HANDLERS
from mockbroker.cluster.call import Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.conformance.batches import NONE, Record, batch
from mockbroker.policies import Policies
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import fetch, list_offsets
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.record_batch import header_of, records
from mockbroker.protocol.releases import parse

START_MS = 1_700_000_000_000
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


class Topic:
    """Topic `t` of one partition. Names of its configurations are given with `_` for `.`."""

    def __init__(
        self,
        kafka: str = "3.9",
        *,
        brokers: int = 1,
        policies: dict[str, str] | None = None,
        broker: dict[str, str] | None = None,
        **configs: object,
    ) -> None:
        release = parse(kafka)
        self.cluster = Cluster(
            release,
            Random(0),
            brokers=brokers,
            config=broker,
            policies=Policies(release, policies or {}),
            now_ms=START_MS,
        )
        overrides = {name.replace("_", "."): str(value) for name, value in configs.items()}
        self.topic = self.cluster.create_topic("t", [list(range(1, brokers + 1))], overrides)
        self.partition = self.topic.partitions[0]
        self.log = self.partition.log

    @property
    def now_ms(self) -> int:
        return self.cluster.now_ms

    def advance(self, by_ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + by_ms)

    def send(
        self,
        content: int | Sequence[tuple[bytes | None, bytes | None]] = 1,
        *,
        codec: int = NONE,
        age_ms: int = 0,
        size: int = 1,
        producer_id: int = -1,
        sequence: int = -1,
        no_timestamp: bool = False,
    ) -> int:
        """Appends one batch of records of `size` bytes, or of (key, value); its base offset."""
        time = -1 if no_timestamp else self.now_ms - age_ms
        pairs = [(b"k", b"v" * size)] * content if isinstance(content, int) else content
        data = batch(
            [Record(value, key, time, headers=(("h", b"x"),)) for key, value in pairs],
            codec=codec,
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            sequence=sequence,
        )
        request = ProduceRequest(
            None, -1, 1000, [TopicProduceData(name="t", partition_data=[PartitionProduceData(0, data)])]
        )
        answer = self._ask(ApiKey.PRODUCE, 9, request).responses[0].partition_responses[0]
        assert answer.error_code == 0, answer
        return int(answer.base_offset)

    def fetch(self, offset: int) -> tuple[int, list[bytes]]:
        """(error code, batches)."""
        asked = fetch.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 30)
        request = fetch.FetchRequest(
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 30,
            topics=[fetch.FetchTopic(topic="t", partitions=[asked])],
        )
        only = self._ask(ApiKey.FETCH, 12, request).responses[0].partitions[0]
        return int(only.error_code), [bytes(each) for each in only.records or ()]

    def offset_for(self, timestamp: int) -> int:
        """What ListOffsets says."""
        asked = list_offsets.ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        topic = list_offsets.ListOffsetsTopic(name="t", partitions=[asked])
        request = list_offsets.ListOffsetsRequest(replica_id=-1, topics=[topic])
        return int(self._ask(ApiKey.LIST_OFFSETS, 7, request).topics[0].partitions[0].offset)

    def content(self) -> list[tuple[int, bytes | None, bytes | None]]:
        """(offset, key, value) of all that is in the log."""
        return [(r.offset, r.key, r.value) for each in self.log for r in records(each)]

    def ranges(self) -> list[tuple[int, int, int]]:
        """(base offset, last offset, record count) of each batch."""
        heads = [header_of(each) for each in self.log]
        return [(h.base_offset, h.base_offset + h.last_offset_delta, h.record_count) for h in heads]

    def segments(self) -> list[int]:
        """Base offsets of the segments."""
        self.partition.segments.catch_up(self.log, self.topic.settings)
        return [each.base_offset for each in self.partition.segments.all]

    def _ask(self, key: ApiKey, version: int, request: object) -> Any:
        call = Call(self.cluster.brokers[1], version, Client(), "test", lambda *_: None)
        return HANDLERS[key](call, request)
