"""What brokers are asked aside, between the requests of a sequence."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ...rig.client import Client
from .expecting import Topic

LATEST, EARLIEST = -1, -2
CONSUMER, DEBUGGER = -1, -2
"""Who asks ListOffsets: the first is told of the high watermark, the second of the log's end."""
_ANY_EPOCH: Final = -1


def of_each(
    topics: Iterable[Topic], asked: Callable[[Any], Any], name: str = "name", key: str = "partitions"
) -> list[Topic]:
    """What a request says of each partition of topics, which are as Metadata gives them."""
    return [{name: topic["name"], key: [asked(each) for each in topic["partitions"]]} for topic in topics]


def metadata(client: Client, names: list[str]) -> dict[str, Any]:
    asked = {"topics": [{"name": each} for each in names], "allow_auto_topic_creation": False}
    return client.call("metadata", 12, asked)


def topics(client: Client, names: Iterable[str]) -> list[Topic]:
    """What Metadata says of these, in order; without any it would be of all."""
    listed = sorted(names)
    return metadata(client, listed)["topics"] if listed else []


def ends(
    client: Client, topics: Iterable[Topic], timestamp: int = LATEST, *, replica: int = CONSUMER
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """What ListOffsets says of each partition."""
    epoch_and_time = {"current_leader_epoch": _ANY_EPOCH, "timestamp": timestamp}
    asked = of_each(topics, lambda each: {"partition_index": each["partition_index"], **epoch_and_time})
    fields = {"replica_id": replica, "isolation_level": 0, "topics": asked}
    for topic in client.call("list_offsets", 6, fields)["topics"]:
        for part in topic["partitions"]:
            yield topic["name"], part["partition_index"], part


def fetched(client: Client, topic: str, index: int, offset: int) -> dict[str, Any]:
    """What a broker answers to a Fetch, as a partition's leader or follower; with hardly any records."""
    part = {"partition": index, "fetch_offset": offset, "partition_max_bytes": 0, "log_start_offset": -1}
    part |= {"current_leader_epoch": _ANY_EPOCH, "last_fetched_epoch": _ANY_EPOCH}
    fields = {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1, "session_epoch": -1}
    topics = [{"topic": topic, "partitions": [part]}]
    found: list[dict[str, Any]] = client.call("fetch", 12, {**fields, "topics": topics})["responses"]
    return dict(found[0]["partitions"][0])
