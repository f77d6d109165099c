"""A cluster with many of everything, and requests about all of it: what costs more than its share shows.

`Many(n)` has n topics of one partition, a topic of n partitions, n groups with committed offsets, a group
with n members, and n transactional ids. `REQUESTS` has for each API the requests with n entries.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from mockbroker.apis import HANDLERS
from mockbroker.apis.advertised import advertised
from mockbroker.cluster.call import PARKED, Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.conformance.batches import TRANSACTIONAL, Record, batch
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.codecs import Codec, codec
from mockbroker.protocol.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    alter_configs,
    alter_partition_reassignments,
    api_versions,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_producers,
    describe_topic_partitions,
    describe_transactions,
    elect_leaders,
    end_txn,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    list_transactions,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    sasl_authenticate,
    sasl_handshake,
    sync_group,
    txn_offset_commit,
    write_txn_markers,
)

from .asking import a_cluster

BIG: Final = "many"
"""The topic of n partitions, the group of n members, and the transactional id of n partitions."""
TIMEOUT_MS: Final = 60_000
Sink = Callable[[Codec, Any], None]
"""Gets an answer, and what writes it."""


def key_of(request: Any) -> ApiKey:
    return ApiKey[type(request).__module__.rpartition(".")[2].upper()]


def one_batch(time_ms: int, producer_id: int = -1, epoch: int = 0, *, transactional: bool = False) -> bytes:
    known = producer_id >= 0
    return batch(
        [Record(b"v", b"k", time_ms)],
        attributes=TRANSACTIONAL * transactional,
        producer_id=producer_id,
        producer_epoch=epoch if known else -1,
        sequence=0 if known else -1,
    )


class Many:
    """Everything is led and coordinated by broker 1."""

    def __init__(self, n: int, release: str = "4.4", brokers: int = 3) -> None:
        self.n = n
        self.cluster: Cluster = a_cluster(
            release,
            brokers,
            offsets_topic_num_partitions="1",
            transaction_state_log_num_partitions="1",
            group_initial_rebalance_delay_ms="0",
        )
        self.cluster.advance(1_700_000_000_000)
        replicas = list(self.cluster.brokers)
        self.topics = [f"topic.{i}" for i in range(n)]
        for name in self.topics:
            self.cluster.create_topic(name, [replicas])
        self.cluster.create_topic(BIG, [replicas] * n)
        self.groups = [f"group-{i}" for i in range(n)]
        self.ids = [f"id-{i}" for i in range(n)]
        self.members: list[str] = []
        self.generation = 0
        self.producers: dict[str, int] = {}
        self.epoch = 0

    def send(self, request: Any, *, broker: int = 1, sink: Sink | None = None) -> Any:
        """The answer, None as long as there is none, in the newest version."""
        key = key_of(request)
        version = advertised(self.cluster.release)[key][1]
        found: list[Any] = []

        def answered(_: Call, answer: Any) -> None:
            found.append(answer)
            if sink is not None:
                sink(codec(key, version), answer)

        call = Call(self.cluster.brokers[broker], version, Client(), "test", answered)
        answer = HANDLERS[key](call, request)
        if answer is not PARKED:
            answered(call, answer)
        return found[0] if found else None

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
        topics = [add_partitions_to_txn.AddPartitionsToTxnTopic(topic, [index]) for topic, index in where]
        if all(topic == BIG for topic, _ in where):
            topics = [add_partitions_to_txn.AddPartitionsToTxnTopic(BIG, [index for _, index in where])]
        asked = add_partitions_to_txn.AddPartitionsToTxnTransaction(
            name, self.producers[name], self.epoch, topics=topics
        )
        return add_partitions_to_txn.AddPartitionsToTxnRequest([asked])

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
        self.cluster.advance(self.cluster.now_ms + TIMEOUT_MS)
        self.generation = max(each.generation_id for each in joined)


Requests = Callable[[Many], Iterator[Any]]
REQUESTS: Final[dict[tuple[ApiKey, str], Requests]] = {}


def about(key: ApiKey, what: str = "") -> Callable[[Requests], Requests]:
    def register(requests: Requests) -> Requests:
        REQUESTS[key, what] = requests
        return requests

    return register


@about(ApiKey.PRODUCE)
def _produce(many: Many) -> Iterator[Any]:
    records = one_batch(many.cluster.now_ms)
    yield many.produce([(name, 0) for name in many.topics], records)


@about(ApiKey.PRODUCE, "to one partition")
def _produce_one(many: Many) -> Iterator[Any]:
    records = one_batch(many.cluster.now_ms)
    for _ in range(many.n):
        yield many.produce([(BIG, 0)], records)


@about(ApiKey.PRODUCE, "by many producers")
def _produce_idempotent(many: Many) -> Iterator[Any]:
    for producer_id in range(many.n):
        yield many.produce([(BIG, 0)], one_batch(many.cluster.now_ms, producer_id))


@about(ApiKey.PRODUCE, "of transactions")
def _produce_transactional(many: Many) -> Iterator[Any]:
    many.open_all()
    for name in many.ids:
        records = one_batch(many.cluster.now_ms, many.producers[name], transactional=True)
        yield many.produce([(BIG, 0)], records, name)


def _fetch(many: Many, max_wait_ms: int, isolation_level: int) -> Any:
    return fetch.FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1 << 30,
        max_bytes=1 << 30,
        isolation_level=isolation_level,
        session_epoch=0,
        topics=[
            fetch.FetchTopic(
                many.cluster.topics[name].id, [fetch.FetchPartition(0, partition_max_bytes=1 << 20)], name
            )
            for name in many.topics
        ],
    )


@about(ApiKey.FETCH)
def _fetch_at_once(many: Many) -> Iterator[Any]:
    many.send(many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms)))
    opened = _fetch(many, 0, 1)
    yield opened
    (session_id,) = many.cluster.brokers[1].sessions.sessions
    yield fetch.FetchRequest(min_bytes=1 << 30, session_id=session_id, session_epoch=1)


@about(ApiKey.FETCH, "that wait")
def _fetch_waiting(many: Many) -> Iterator[Any]:
    yield _fetch(many, 500, 0)
    yield many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms))


@about(ApiKey.LIST_OFFSETS)
def _list_offsets(many: Many) -> Iterator[Any]:
    many.send(many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms)))
    for timestamp in (-1, -3, 0):
        partition = list_offsets.ListOffsetsPartition(0, timestamp=timestamp)
        topics = [list_offsets.ListOffsetsTopic(name, [partition]) for name in many.topics]
        yield list_offsets.ListOffsetsRequest(-1, 1, topics)


@about(ApiKey.METADATA)
def _metadata(many: Many) -> Iterator[Any]:
    yield metadata.MetadataRequest(None)
    yield metadata.MetadataRequest([metadata.MetadataRequestTopic(name=name) for name in many.topics])


@about(ApiKey.METADATA, "that creates topics")
def _metadata_creating(many: Many) -> Iterator[Any]:
    names = [f"new.topic_{i}" for i in range(many.n)]
    yield metadata.MetadataRequest([metadata.MetadataRequestTopic(name=name) for name in names])


@about(ApiKey.OFFSET_COMMIT)
def _offset_commit(many: Many) -> Iterator[Any]:
    yield many.commit(BIG, [(BIG, i) for i in range(many.n)])


@about(ApiKey.OFFSET_COMMIT, "to many groups")
def _offset_commits(many: Many) -> Iterator[Any]:
    for group in many.groups:
        yield many.commit(group, [(BIG, 0)])


@about(ApiKey.OFFSET_FETCH)
def _offset_fetch(many: Many) -> Iterator[Any]:
    many.commit_all()
    asked = [offset_fetch.OffsetFetchRequestGroup(group, topics=None) for group in [*many.groups, BIG]]
    yield offset_fetch.OffsetFetchRequest(groups=asked, require_stable=True)


@about(ApiKey.OFFSET_FETCH, "beside transactions")
def _offset_fetch_unstable(many: Many) -> Iterator[Any]:
    many.commit_all()
    many.init_all()
    for name in many.ids:
        many.send(_in_transaction(many, name, BIG, 1))
    partitions = list(range(many.n))
    topic = offset_fetch.OffsetFetchRequestTopics(many.cluster.topics[BIG].id, partitions, BIG)
    asked = [offset_fetch.OffsetFetchRequestGroup(BIG, topics=[topic])]
    yield offset_fetch.OffsetFetchRequest(groups=asked, require_stable=True)


@about(ApiKey.FIND_COORDINATOR)
def _find_coordinator(many: Many) -> Iterator[Any]:
    for key_type, keys in enumerate((many.groups, many.ids)):
        yield find_coordinator.FindCoordinatorRequest(key_type, keys)


@about(ApiKey.JOIN_GROUP)
def _join_group(many: Many) -> Iterator[Any]:
    """All join, the group rebalances, and all join again."""
    for _ in range(many.n):
        member_id = many.send(many.join()).member_id
        many.members.append(member_id)
        yield many.join(member_id)
    for member_id in many.members:
        yield many.join(member_id)


@about(ApiKey.JOIN_GROUP, "of static members")
def _join_static(many: Many) -> Iterator[Any]:
    for index in range(many.n):
        yield many.join(instance_id=f"instance-{index}")


@about(ApiKey.HEARTBEAT)
def _heartbeat(many: Many) -> Iterator[Any]:
    many.join_all()
    for member_id in many.members:
        yield heartbeat.HeartbeatRequest(BIG, many.generation, member_id)


@about(ApiKey.LEAVE_GROUP)
def _leave_group(many: Many) -> Iterator[Any]:
    many.join_all()
    yield leave_group.LeaveGroupRequest(BIG, [leave_group.MemberIdentity(each) for each in many.members])


@about(ApiKey.SYNC_GROUP)
def _sync_group(many: Many) -> Iterator[Any]:
    many.join_all()
    leader = many.cluster.brokers[1].groups.groups[BIG].leader
    assignments = [sync_group.SyncGroupRequestAssignment(each, b"a") for each in many.members]
    for member_id in many.members:
        yield sync_group.SyncGroupRequest(
            BIG, many.generation, member_id, assignments=assignments if member_id == leader else []
        )


@about(ApiKey.DESCRIBE_GROUPS)
def _describe_groups(many: Many) -> Iterator[Any]:
    many.commit_all()
    many.join_all()
    yield describe_groups.DescribeGroupsRequest([*many.groups, BIG])


@about(ApiKey.LIST_GROUPS)
def _list_groups(many: Many) -> Iterator[Any]:
    many.commit_all()
    yield list_groups.ListGroupsRequest(["Empty", "Stable"])


@about(ApiKey.API_VERSIONS)
def _api_versions(many: Many) -> Iterator[Any]:
    yield api_versions.ApiVersionsRequest("name", "1")


@about(ApiKey.CREATE_TOPICS)
def _create_topics(many: Many) -> Iterator[Any]:
    configs = [create_topics.CreatableTopicConfig("retention.ms", "1000")]
    yield create_topics.CreateTopicsRequest(
        [create_topics.CreatableTopic(f"new_topic.{i}", 1, 3, configs=configs) for i in range(many.n)]
    )


@about(ApiKey.CREATE_TOPICS, "with many partitions")
def _create_partitioned(many: Many) -> Iterator[Any]:
    yield create_topics.CreateTopicsRequest([create_topics.CreatableTopic("new", many.n, 3)])
    assigned = [create_topics.CreatableReplicaAssignment(i, [1, 2]) for i in range(many.n)]
    topic = create_topics.CreatableTopic("assigned", -1, -1, assigned)
    yield create_topics.CreateTopicsRequest([topic])


@about(ApiKey.DELETE_TOPICS)
def _delete_topics(many: Many) -> Iterator[Any]:
    many.commit_all()
    for name in many.topics:
        many.send(many.commit(BIG, [(name, 0)]))
    asked = [delete_topics.DeleteTopicState(name) for name in many.topics]
    yield delete_topics.DeleteTopicsRequest(asked, TIMEOUT_MS)


@about(ApiKey.DELETE_RECORDS)
def _delete_records(many: Many) -> Iterator[Any]:
    many.send(many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms)))
    partitions = [delete_records.DeleteRecordsPartition(0, 1)]
    topics = [delete_records.DeleteRecordsTopic(name, partitions) for name in many.topics]
    yield delete_records.DeleteRecordsRequest(topics, TIMEOUT_MS)


@about(ApiKey.INIT_PRODUCER_ID)
def _init_producer_id(many: Many) -> Iterator[Any]:
    for name in many.ids:
        yield init_producer_id.InitProducerIdRequest(name, TIMEOUT_MS)


@about(ApiKey.OFFSET_FOR_LEADER_EPOCH)
def _offset_for_leader_epoch(many: Many) -> Iterator[Any]:
    partitions = [offset_for_leader_epoch.OffsetForLeaderPartition(0, -1, 0)]
    topics = [offset_for_leader_epoch.OffsetForLeaderTopic(name, partitions) for name in many.topics]
    yield offset_for_leader_epoch.OffsetForLeaderEpochRequest(-1, topics)


@about(ApiKey.ADD_PARTITIONS_TO_TXN)
def _add_partitions(many: Many) -> Iterator[Any]:
    many.init_all()
    yield many.add(BIG, [(name, 0) for name in many.topics])
    for name in many.ids:
        yield many.add(name, [(BIG, 0)])


def _in_transaction(many: Many, name: str, group: str, count: int) -> Any:
    offsets = [txn_offset_commit.TxnOffsetCommitRequestPartition(i, 1) for i in range(count)]
    return txn_offset_commit.TxnOffsetCommitRequest(
        name,
        group,
        many.producers[name],
        0,
        topics=[txn_offset_commit.TxnOffsetCommitRequestTopic(BIG, offsets)],
    )


@about(ApiKey.ADD_OFFSETS_TO_TXN)
def _add_offsets(many: Many) -> Iterator[Any]:
    many.init_all()
    for name, group in zip(many.ids, many.groups, strict=True):
        yield add_offsets_to_txn.AddOffsetsToTxnRequest(name, many.producers[name], 0, group)


@about(ApiKey.TXN_OFFSET_COMMIT)
def _txn_offset_commit(many: Many) -> Iterator[Any]:
    many.init_all()
    yield _in_transaction(many, BIG, BIG, many.n)
    for name, group in zip(many.ids, many.groups, strict=True):
        yield _in_transaction(many, name, group, 1)


@about(ApiKey.END_TXN)
def _end_txn(many: Many) -> Iterator[Any]:
    many.open_all()
    for name, group in zip(many.ids, many.groups, strict=True):
        many.send(_in_transaction(many, name, group, 1))
    for index, name in enumerate([*many.ids, BIG]):
        yield end_txn.EndTxnRequest(name, many.producers[name], 0, bool(index % 2))


@about(ApiKey.WRITE_TXN_MARKERS)
def _write_txn_markers(many: Many) -> Iterator[Any]:
    topics = [write_txn_markers.WritableTxnMarkerTopic(BIG, [0])]
    markers = [write_txn_markers.WritableTxnMarker(i, 0, False, topics) for i in range(many.n)]
    yield write_txn_markers.WriteTxnMarkersRequest(markers)


@about(ApiKey.DESCRIBE_CONFIGS)
def _describe_configs(many: Many) -> Iterator[Any]:
    for kind, names in ((2, many.topics), (4, ["1"] * many.n), (32, many.groups), (16, many.groups)):
        asked = [describe_configs.DescribeConfigsResource(kind, name, None) for name in names]
        yield describe_configs.DescribeConfigsRequest(asked, True, True)


@about(ApiKey.ALTER_CONFIGS)
def _alter_configs(many: Many) -> Iterator[Any]:
    change = [alter_configs.AlterableConfig("retention.ms", "1000")]
    asked = [alter_configs.AlterConfigsResource(2, name, change) for name in many.topics]
    yield alter_configs.AlterConfigsRequest(asked)


@about(ApiKey.INCREMENTAL_ALTER_CONFIGS)
def _incremental_alter_configs(many: Many) -> Iterator[Any]:
    change = [incremental_alter_configs.AlterableConfig("retention.ms", 0, "1000")]
    asked = [incremental_alter_configs.AlterConfigsResource(2, name, change) for name in many.topics]
    yield incremental_alter_configs.IncrementalAlterConfigsRequest(asked)


@about(ApiKey.CREATE_PARTITIONS)
def _create_partitions(many: Many) -> Iterator[Any]:
    asked = [create_partitions.CreatePartitionsTopic(name, 2, None) for name in many.topics]
    yield create_partitions.CreatePartitionsRequest(asked, TIMEOUT_MS)


@about(ApiKey.DELETE_GROUPS)
def _delete_groups(many: Many) -> Iterator[Any]:
    many.commit_all()
    yield delete_groups.DeleteGroupsRequest(many.groups)


@about(ApiKey.ELECT_LEADERS)
def _elect_leaders(many: Many) -> Iterator[Any]:
    topics = [elect_leaders.TopicPartitions(BIG, list(range(many.n)))]
    yield elect_leaders.ElectLeadersRequest(0, topics)


@about(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
def _alter_partition_reassignments(many: Many) -> Iterator[Any]:
    asked = [alter_partition_reassignments.ReassignablePartition(i, [1, 2]) for i in range(many.n)]
    topics = [alter_partition_reassignments.ReassignableTopic(BIG, asked)]
    yield alter_partition_reassignments.AlterPartitionReassignmentsRequest(topics=topics)


@about(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def _list_partition_reassignments(many: Many) -> Iterator[Any]:
    yield list_partition_reassignments.ListPartitionReassignmentsRequest(topics=None)


@about(ApiKey.OFFSET_DELETE)
def _offset_delete(many: Many) -> Iterator[Any]:
    many.commit_all()
    partitions = [offset_delete.OffsetDeleteRequestPartition(i) for i in range(many.n)]
    yield offset_delete.OffsetDeleteRequest(BIG, [offset_delete.OffsetDeleteRequestTopic(BIG, partitions)])


@about(ApiKey.DESCRIBE_CLUSTER)
def _describe_cluster(many: Many) -> Iterator[Any]:
    yield describe_cluster.DescribeClusterRequest()


@about(ApiKey.DESCRIBE_PRODUCERS)
def _describe_producers(many: Many) -> Iterator[Any]:
    many.open_all()
    topics = [describe_producers.TopicRequest(name, [0]) for name in many.topics]
    yield describe_producers.DescribeProducersRequest(topics)


@about(ApiKey.DESCRIBE_TRANSACTIONS)
def _describe_transactions(many: Many) -> Iterator[Any]:
    many.open_all()
    yield describe_transactions.DescribeTransactionsRequest([*many.ids, BIG])


@about(ApiKey.LIST_TRANSACTIONS)
def _list_transactions(many: Many) -> Iterator[Any]:
    many.open_all()
    yield list_transactions.ListTransactionsRequest()


@about(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
def _describe_topic_partitions(many: Many) -> Iterator[Any]:
    topics = [describe_topic_partitions.TopicRequest(name) for name in [*many.topics, BIG]]
    yield describe_topic_partitions.DescribeTopicPartitionsRequest(topics)


@about(ApiKey.SASL_HANDSHAKE)
def _sasl_handshake(many: Many) -> Iterator[Any]:
    yield sasl_handshake.SaslHandshakeRequest("PLAIN")


@about(ApiKey.SASL_AUTHENTICATE)
def _sasl_authenticate(many: Many) -> Iterator[Any]:
    yield sasl_authenticate.SaslAuthenticateRequest(b"")
