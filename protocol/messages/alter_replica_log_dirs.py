"""AlterReplicaLogDirs: api key 34, v0 to v2."""

from dataclasses import dataclass, field

from .common import NamePartitions, PartitionCode, Throttled
from .places import places


@dataclass(slots=True)
class AlterReplicaLogDir:
    path: str = ""
    topics: list[NamePartitions] = field(default_factory=list)


@dataclass(slots=True)
class AlterReplicaLogDirsRequest:
    dirs: list[AlterReplicaLogDir] = field(default_factory=list)


@dataclass(slots=True)
class AlterReplicaLogDirTopicResult:
    topic_name: str = ""
    partitions: list[PartitionCode] = places("partition", "partitions")


@dataclass(slots=True)
class AlterReplicaLogDirsResponse(Throttled):
    results: list[AlterReplicaLogDirTopicResult] = places("topic", "dirs.topics")
