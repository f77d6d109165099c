"""What clients do in an hour."""

from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import TRANSACTIONAL, Record, batch

from .stage import LONG_MS, InMemory, Stage


def produce(stage: Stage) -> None:
    """A new producer each hour, and deleted records."""
    producer_id = stage.ask(1, "init_producer_id", 4, {"transactional_id": None})["producer_id"]
    for index in range(3):
        stage.write("orders", index, stage.batch(producer_id, 0, 0))
        stage.write("table", 0, batch([Record(b"v", f"k{index}".encode(), stage.cluster.now_ms)]))
    offset = stage.cluster.topics["orders"].partitions[0].log.high_watermark // 2
    partitions = [{"partition_index": 0, "offset": offset}]
    stage.ask(
        stage.leader("orders"),
        "delete_records",
        2,
        {"topics": [{"name": "orders", "partitions": partitions}], "timeout": 1000},
    )


def transactions(stage: Stage) -> None:
    """Committed, aborted, left open until they time out, and never begun; ids change every other hour."""
    for number in range(3):
        name = f"tx-{stage.hour // 2}-{number}"
        coordinator = stage.cluster.transaction_partition(name).leader
        given = stage.ask(
            coordinator,
            "init_producer_id",
            4,
            {"transactional_id": name, "transaction_timeout": 60_000},
        )
        if given["error_code"] != "NONE":
            continue
        producer = {"producer_id": given["producer_id"], "producer_epoch": given["producer_epoch"]}
        whole = {"v3_and_below_" + key: value for key, value in producer.items()}
        stage.write(
            "payments",
            1,
            stage.batch(given["producer_id"], given["producer_epoch"], 0, TRANSACTIONAL),
            name,
        )
        topics = [{"name": "payments", "partitions": [0]}]
        stage.ask(
            coordinator,
            "add_partitions_to_txn",
            3,
            {"v3_and_below_transactional_id": name, "v3_and_below_topics": topics, **whole},
        )
        stage.write(
            "payments",
            0,
            stage.batch(given["producer_id"], given["producer_epoch"], 0, TRANSACTIONAL),
            name,
        )
        group = f"billing-{stage.hour % 4}"
        stage.ask(
            coordinator,
            "add_offsets_to_txn",
            3,
            {"transactional_id": name, "group_id": group, **producer},
        )
        partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
        stage.ask(
            stage.cluster.offsets_partition(group).leader,
            "txn_offset_commit",
            3,
            {
                "transactional_id": name,
                "group_id": group,
                "generation_id": -1,
                "topics": [{"name": "payments", "partitions": [partition]}],
                **producer,
            },
        )
        if number < 2:
            stage.ask(
                coordinator,
                "end_txn",
                3,
                {"transactional_id": name, "committed": bool(number), **producer},
            )


def groups(stage: Stage) -> None:
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
        first = stage.ask(coordinator, "join_group", 5, join)["member_id"]
        joined = stage.ask(coordinator, "join_group", 5, {**join, "member_id": first})
        sync = {"group_id": group, "generation_id": joined["generation_id"], "member_id": first}
        assignments = [{"member_id": first, "assignment": b"a"}]
        stage.ask(coordinator, "sync_group", 3, {**sync, "assignments": assignments})
        offset = {"partition_index": 0, "committed_offset": stage.hour, "committed_metadata": ""}
        commit = {"group_id": group, "generation_id_or_member_epoch": sync["generation_id"]}
        stage.ask(
            coordinator,
            "offset_commit",
            7,
            {**commit, "member_id": first, "topics": [{"name": "orders", "partitions": [offset]}]},
        )
        # One waits for its rebalance, and its client goes away.
        InMemory(stage, coordinator).send("join_group", 3, {**join, "member_id": ""})
        stage.pass_ms(1_000)
        if stage.hour % 2:
            leaving = {"group_id": group, "members": [{"member_id": first}]}
            stage.ask(coordinator, "leave_group", 3, leaving)


def topics(stage: Stage) -> None:
    """Made, written to, read, committed to, and deleted; some while a follower lags."""
    name = f"topic.{stage.hour}"
    stage.ask(1, "metadata", 8, {"topics": [{"name": name}], "allow_auto_topic_creation": True})
    partition = stage.cluster.topics[name].partitions[0]
    stage.write(name, 0, stage.batch())
    follower = next(iter(partition.followers))
    partition.set_follower(follower, FollowerState.PAUSED)
    if stage.hour % 3:
        InMemory(stage, partition.leader).send(
            "produce",
            9,
            {
                "acks": -1,
                "timeout": LONG_MS,
                "topic_data": [{"name": name, "partition_data": [{"index": 0, "records": stage.batch()}]}],
            },
        )
    stage.cluster.policies.set("undefined-epoch", "log-end-offset", topic=name)
    stage.write(name, 0, stage.batch(), acks=1)
    stage.cluster.policies.reset("undefined-epoch", topic=name)
    group = f"group-{stage.hour}"
    commit = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    stage.ask(
        stage.cluster.offsets_partition(group).leader,
        "offset_commit",
        7,
        {
            "group_id": group,
            "generation_id_or_member_epoch": -1,
            "topics": [{"name": name, "partitions": [commit]}],
        },
    )
    stage.fetch(partition.leader, [name], max_wait=LONG_MS, min_bytes=1 << 30)
    stage.ask(1, "delete_topics", 5, {"topic_names": [name], "timeout": 1000})


def sessions(stage: Stage) -> None:
    """More sessions than there is room for."""
    for broker in stage.cluster.brokers:
        for _ in range(4):
            stage.fetch(broker, ["orders", "payments", f"missing-{stage.hour}"])


def connections(stage: Stage) -> None:
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
