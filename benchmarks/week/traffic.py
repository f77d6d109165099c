"""What clients do in an hour."""

from typing import Any

from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import TRANSACTIONAL, Record, batch

from .stage import LONG_MS, InMemory, WeekCluster


def produce(stage: WeekCluster) -> None:
    """A new producer each hour, and deleted records."""
    producer_id = stage.ask(1, "init_producer_id", 4, transactional_id=None)["producer_id"]
    for index in range(3):
        stage.write("orders", index, stage.batch(producer_id=producer_id, producer_epoch=0, sequence=0))
        stage.write("table", 0, batch([Record(b"v", f"k{index}".encode(), stage.cluster.now_ms)]))
    offset = stage.cluster.topics["orders"].partitions[0].log.high_watermark // 2
    topics = [{"name": "orders", "partitions": [{"partition_index": 0, "offset": offset}]}]
    stage.ask(stage.leader("orders"), "delete_records", 2, topics=topics, timeout=1000)


def transactions(stage: WeekCluster) -> None:
    """Committed, aborted, left open until they time out, and never begun; ids change every other hour."""
    for number in range(3):
        name = f"tx-{stage.hour // 2}-{number}"
        coordinator = stage.cluster.transaction_partition(name).leader
        own = {"transactional_id": name}
        given = stage.ask(coordinator, "init_producer_id", 4, transaction_timeout=60_000, **own)
        if given["error_code"] != "NONE":
            continue
        producer = {"producer_id": given["producer_id"], "producer_epoch": given["producer_epoch"]}
        data = stage.batch(sequence=0, attributes=TRANSACTIONAL, **producer)
        stage.write("payments", 1, data, name)
        topics = [{"name": "payments", "partitions": [0]}]
        added = {f"v3_and_below_{key}": value for key, value in {**own, **producer, "topics": topics}.items()}
        stage.ask(coordinator, "add_partitions_to_txn", 3, **added)
        stage.write("payments", 0, data, name)
        group = f"billing-{stage.hour % 4}"
        stage.ask(coordinator, "add_offsets_to_txn", 3, group_id=group, **own, **producer)
        member = {"group_id": group, "generation_id": -1}
        leader = stage.cluster.offsets_partition(group).leader
        stage.ask(
            leader, "txn_offset_commit", 3, topics=_committed("payments", 1), **member, **own, **producer
        )
        if number < 2:
            stage.ask(coordinator, "end_txn", 3, committed=bool(number), **own, **producer)


def groups(stage: WeekCluster) -> None:
    """A group of its own each hour, and one that rebalances with other protocols each time."""
    for group in (f"group-{stage.hour}", "steady"):
        coordinator = stage.cluster.offsets_partition(group).leader
        join = {
            "group_id": group,
            "session_timeout": 10_000,
            "rebalance_timeout": 20_000,
            "member_id": "",
            "protocol_type": "consumer",
            "protocols": [{"name": f"range-{stage.hour}", "metadata": b""}],
        }
        first = stage.ask(coordinator, "join_group", 5, **join)["member_id"]
        member = {"group_id": group, "member_id": first}
        generation = stage.ask(coordinator, "join_group", 5, **join | member)["generation_id"]
        assignments = [{"member_id": first, "assignment": b"a"}]
        stage.ask(coordinator, "sync_group", 3, generation_id=generation, assignments=assignments, **member)
        commit = {"generation_id_or_member_epoch": generation, "topics": _committed("orders", stage.hour)}
        stage.ask(coordinator, "offset_commit", 7, **commit, **member)
        # One waits for its rebalance, and its client goes away.
        InMemory(stage, coordinator).send("join_group", 3, {**join, "member_id": ""})
        stage.pass_ms(1_000)
        if stage.hour % 2:
            stage.ask(coordinator, "leave_group", 3, group_id=group, members=[{"member_id": first}])


def topics(stage: WeekCluster) -> None:
    """Made, written to, read, committed to, and deleted; some while a follower lags."""
    name = f"topic.{stage.hour}"
    stage.ask(1, "metadata", 8, topics=[{"name": name}], allow_auto_topic_creation=True)
    partition = stage.cluster.topics[name].partitions[0]
    stage.write(name, 0, stage.batch())
    follower = next(iter(partition.followers))
    partition.set_follower(follower, FollowerState.PAUSED)
    if stage.hour % 3:
        topic_data = [{"name": name, "partition_data": [{"index": 0, "records": stage.batch()}]}]
        fields = {"acks": -1, "timeout": LONG_MS, "topic_data": topic_data}
        InMemory(stage, partition.leader).send("produce", 9, fields)
    stage.cluster.policies.set("undefined-epoch", "log-end-offset", topic=name)
    stage.write(name, 0, stage.batch(), acks=1)
    stage.cluster.policies.reset("undefined-epoch", topic=name)
    group = f"group-{stage.hour}"
    commit = {"group_id": group, "generation_id_or_member_epoch": -1, "topics": _committed(name, 1)}
    stage.ask(stage.cluster.offsets_partition(group).leader, "offset_commit", 7, **commit)
    stage.fetch(partition.leader, [name], max_wait=LONG_MS, min_bytes=1 << 30)
    stage.ask(1, "delete_topics", 5, topic_names=[name], timeout=1000)


def _committed(topic: str, offset: int) -> list[dict[str, Any]]:
    """Topics of a commit of one partition."""
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    return [{"name": topic, "partitions": [partition]}]


def sessions(stage: WeekCluster) -> None:
    """More sessions than there is room for."""
    for broker in stage.cluster.brokers:
        for _ in range(4):
            stage.fetch(broker, ["orders", "payments", f"missing-{stage.hour}"])


def connections(stage: WeekCluster) -> None:
    """With other client ids, in many versions; halves of requests, and what is no request."""
    for client_id in (None, "", f"client-{stage.hour}"):
        client = InMemory(stage, 1, client_id)
        for api, versions in (("metadata", (1, 5, 8)), ("api_versions", (0, 2))):
            for version in versions:
                client.call(api, version, {"topics": [{"name": "orders"}]} if api == "metadata" else {})
                stage.requests += 1
        client.connection.receive(memoryview(b"\0\0\1\0half"))
        InMemory(stage, 2, client_id).connection.receive(memoryview(b"\0\0\0\4\x7f\x7f\0\0"))
        stage.fetch(3, ["table"], max_wait=60_000, min_bytes=1 << 30)
