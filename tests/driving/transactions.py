"""Transactional producers and their consumers: what they ask, as verbs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mockbroker.cluster.topic import TopicPartition
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import error_name
from mockbroker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from mockbroker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTransaction,
)
from mockbroker.protocol.messages.common import NamePartitionIndexes, NamePartitions
from mockbroker.protocol.messages.describe_producers import DescribeProducersRequest, ProducerState
from mockbroker.protocol.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from mockbroker.protocol.messages.end_txn import EndTxnRequest
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.protocol.messages.init_producer_id import InitProducerIdRequest
from mockbroker.protocol.messages.offset_commit import OffsetCommitRequestPartition
from mockbroker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitRequestTopic
from mockbroker.protocol.messages.write_txn_markers import WritableTxnMarker, WriteTxnMarkersRequest
from mockbroker.rig.batches import NONE, Record, batch

from .cluster import Asked, ClusterDriver, configured

TIMEOUT_MS = 60_000
MAX_EPOCH = 32767


class Given(NamedTuple):
    """What InitProducerId and EndTxn v5 answer."""

    error: str
    producer_id: int
    epoch: int


class TransactionDriver(ClusterDriver):
    """A cluster with the topic `orders` of two partitions, and the producer `tx`.

    Every request goes to the broker that is responsible, in the newest version of the release unless told.
    """

    def __init__(
        self,
        kafka: str = "4.4",
        policies: Mapping[str, str] | None = None,
        *,
        brokers: int = 1,
        markers_delay_ms: int = 0,
        **config: object,
    ) -> None:
        config["mockbroker.transaction.markers.delay.ms"] = markers_delay_ms
        super().__init__(configured(kafka, brokers, policies, config))
        self.create("orders", 2)

    def create(self, topic: str, partitions: int = 1) -> TopicPartition:
        replicas = list(self.cluster.brokers)
        return self.cluster.create_topic(topic, [replicas] * partitions).partitions[0]

    @property
    def orders(self) -> TopicPartition:
        return self.cluster.topics["orders"].partitions[0]

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
        answer = self.ask(request, version, broker=broker)
        return Given(error_name(answer.error_code), answer.producer_id, answer.producer_epoch)

    def add(self, producer: Given, *partitions: int, **how: Any) -> dict[int, str]:
        """The error of each partition, which are answered at once."""
        (result,) = self.add_later(producer, *partitions, **how).results_by_transaction
        return {
            p.partition_index: error_name(p.partition_error_code)
            for t in result.topic_results
            for p in t.results_by_partition
        }

    def add_later(
        self,
        producer: Given,
        *partitions: int,
        topic: str = "orders",
        transactional_id: str = "tx",
        version: int | None = 3,
    ) -> Asked:
        asked = NamePartitions(topic, list(partitions) or [0])
        one = AddPartitionsToTxnTransaction(
            transactional_id, producer.producer_id, producer.epoch, topics=[asked]
        )
        version = None if version is None else min(version, self.newest(ApiKey.ADD_PARTITIONS_TO_TXN))
        request = AddPartitionsToTxnRequest([one])
        return self.ask(request, version, broker=self.coordinator(transactional_id))

    def write(self, producer: Given, sequence: int = 0, **how: Any) -> tuple[str, int]:
        """(error, base offset) of a batch, as `write_later` sends it, that is answered at once."""
        only = self.write_later(producer, sequence, **how).responses[0].partition_responses[0]
        return error_name(only.error_code), only.base_offset

    def write_later(
        self,
        producer: Given,
        sequence: int = 0,
        *,
        count: int = 3,
        value: bytes = b"x" * 10,
        topic: str = "orders",
        partition: int = 0,
        transactional: bool = True,
        transactional_id: str = "tx",
        version: int | None = 11,
        compression: int = NONE,
    ) -> Asked:
        """A batch of records, as a client of KIP-890's first part."""
        data = batch(
            [Record(value, timestamp=self.cluster.now_ms)] * count,
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
        return self.ask(request, chosen, broker=found.partitions[partition].leader)

    def end(self, producer: Given, *, commit: bool, **how: Any) -> Given:
        answer = self.end_later(producer, commit=commit, **how)
        return Given(error_name(answer.error_code), answer.producer_id, answer.producer_epoch)

    def end_later(
        self, producer: Given, *, commit: bool, transactional_id: str = "tx", version: int | None = 4
    ) -> Asked:
        """As a client without KIP-890's second part unless the version says otherwise."""
        version = None if version is None else min(version, self.newest(ApiKey.END_TXN))
        request = EndTxnRequest(transactional_id, producer.producer_id, producer.epoch, commit)
        return self.ask(request, version, broker=self.coordinator(transactional_id))

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
        self,
        producer: Given,
        *,
        commit: bool,
        coordinator_epoch: int = 0,
        version: int = 1,
        partition: int = 0,
    ) -> str | None:
        """The error of a marker on that partition of `orders`, None while it waits for replicas."""
        topics = [NamePartitionIndexes("orders", [partition])]
        ids = producer.producer_id, producer.epoch
        level = 0 if version < 2 else 2
        marker = WritableTxnMarker(*ids, commit, topics, coordinator_epoch, level)
        request = WriteTxnMarkersRequest([marker])
        leader = self.cluster.topics["orders"].partitions[partition].leader
        answer = self.ask(request, version, broker=leader).response
        return None if answer is None else error_name(answer.markers[0].topics[0].partitions[0].error_code)

    # -- offsets

    def add_offsets(self, producer: Given, group: str = "g") -> str:
        request = AddOffsetsToTxnRequest("tx", producer.producer_id, producer.epoch, group)
        return error_name(self.ask(request, broker=self.coordinator()).error_code)

    def commit_offset(
        self, producer: Given, offset: int, *, version: int | None = 4, generation: int = -1, member: str = ""
    ) -> str:
        partition = OffsetCommitRequestPartition(0, offset, 0, "")
        topic = TxnOffsetCommitRequestTopic("orders", [partition])
        ids = producer.producer_id, producer.epoch
        request = TxnOffsetCommitRequest("tx", "g", *ids, generation, member, None, [topic])
        broker = self.cluster.offsets_partition("g").leader
        version = None if version is None else min(version, self.newest(ApiKey.TXN_OFFSET_COMMIT))
        answer = self.ask(request, version, broker=broker)
        return error_name(answer.topics[0].partitions[0].error_code)

    def committing(self, offset: int = 5) -> Given:
        """A producer with an offset in its open transaction."""
        producer = self.init()
        assert self.add_offsets(producer) == self.commit_offset(producer, offset) == "NONE"
        return producer

    def committed(self, *, stable: bool = False) -> tuple[str, int]:
        """(error, offset) that OffsetFetch answers for `orders-0`."""
        group = OffsetFetchRequestGroup("g", topics=[OffsetFetchRequestTopics(None, [0], "orders")])
        broker = self.cluster.offsets_partition("g").leader
        answer = self.ask(OffsetFetchRequest([group], stable), 8, broker=broker)
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
        return self.ask(request, version, broker=found.partitions[0].leader)

    def read(self, offset: int = 0, **how: Any) -> Any:
        """One partition's data."""
        return self.fetch(offset, **how).responses[0].partitions[0]

    def stable(self) -> tuple[int, int]:
        """(last stable offset, high watermark) of `orders-0`."""
        data = self.read(self.orders.log.start_offset)
        return data.last_stable_offset, data.high_watermark

    def describe(self, transactional_id: str = "tx") -> TransactionState:
        request = DescribeTransactionsRequest([transactional_id])
        answer = self.ask(request, 0, broker=self.coordinator(transactional_id))
        (only,) = answer.transaction_states
        assert isinstance(only, TransactionState)
        return only

    def producers(self) -> dict[int, ProducerState]:
        request = DescribeProducersRequest([NamePartitionIndexes("orders", [0])])
        answer = self.ask(request, 0, broker=self.orders.leader)
        return {each.producer_id: each for each in answer.topics[0].partitions[0].active_producers}
