"""Plays transactional producers and their consumers through the handlers, on a clock that the test moves."""

import copy
from random import Random
from typing import Any, NamedTuple

from mockbroker.apis import HANDLERS
from mockbroker.apis.advertised import advertised
from mockbroker.cluster.call import PARKED, Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.partition import Partition
from mockbroker.conformance.batches import NONE, Record, batch
from mockbroker.policies import Policies
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.codecs import codec
from mockbroker.protocol.errors import error_name
from mockbroker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from mockbroker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from mockbroker.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    ProducerState,
    TopicRequest,
)
from mockbroker.protocol.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from mockbroker.protocol.messages.end_txn import EndTxnRequest
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.protocol.messages.init_producer_id import InitProducerIdRequest
from mockbroker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from mockbroker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from mockbroker.protocol.releases import parse

START_MS = 1_700_000_000_000
TIMEOUT_MS = 60_000
MAX_EPOCH = 32767


class Given(NamedTuple):
    """What InitProducerId and EndTxn v5 answer."""

    error: str
    producer_id: int
    epoch: int


class Asked:
    """A request and its answer, None as long as it is parked."""

    def __init__(self) -> None:
        self.response: Any = None

    @property
    def parked(self) -> bool:
        return self.response is None


class Stage:
    """A cluster with the topic `orders` of two partitions, and the producer `tx`.

    Every request goes out in the newest version that the release has, or the one given, to the broker that
    is responsible; every answer has to be writable in it.
    """

    def __init__(
        self,
        kafka: str = "4.4",
        *,
        brokers: int = 1,
        policies: dict[str, str] | None = None,
        markers_delay_ms: int = 0,
        **config: object,
    ) -> None:
        release = parse(kafka)
        named = {name.replace("_", "."): str(value) for name, value in config.items()}
        named["mockbroker.transaction.markers.delay.ms"] = str(markers_delay_ms)
        self.cluster = Cluster(
            release,
            Random(0),
            brokers=brokers,
            config=named,
            policies=Policies(release, policies or {}),
            now_ms=START_MS,
        )
        self.create("orders", 2)

    def create(self, topic: str, partitions: int = 1) -> Partition:
        replicas = list(self.cluster.brokers)
        return self.cluster.create_topic(topic, [replicas] * partitions).partitions[0]

    @property
    def orders(self) -> Partition:
        return self.cluster.topics["orders"].partitions[0]

    def advance(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)

    def newest(self, key: ApiKey) -> int:
        return advertised(self.cluster.release)[key][1]

    def send(self, key: ApiKey, request: Any, broker: int, version: int | None = None) -> Asked:
        chosen = self.newest(key) if version is None else version
        asked = Asked()

        def sink(_: Call, response: Any) -> None:
            assert asked.response is None, "answered twice"
            codec(key, chosen).encode(0, copy.deepcopy(response))
            asked.response = response

        call = Call(self.cluster.brokers[broker], chosen, Client(), "test", sink)
        response = HANDLERS[key](call, request)
        if response is not PARKED:
            sink(call, response)
        return asked

    def ask(self, key: ApiKey, request: Any, broker: int, version: int | None = None) -> Any:
        asked = self.send(key, request, broker, version)
        assert asked.response is not None, f"{key.name} waits"
        return asked.response

    # -- producers

    def coordinator(self, transactional_id: str = "tx") -> int:
        return self.cluster.transaction_partition(transactional_id).leader

    def init(
        self,
        producer_id: int = -1,
        epoch: int = -1,
        *,
        transactional_id: str | None = "tx",
        timeout_ms: int = TIMEOUT_MS,
        version: int | None = None,
    ) -> Given:
        request = InitProducerIdRequest(transactional_id, timeout_ms, producer_id, epoch)
        broker = 1 if not transactional_id else self.coordinator(transactional_id)
        answer = self.ask(ApiKey.INIT_PRODUCER_ID, request, broker, version)
        return Given(error_name(answer.error_code), answer.producer_id, answer.producer_epoch)

    def add(
        self,
        producer: Given,
        *partitions: int,
        topic: str = "orders",
        transactional_id: str = "tx",
        version: int | None = 3,
    ) -> dict[int, str]:
        """The error of each partition."""
        asked = AddPartitionsToTxnTopic(topic, list(partitions) or [0])
        one = AddPartitionsToTxnTransaction(
            transactional_id, producer.producer_id, producer.epoch, topics=[asked]
        )
        version = None if version is None else min(version, self.newest(ApiKey.ADD_PARTITIONS_TO_TXN))
        request = AddPartitionsToTxnRequest([one])
        answer = self.ask(ApiKey.ADD_PARTITIONS_TO_TXN, request, self.coordinator(transactional_id), version)
        (result,) = answer.results_by_transaction
        return {
            p.partition_index: error_name(p.partition_error_code)
            for t in result.topic_results
            for p in t.results_by_partition
        }

    def write(
        self,
        producer: Given,
        sequence: int = 0,
        *,
        count: int = 3,
        topic: str = "orders",
        partition: int = 0,
        transactional: bool = True,
        transactional_id: str = "tx",
        version: int | None = 11,
        compression: int = NONE,
    ) -> tuple[str, int]:
        """(error, base offset) of a batch of records of ten bytes, as a client of KIP-890's first part."""
        answer = self.write_later(
            producer,
            sequence,
            count=count,
            topic=topic,
            partition=partition,
            transactional=transactional,
            transactional_id=transactional_id,
            version=version,
            compression=compression,
        ).response
        assert answer is not None, "Produce waits"
        only = answer.responses[0].partition_responses[0]
        return error_name(only.error_code), only.base_offset

    def write_later(
        self,
        producer: Given,
        sequence: int = 0,
        *,
        count: int = 3,
        topic: str = "orders",
        partition: int = 0,
        transactional: bool = True,
        transactional_id: str = "tx",
        version: int | None = 11,
        compression: int = NONE,
    ) -> Asked:
        data = batch(
            [Record(b"x" * 10, timestamp=self.cluster.now_ms)] * count,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            sequence=sequence,
            attributes=0x10 if transactional else 0,
            codec=compression,
        )
        chosen = self.newest(ApiKey.PRODUCE)
        if version is not None:
            chosen = min(version, chosen)
        found = self.cluster.topics[topic]
        one = TopicProduceData(found.id, [PartitionProduceData(partition, data)], topic)
        request = ProduceRequest(transactional_id if transactional else None, -1, 1000, [one])
        return self.send(ApiKey.PRODUCE, request, found.partitions[partition].leader, chosen)

    def end(
        self, producer: Given, *, commit: bool, transactional_id: str = "tx", version: int | None = 4
    ) -> Given:
        """As a client without KIP-890's second part unless the version says otherwise."""
        version = None if version is None else min(version, self.newest(ApiKey.END_TXN))
        request = EndTxnRequest(transactional_id, producer.producer_id, producer.epoch, commit)
        answer = self.ask(ApiKey.END_TXN, request, self.coordinator(transactional_id), version)
        return Given(error_name(answer.error_code), answer.producer_id, answer.producer_epoch)

    def exhausted(self, epoch: int = MAX_EPOCH - 1) -> Given:
        """A producer with the highest epoch that clients get."""
        producer = self.init()
        owned = self.cluster.brokers[1].transactions
        (entry,) = (each.entries["tx"] for each in owned.owned.values() if "tx" in each.entries)
        entry.now = entry.now.fenced(epoch, epoch - 1)
        return Given("NONE", producer.producer_id, epoch)

    def begun(self, producer: Given | None = None, *, sequence: int = 0) -> Given:
        """A producer with a transaction open on `orders-0`, with three records in it."""
        producer = producer or self.init()
        assert self.add(producer) == {0: "NONE"}
        assert self.write(producer, sequence)[0] == "NONE"
        return producer

    def mark(
        self, producer: Given, *, commit: bool, coordinator_epoch: int = 0, version: int = 1
    ) -> str | None:
        """The error of a marker on `orders-0`, None while it waits for replicas."""
        topics = [WritableTxnMarkerTopic("orders", [0])]
        ids = producer.producer_id, producer.epoch
        level = 0 if version < 2 else 2
        marker = WritableTxnMarker(*ids, commit, topics, coordinator_epoch, level)
        request = WriteTxnMarkersRequest([marker])
        answer = self.send(ApiKey.WRITE_TXN_MARKERS, request, self.orders.leader, version).response
        return None if answer is None else error_name(answer.markers[0].topics[0].partitions[0].error_code)

    # -- offsets

    def add_offsets(self, producer: Given, group: str = "g") -> str:
        request = AddOffsetsToTxnRequest("tx", producer.producer_id, producer.epoch, group)
        return error_name(self.ask(ApiKey.ADD_OFFSETS_TO_TXN, request, self.coordinator()).error_code)

    def commit_offset(
        self, producer: Given, offset: int, *, version: int | None = 4, generation: int = -1, member: str = ""
    ) -> str:
        partition = TxnOffsetCommitRequestPartition(0, offset, 0, "")
        topic = TxnOffsetCommitRequestTopic("orders", [partition])
        ids = producer.producer_id, producer.epoch
        request = TxnOffsetCommitRequest("tx", "g", *ids, generation, member, None, [topic])
        broker = self.cluster.offsets_partition("g").leader
        version = None if version is None else min(version, self.newest(ApiKey.TXN_OFFSET_COMMIT))
        answer = self.ask(ApiKey.TXN_OFFSET_COMMIT, request, broker, version)
        return error_name(answer.topics[0].partitions[0].error_code)

    def committed(self, *, stable: bool = False) -> tuple[str, int]:
        """(error, offset) that OffsetFetch answers for `orders-0`."""
        group = OffsetFetchRequestGroup("g", topics=[OffsetFetchRequestTopics(None, [0], "orders")])
        broker = self.cluster.offsets_partition("g").leader
        answer = self.ask(ApiKey.OFFSET_FETCH, OffsetFetchRequest([group], stable), broker, 8)
        only = answer.groups[0].topics[0].partitions[0]
        return error_name(only.error_code), only.committed_offset

    # -- what others see

    def fetch(
        self,
        offset: int = 0,
        *,
        committed: bool = True,
        topic: str = "orders",
        version: int = 11,
        wait_ms: int = 0,
    ) -> Asked:
        found = self.cluster.topics[topic]
        asked = FetchTopic(
            topic_id=found.id, topic=topic, partitions=[FetchPartition(0, -1, offset, -1, -1, 1 << 20)]
        )
        request = FetchRequest(
            isolation_level=int(committed), topics=[asked], max_wait_ms=wait_ms, min_bytes=1
        )
        version = min(version, self.newest(ApiKey.FETCH))
        return self.send(ApiKey.FETCH, request, found.partitions[0].leader, version)

    def read(
        self, offset: int = 0, *, committed: bool = True, topic: str = "orders", version: int = 11
    ) -> Any:
        """One partition's data."""
        return (
            self.fetch(offset, committed=committed, topic=topic, version=version)
            .response.responses[0]
            .partitions[0]
        )

    def stable(self) -> tuple[int, int]:
        """(last stable offset, high watermark) of `orders-0`."""
        data = self.read(self.orders.log.start_offset)
        return data.last_stable_offset, data.high_watermark

    def describe(self, transactional_id: str = "tx") -> TransactionState:
        request = DescribeTransactionsRequest([transactional_id])
        answer = self.ask(ApiKey.DESCRIBE_TRANSACTIONS, request, self.coordinator(transactional_id), 0)
        (only,) = answer.transaction_states
        assert isinstance(only, TransactionState)
        return only

    def producers(self) -> dict[int, ProducerState]:
        request = DescribeProducersRequest([TopicRequest("orders", [0])])
        answer = self.ask(ApiKey.DESCRIBE_PRODUCERS, request, self.orders.leader, 0)
        return {each.producer_id: each for each in answer.topics[0].partitions[0].active_producers}
