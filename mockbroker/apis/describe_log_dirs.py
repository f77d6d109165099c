"""DescribeLogDirs (35): the sizes of the replicas on a broker (KIP-113, KIP-827, KIP-1066)."""

from collections.abc import Iterator
from typing import Final

from ..cluster.call import Call
from ..cluster.log_dirs import LogDirs
from ..outcome import Steps
from ..policies.topics.undescribed_topics import undescribed_topics
from ..portions import FEW, MANY, portions
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


@handles(
    ApiKey.DESCRIBE_LOG_DIRS,
    changes=False,
    source="""KafkaApis.handleDescribeLogDirsRequest, ReplicaManager.describeLogDirs; `topic` are the log
        directories""",
    top="CLUSTER_AUTHORIZATION_FAILED v3+",
    topic_retry="KAFKA_STORAGE_ERROR",
)
def describe_log_dirs(call: Call, request: DescribeLogDirsRequest) -> Steps:
    """All logs are in the first of `log.dirs`; unknown partitions are left out (`ReplicaManager.scala`)."""
    asked: dict[str, set[int]] = {}
    for some in portions(_named(request), MANY):
        for name, index in some:
            asked.setdefault(name, set()).add(index)
        yield
    everything, whole = request.topics is None, call.policies[undescribed_topics] == "without-partitions"
    topics = list(call.cluster.topics.values())
    if not everything and not whole:
        topics = [topic for topic in topics if topic.name in asked]
    here: dict[str, DescribeLogDirsTopic] = {}
    for portion in portions((each for topic in topics for each in topic.partitions), FEW):
        for partition in portion:
            name, index = partition.topic.name, partition.index
            replica = partition.at(call.broker.id)
            if replica is None:
                continue
            found = here.setdefault(name, DescribeLogDirsTopic(name))
            if everything or index in asked.get(name, ()):
                log = replica.log
                lag = max(log.high_watermark - log.end_offset, 0)
                found.partitions.append(DescribeLogDirsPartition(index, log.size, lag))
        call.count(len(portion))
        yield
    used_bytes = 0
    for replicas in portions(call.broker.replicas):
        used_bytes += sum(each.log.size for each in replicas)
        yield
    dirs = LogDirs.of(call.environment.configs, call.broker.id)
    first, *others = dirs.all
    results = [_result(first, used_bytes, dirs)]
    results[0].topics = [topic for topic in here.values() if whole or topic.partitions]
    return DescribeLogDirsResponse(results=results + [_result(name, 0, dirs) for name in others])


def _named(request: DescribeLogDirsRequest) -> Iterator[tuple[str, int]]:
    for topic in request.topics or ():
        for index in topic.partitions:
            yield topic.topic, index


def _result(name: str, used_bytes: int, dirs: LogDirs) -> DescribeLogDirsResult:
    return DescribeLogDirsResult(
        log_dir=name,
        total_bytes=VOLUME_BYTES,
        usable_bytes=VOLUME_BYTES - used_bytes,
        is_cordoned=name in dirs.cordoned,
    )
