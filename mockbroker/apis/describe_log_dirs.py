"""DescribeLogDirs (35): the sizes of the replicas on a broker (KIP-113, KIP-827, KIP-1066)."""

from typing import Final

from ..cluster.call import Call
from ..cluster.topic import Topic
from ..policies.topics.undescribed_topics import undescribed_topics
from ..protocol.api_keys import ApiKey
from ..protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from .registry import handles

VOLUME_BYTES: Final = 1 << 40
"""The size of the volume on which the log directory is."""
Asked = set[tuple[str, int]] | None
"""Topics and partitions; None for all."""


@handles(ApiKey.DESCRIBE_LOG_DIRS)
def describe_log_dirs(call: Call, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    """All logs are in the first of `log.dirs`; unknown partitions are left out (`ReplicaManager.scala`)."""
    asked: Asked = None
    if request.topics is not None:
        asked = {(topic.topic, index) for topic in request.topics for index in topic.partitions}
    topics = [_topic(call, topic, asked) for topic in call.cluster.topics.values() if _is_here(call, topic)]
    first, *others = dict.fromkeys(_folders(call, "log.dirs") or _folders(call, "log.dir"))
    cordoned = _folders(call, "cordoned.log.dirs")
    used_bytes = sum(replica.log.size for replica in call.broker.replicas)
    results = [_result(first, used_bytes, cordoned)]
    whole = call.policies[undescribed_topics] == "without-partitions"
    results[0].topics = [topic for topic in topics if whole or topic.partitions]
    return DescribeLogDirsResponse(results=results + [_result(name, 0, cordoned) for name in others])


def _folders(call: Call, key: str) -> list[str]:
    text = call.environment.configs.broker_text(key, call.broker.id) or ""
    return [each.strip() for each in text.split(",") if each.strip()]


def _result(name: str, used_bytes: int, cordoned: list[str]) -> DescribeLogDirsResult:
    return DescribeLogDirsResult(
        log_dir=name,
        total_bytes=VOLUME_BYTES,
        usable_bytes=VOLUME_BYTES - used_bytes,
        is_cordoned=name in cordoned or "*" in cordoned,
    )


def _is_here(call: Call, topic: Topic) -> bool:
    return any(partition.at(call.broker.id) is not None for partition in topic.partitions)


def _topic(call: Call, topic: Topic, asked: Asked) -> DescribeLogDirsTopic:
    found = DescribeLogDirsTopic(topic.name)
    for partition in topic.partitions:
        replica = partition.at(call.broker.id)
        if replica is not None and (asked is None or (topic.name, partition.index) in asked):
            log = replica.log
            lag = max(log.high_watermark - log.end_offset, 0)
            found.partitions.append(DescribeLogDirsPartition(partition.index, log.size, lag))
    return found
