"""Starts a cluster from the offsets topic of another: `--offsets`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import UUID

from ..cluster.cluster import Cluster
from ..cluster.topic import INTERNAL
from ..configs import definitions
from ..controller import topic_names
from ..controller.topic_creation import MAX_PARTITIONS_PER_REQUEST, assign_replicas
from ..errors import OptionError
from ..protocol.releases import Release

if TYPE_CHECKING:
    from ..dumps.offsets_topic import Committed, OffsetsTopic
    from ..log.stored import StoredLog

_NEWEST_TIMESTAMP: Final = "log.message.timestamp.after.max.ms"
_TIMESTAMPS: Final = (_NEWEST_TIMESTAMP, "log.message.timestamp.difference.max.ms")
_FOREVER_MS: Final = (1 << 63) - 1


def found(given: "str | Path | Sequence[str | Path] | OffsetsTopic") -> "OffsetsTopic | None":
    """What files show; None if none are given. OptionError."""
    if not given:
        return None
    # Most clusters start empty.
    from ..dumps.offsets_files import read
    from ..dumps.offsets_topic import OffsetsTopic

    if isinstance(given, OffsetsTopic):
        return given
    return read([given] if isinstance(given, str | Path) else given)


def config_for(topic: "OffsetsTopic", config: Mapping[str, str]) -> Mapping[str, str]:
    """The broker configuration, with the offsets topic's number of partitions. OptionError."""
    from ..dumps.offsets_topic import COUNT

    given = config.get(COUNT)
    if given is not None and not given.isdecimal():
        return config
    count = topic.partition_count(None if given is None else int(given))
    return {**config, COUNT: str(count)}


def accepting_later(config: Mapping[str, str], release: Release) -> Mapping[str, str]:
    """The broker configuration of a cluster whose time is before that of its clients: unless it says
    otherwise, their timestamps are accepted."""
    known = _NEWEST_TIMESTAMP in definitions.keys("broker", release)
    if not known or any(name in config for name in _TIMESTAMPS):
        return config
    return {**config, _NEWEST_TIMESTAMP: str(_FOREVER_MS)}


def restore(cluster: Cluster, offsets: "OffsetsTopic", topics: Mapping[str, int], replicas: int) -> None:
    """Creates the topics that the offsets are of, with the partitions that `topics` says or that are needed,
    then the offsets topic. OptionError."""
    from ..dumps.offsets_topic import OFFSETS
    from ..log.stored import StoredLog, StoredSegment

    committed: dict[str, dict[int, StoredLog]] = {}
    for (name, index), each in offsets.committed.items():
        committed.setdefault(name, {})[index] = _log_of(each)
    for name, needed in offsets.sizes.items():
        if name in INTERNAL or topic_names.fault(name) is not None:
            continue
        partitions = topics.get(name, needed)
        if name not in topics and partitions > MAX_PARTITIONS_PER_REQUEST:
            raise OptionError(
                f"an offset of {name}-{partitions - 1} is committed: if the topic has so many partitions, "
                f"give --topic {name}:{partitions}"
            )
        stored = {index: log for index, log in committed.get(name, {}).items() if index < partitions}
        topic_id = offsets.topic_ids.get(name)
        assignment = assign_replicas(cluster.controller, partitions, replicas)
        cluster.restore_topic(name, assignment, {}, stored, UUID(bytes=topic_id) if topic_id else None)
    assignment, overrides = cluster.internal_topics.new_offsets_topic()
    logs = {
        partition: StoredLog([StoredSegment(each.base_offset, each.batches) for each in segments])
        for partition, segments in offsets.logs(len(assignment)).items()
    }
    cluster.restore_topic(OFFSETS, assignment, overrides, logs)


def _log_of(committed: "Committed") -> "StoredLog":
    """A log in which every committed offset is valid. It holds no record: a consumer that begins anywhere in
    it goes on at its end, as when all records were compacted away."""
    from ..dumps.rebuilding import Bounds, rebuilt
    from ..log.stored import StoredLog, StoredSegment

    least, largest = committed.least, committed.largest
    epochs = committed.epochs
    batches = []
    if largest > least:
        latest = epochs[-1][0] if epochs else 0
        batches.append(rebuilt(Bounds(largest - 1, largest - 1, latest), []))
    return StoredLog([StoredSegment(least, batches)], epochs)
