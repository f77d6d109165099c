"""A cluster with many of everything: what costs more than its share shows here."""

from collections.abc import Callable
from typing import Any, Final

from mockbroker.protocol.codecs import Codec
from mockbroker.protocol.messages import (
    add_partitions_to_txn,
    common,
    init_producer_id,
    join_group,
    offset_commit,
    produce,
    txn_offset_commit,
)
from mockbroker.rig.batches import TRANSACTIONAL, Record, batch

from .cluster import ClusterDriver, configured

BIG: Final = "many"
"""The topic of n partitions, the group of n members, and the transactional id of n partitions."""
TIMEOUT_MS: Final = 60_000
Sink = Callable[[Codec, Any], None]
"""Gets an answer, and what writes it."""


def one_batch(time_ms: int, producer_id: int = -1, epoch: int = 0, *, transactional: bool = False) -> bytes:
    known = producer_id >= 0
    return batch(
        [Record(b"v", b"k", time_ms)],
        attributes=TRANSACTIONAL * transactional,
        producer_id=producer_id,
        producer_epoch=epoch if known else -1,
        sequence=0 if known else -1,
    )


class Many(ClusterDriver):
    """Everything is led and coordinated by broker 1."""

    def __init__(self, n: int, release: str = "4.4", brokers: int = 3) -> None:
        config = {
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.num.partitions": 1,
            "share.coordinator.state.topic.num.partitions": 1,
            "group.initial.rebalance.delay.ms": 0,
        }
        super().__init__(configured(release, brokers, None, config))
        self.n = n
        replicas = list(self.cluster.brokers)
        self.topics = [f"topic.{i}" for i in range(n)]
        for name in self.topics:
            self.cluster.create_topic(name, [replicas])
        self.cluster.create_topic(BIG, [replicas] * n)
        self.groups = [f"group-{i:03}" for i in range(n)]
        self.ids = [f"id-{i:03}" for i in range(n)]
        self.members: list[str] = []
        self.generation = 0
        self.producers: dict[str, int] = {}
        self.epoch = 0

    def send(self, request: Any, *, broker: int = 1, sink: Sink | None = None) -> Any:
        """The answer, None as long as there is none; nothing is done with it unless `sink` does."""
        return self.ask(request, broker=broker, answered=sink or _left_alone).response

    # -- what has to be there first

    def commit_all(self) -> None:
        """Each group has an offset, and the big one n."""
        for group in self.groups:
            self.send(self.commit(group, [(self.topics[0], 0)]))
        self.send(self.commit(BIG, [(BIG, i) for i in range(self.n)]))

    def commit(self, group: str, where: list[tuple[str, int]]) -> Any:
        topics = {name: self.cluster.topics[name] for name, _ in where}
        return offset_commit.OffsetCommitRequest(
            group,
            topics=[
                offset_commit.OffsetCommitRequestTopic(
                    topic.id,
                    [
                        offset_commit.OffsetCommitRequestPartition(index, 1)
                        for other, index in where
                        if other == name
                    ],
                    name,
                )
                for name, topic in topics.items()
            ],
        )

    def init_all(self) -> None:
        """Each transactional id has a producer id."""
        for name in [*self.ids, BIG]:
            answer = self.send(init_producer_id.InitProducerIdRequest(name, TIMEOUT_MS))
            self.producers[name] = answer.producer_id

    def open_all(self) -> None:
        """Each transactional id has a transaction open on one partition, and the big one on n."""
        self.init_all()
        for index, name in enumerate(self.ids):
            self.send(self.add(name, [(self.topics[index], 0)]))
            self.write(name, self.topics[index], 0)
        self.send(self.add(BIG, [(BIG, i) for i in range(self.n)]))

    def write(self, transactional_id: str, topic: str, index: int) -> Any:
        """A batch of a producer that begins its epoch with it."""
        producer_id = self.producers[transactional_id]
        records = one_batch(self.cluster.now_ms, producer_id, self.epoch, transactional=True)
        return self.send(self.produce([(topic, index)], records, transactional_id))

    def produce(
        self, where: list[tuple[str, int]], records: bytes, transactional_id: str | None = None
    ) -> Any:
        return produce.ProduceRequest(
            transactional_id,
            -1,
            TIMEOUT_MS,
            [
                produce.TopicProduceData(
                    self.cluster.topics[name].id, [produce.PartitionProduceData(index, records)], name
                )
                for name, index in where
            ],
        )

    def add(self, name: str, where: list[tuple[str, int]]) -> Any:
        topics = [common.NamePartitions(topic, [index]) for topic, index in where]
        if all(topic == BIG for topic, _ in where):
            topics = [common.NamePartitions(BIG, [index for _, index in where])]
        asked = add_partitions_to_txn.AddPartitionsToTxnTransaction(
            name, self.producers[name], self.epoch, topics=topics
        )
        return add_partitions_to_txn.AddPartitionsToTxnRequest([asked])

    def commit_in_transaction(self, name: str, group: str, count: int) -> Any:
        offsets = [offset_commit.OffsetCommitRequestPartition(i, 1) for i in range(count)]
        return txn_offset_commit.TxnOffsetCommitRequest(
            name,
            group,
            self.producers[name],
            0,
            topics=[txn_offset_commit.TxnOffsetCommitRequestTopic(BIG, offsets)],
        )

    def join(self, member_id: str = "", instance_id: str | None = None) -> Any:
        return join_group.JoinGroupRequest(
            BIG,
            10_000,
            TIMEOUT_MS,
            member_id,
            instance_id,
            "consumer",
            [join_group.JoinGroupRequestProtocol("range", b"")],
        )

    def join_all(self) -> None:
        """The big group has n members that wait for their assignments."""
        joined: list[Any] = []

        def keep(_: Codec, answer: Any) -> None:
            joined.append(answer)

        for _ in range(self.n):
            member_id = self.send(self.join()).member_id
            self.members.append(member_id)
            self.send(self.join(member_id), sink=keep)
        for member_id in self.members[:-1]:
            self.send(self.join(member_id), sink=keep)
        self.advance(0)
        self.generation = max(each.generation_id for each in joined)


def _left_alone(_: Codec, answer: Any) -> None:
    """Writing it would count as work of the request."""
