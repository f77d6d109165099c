"""Clusters that are ready to be asked, with their coordinators where they are wanted."""

import time
from typing import Final

from ...addresses import parted
from ...rig.client import Client
from ...rig.scene import Target
from .coordinating import COORDINATORS

_LIMIT_S: Final = 30.0


def connected(bootstrap: str) -> Target:
    """A cluster whose coordinators are ready; where there are several brokers, the first coordinates."""
    if "," in bootstrap:
        _create_internal_topics(bootstrap)
    target = Target.connect(bootstrap, _LIMIT_S)
    for _, host, port in target.nodes:
        await_producer_ids(host, port)
    _, host, port = target.nodes[0]
    await_producer_ids(host, port, "probe")
    return target


def _create_internal_topics(bootstrap: str) -> None:
    """As brokers create them, but led by the first broker: Kafka places them at random."""
    host, port = parted(bootstrap.split(",")[0])
    with Client(host, port, timeout=_LIMIT_S) as client:
        asked = {"topics": [], "allow_auto_topic_creation": False}
        nodes = sorted(each["node_id"] for each in client.call("metadata", 4, asked)["brokers"])
        topics = [
            {
                "name": name,
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": 0, "broker_ids": nodes}],
                "configs": [{"name": "cleanup.policy", "value": "compact"}],
            }
            for name in COORDINATORS
        ]
        client.call("create_topics", 5, {"topics": topics, "timeout": 10_000, "validate_only": False})


def await_producer_ids(host: str, port: int, transactional_id: str | None = None) -> None:
    """Each broker gets the first producer ids from the controller once it is asked for one, and answers
    COORDINATOR_LOAD_IN_PROGRESS meanwhile (`RPCProducerIdManager.java`), as while it loads transactions."""
    with Client(host, port, timeout=_LIMIT_S) as client:
        limit = time.monotonic() + _LIMIT_S
        while time.monotonic() < limit:
            if transactional_id is not None:
                client.call("find_coordinator", 1, {"key": transactional_id, "key_type": 1})
            asked = {"transactional_id": transactional_id, "transaction_timeout": 60_000}
            if client.call("init_producer_id", 1, asked)["error_code"] == "NONE":
                return
            time.sleep(0.1)
