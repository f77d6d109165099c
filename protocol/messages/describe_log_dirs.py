"""DescribeLogDirs: api key 35, v0 to v5."""

from dataclasses import dataclass

from .common import TopCode, TopicPartitions
from .places import places


@dataclass(slots=True)
class DescribeLogDirsRequest:
    """`topics` is None for all topics."""

    topics: list[TopicPartitions] | None = None


@dataclass(slots=True)
class DescribeLogDirsPartition:
    """Sizes in bytes."""

    partition_index: int = 0
    partition_size: int = 0
    offset_lag: int = 0
    is_future_key: bool = False


@dataclass(slots=True)
class DescribeLogDirsTopic:
    name: str = ""
    partitions: list[DescribeLogDirsPartition] = places("partition", "partitions")


@dataclass(slots=True)
class DescribeLogDirsResult:
    error_code: int = 0
    log_dir: str = ""
    topics: list[DescribeLogDirsTopic] = places("topic", "topics")
    total_bytes: int = -1
    usable_bytes: int = -1
    is_cordoned: bool = False


@dataclass(slots=True)
class DescribeLogDirsResponse(TopCode):
    results: list[DescribeLogDirsResult] = places("topic", "topics")
