"""Clients whose requests a function is called with."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mockbroker import ConflictError
from mockbroker.rig.client import Client
from mockbroker.server.running import RunningCluster

from ...driving import wire
from ...driving.clients import raw_client


def let_lead(cluster: RunningCluster, broker: int) -> None:
    with suppress(ConflictError):  # it does
        cluster.move_leader("orders", 0, to=broker)


@contextmanager
def client(cluster: RunningCluster, client_id: str | None = "test", broker: int = 1) -> Iterator[Client]:
    with raw_client(cluster, client_id, broker=broker) as found:
        yield found


def produce(asked: Client, acks: int = 1) -> str:
    """The error of partition orders-0; what is sent has no answer with acks=0."""
    data = {"index": 0, "records": wire.batch([b"x"])}
    fields = {"acks": acks, "timeout": 1000, "topic_data": [{"name": "orders", "partition_data": [data]}]}
    pending = asked.send("produce", 7, fields)
    if acks == 0:
        return "NONE"
    [topic] = asked.receive(pending)["responses"]
    [partition] = topic["partition_responses"]
    return str(partition["error_code"])


def heartbeat(asked: Client) -> str:
    fields = {"group_id": "billing", "generation_id": 1, "member_id": "m"}
    return str(asked.call("heartbeat", 1, fields)["error_code"])


def end(cluster: RunningCluster) -> int:
    """The log end offset of orders-0."""
    return cluster.replicas("orders", 0)[0].log_end_offset
