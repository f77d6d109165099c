"""Answers to DescribeQuorum: of offsets, epochs and times only what is the same in every cluster."""

from collections.abc import Callable
from typing import Any

_NEAR_MS = 60_000


def shown(answer: dict[str, Any], rank: Callable[[int], int], now_ms: float) -> dict[str, Any]:
    """`rank` is that of a broker by its node id."""
    topics = [
        {**topic, "partitions": [_partition(each, rank, now_ms) for each in topic["partitions"]]}
        for topic in answer["topics"]
    ]
    found = {**answer, "topics": topics}
    if "nodes" in answer:
        found["nodes"] = [
            {
                **node,
                "node_id": f"<broker:{rank(node['node_id'])}>",
                "listeners": [{**each, "port": each["port"] > 0} for each in node["listeners"]],
            }
            for node in answer["nodes"]
        ]
    return found


def _partition(partition: dict[str, Any], rank: Callable[[int], int], now_ms: float) -> dict[str, Any]:
    found = {**partition, **{name: _some(partition[name]) for name in ("leader_epoch", "high_watermark")}}
    for name in ("current_voters", "observers"):
        found[name] = [_replica(each, rank, now_ms) for each in partition[name]]
    return found


def _some(number: int) -> int | str:
    return "<some>" if number > 0 else number


def _replica(replica: dict[str, Any], rank: Callable[[int], int], now_ms: float) -> dict[str, Any]:
    found = {
        **replica,
        "replica_id": f"<broker:{rank(replica['replica_id'])}>",
        "log_end_offset": _some(replica["log_end_offset"]),
    }
    if "replica_directory_id" in replica:
        found["replica_directory_id"] = "none" if replica["replica_directory_id"] is None else "<some>"
    for name in ("last_fetch_timestamp", "last_caught_up_timestamp"):
        if name in replica and abs(replica[name] - now_ms) < _NEAR_MS:
            found[name] = "<now>"
    return found
