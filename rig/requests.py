"""Requests that set a cluster up, as fields for `rig.client`, which leaves out what a version lacks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

TOPIC: Final = 2
GROUP: Final = 32
"""Types of resources that are configured."""
_TIMEOUT_MS: Final = 20_000


def dotted(configs: Mapping[str, str | None]) -> dict[str, str | None]:
    """Configuration by Kafka's names, from keywords with underscores for dots."""
    return {name.replace("_", "."): value for name, value in configs.items()}


def create_topics(*topics: Mapping[str, Any]) -> dict[str, Any]:
    """Each of them by `new_topic`."""
    return {"topics": list(topics), "timeout": _TIMEOUT_MS, "validate_only": False}


def new_topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    replicas: Sequence[Sequence[int]] | None = None,
    configs: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """A topic with so many partitions and replicas, or with `replicas` by partition, as broker ids."""
    placed = [
        {"partition_index": index, "broker_ids": list(each)} for index, each in enumerate(replicas or ())
    ]
    return {
        "name": name,
        "num_partitions": -1 if placed else partitions,
        "replication_factor": -1 if placed else factor,
        "assignments": placed,
        "configs": [{"name": key, "value": value} for key, value in (configs or {}).items()],
    }


def delete_topics(*names: str) -> dict[str, Any]:
    topics = [{"name": name, "topic_id": None} for name in names]
    return {"topics": topics, "topic_names": list(names), "timeout": _TIMEOUT_MS}


def delete_records(name: str, offset: int, partition: int = 0) -> dict[str, Any]:
    """Those below `offset`."""
    target = {"name": name, "partitions": [{"partition_index": partition, "offset": offset}]}
    return {"topics": [target], "timeout": _TIMEOUT_MS}


def configure(kind: int, name: str, configs: Mapping[str, str | None]) -> dict[str, Any]:
    """IncrementalAlterConfigs of one resource: sets values, and deletes what is None."""
    changes = [
        {"name": key, "config_operation": int(value is None), "value": value}
        for key, value in configs.items()
    ]
    resource = {"resource_type": kind, "resource_name": name, "configs": changes}
    return {"resources": [resource], "validate_only": False}


def metadata(*names: str) -> dict[str, Any]:
    """Of these topics, none of which is created."""
    return {"topics": [{"name": name} for name in names], "allow_auto_topic_creation": False}
