"""DescribeLogDirs (35): the sizes of the replicas on a broker (KIP-113, KIP-827, KIP-1066)."""

from typing import Final

from ..cluster.call import Call
from ..cluster.log_dirs import LogDirs
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
    dirs = LogDirs.of(call.environment.configs, call.broker.id)
    first, *others = dirs.all
    used_bytes = sum(replica.log.size for replica in call.broker.replicas)
    results = [_result(first, used_bytes, dirs)]
    whole = call.policies[undescribed_topics] == "without-partitions"
    results[0].topics = [topic for topic in topics if whole or topic.partitions]
    return DescribeLogDirsResponse(results=results + [_result(name, 0, dirs) for name in others])


def _result(name: str, used_bytes: int, dirs: LogDirs) -> DescribeLogDirsResult:
    return DescribeLogDirsResult(
        log_dir=name,
        total_bytes=VOLUME_BYTES,
        usable_bytes=VOLUME_BYTES - used_bytes,
        is_cordoned=name in dirs.cordoned,
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
