"""AlterReplicaLogDirs (34): moves replicas between the log directories of a broker (KIP-113)."""

from collections.abc import Iterator
from typing import Final

from ..cluster.call import Call
from ..cluster.log_dirs import LogDirs
from ..outcome import Steps
from ..portions import FEW, MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ..protocol.messages.common import PartitionCode
from .registry import handles

_LONGEST: Final = 255
"""The length of a folder's name; that of a move is `TOPIC-PARTITION.ID-future`, with an id of 32 digits."""
_FUTURE: Final = len("-.-future") + 32


@handles(
    ApiKey.ALTER_REPLICA_LOG_DIRS,
    changes=True,
    source="KafkaApis.handleAlterReplicaLogDirsRequest, ReplicaManager.alterReplicaLogDirs",
    partition_retry="UNKNOWN_TOPIC_OR_PARTITION, REPLICA_NOT_AVAILABLE, KAFKA_STORAGE_ERROR",
    partition="""LOG_DIR_NOT_FOUND, INVALID_TOPIC_EXCEPTION, INVALID_REPLICA_ASSIGNMENT,
        CLUSTER_AUTHORIZATION_FAILED""",
)
def alter_replica_log_dirs(call: Call, request: AlterReplicaLogDirsRequest) -> Steps:
    """A replica is told to have moved, but stays in the first directory: no client sees where its log is. Of
    several directories for a partition, the last one is valid (`ReplicaManager.alterReplicaLogDirs`)."""
    wanted: dict[tuple[str, int], str] = {}
    for some in portions(_wanted(request), MANY):
        wanted.update(some)
        yield
    dirs = LogDirs.of(call.environment.configs, call.broker.id)
    results: dict[str, AlterReplicaLogDirTopicResult] = {}
    for portion in portions(wanted.items(), FEW):
        for (topic, index), path in portion:
            result = results.setdefault(topic, AlterReplicaLogDirTopicResult(topic))
            code = _moved(call, dirs, topic, index, path)
            result.partitions.append(PartitionCode(index, code))
        yield
    return AlterReplicaLogDirsResponse(results=list(results.values()))


def _wanted(request: AlterReplicaLogDirsRequest) -> Iterator[tuple[tuple[str, int], str]]:
    """Each partition with its directory."""
    for folder in request.dirs:
        for topic in folder.topics:
            for index in topic.partitions:
                yield (topic.name, index), folder.path


def _moved(call: Call, dirs: LogDirs, topic: str, index: int, path: str) -> ErrorCode:
    if len(f"{topic}{index}") + _FUTURE > _LONGEST:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if path not in dirs.all:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if path in dirs.cordoned:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT
    found = call.cluster.topics.get(topic)
    if found is not None and call.broker.replicas.find(found, index) is not None:
        return ErrorCode.NONE
    known = call.broker.leader_id(topic, index)
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if known is None else ErrorCode.REPLICA_NOT_AVAILABLE
