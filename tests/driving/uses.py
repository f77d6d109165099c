"""What clients do before something can be done to it: of groups, producers, transactions and sessions."""

from typing import Any

from mockbroker import MockCluster
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import Client


def call(cluster: MockCluster, broker: int, api: str, version: int, **fields: Any) -> dict[str, Any]:
    with a_client(cluster, broker) as client:
        return client.call(api, version, fields)


def a_client(cluster: MockCluster, broker: int) -> Client:
    host, port = cluster.bootstrap_servers.split(",")[broker - 1].split(":")
    return Client(host, int(port), client_id="mock")


def join(cluster: MockCluster, topic: str) -> None:
    coordinator = call(cluster, 1, "find_coordinator", 2, key="g", key_type=0)["node_id"]
    timeouts = {"session_timeout": 10_000, "rebalance_timeout": 60_000}
    member = {"group_id": "g", "protocol_type": "consumer", **timeouts}
    member["protocols"] = [{"name": "range", "metadata": b""}]
    assert call(cluster, coordinator, "join_group", 3, **member)["error_code"] == "NONE"


def write(cluster: MockCluster, topic: str) -> None:
    records = batch([Record(timestamp=0)], producer_id=7, producer_epoch=0, sequence=0)
    data = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    call(cluster, 1, "produce", 8, acks=1, topic_data=data)


def initialize(cluster: MockCluster, topic: str) -> None:
    coordinator = call(cluster, 1, "find_coordinator", 2, key="x", key_type=1)["node_id"]
    call(cluster, coordinator, "init_producer_id", 1, transactional_id="x", transaction_timeout=1_000)


def fetch(cluster: MockCluster, topic: str) -> None:
    topics = [{"topic": topic, "partitions": [{"partition": 0, "fetch_offset": 0}]}]
    call(cluster, 3, "fetch", 11, max_wait=0, session_epoch=0, topics=topics)


def share(cluster: MockCluster, topic: str) -> None:
    """A member of the share group that has the name of the topic reads at its leader."""
    write(cluster, topic)
    member: dict[str, Any] = {"group_id": topic, "member_id": "memberAAAAAAAAAAAAAAAA"}
    coordinator = call(cluster, 1, "find_coordinator", 2, key=topic, key_type=0)["node_id"]
    reset = {"name": "share.auto.offset.reset", "config_operation": 0, "value": "earliest"}
    resource = {"resource_type": 32, "resource_name": topic, "configs": [reset]}
    call(cluster, 1, "incremental_alter_configs", 1, resources=[resource])
    epoch = 0
    for _ in range(3):
        fields = {**member, "member_epoch": epoch, "subscribed_topic_names": [topic]}
        epoch = call(cluster, coordinator, "share_group_heartbeat", 1, **fields)["member_epoch"]
        cluster.clock.advance("2s")
    topic_id = cluster.run(lambda core: core.topics[topic].id)
    fields = {"max_wait": 0, "min_bytes": 0, "max_bytes": 1_000_000, "max_records": 10, "batch_size": 10}
    fields["topics"] = [{"topic_id": topic_id, "partitions": [{"partition_index": 0}]}]
    HELD.append(a_client(cluster, 3 if topic.startswith("drop") else 1))
    for _ in range(2):
        HELD[-1].call("share_fetch", 1, {**member, **fields, "share_session_epoch": 0})
        cluster.clock.advance("1s")


HELD: list[Client] = []
"""Connections without which sessions end."""
USED = {
    "evict-member": join,
    "expire-producer": write,
    "expire-transactional-id": initialize,
    "drop-fetch-sessions": fetch,
    "drop-share-sessions": share,
    "expire-locks": share,
}
"""What clients have to do before."""
