"""A topic's configuration in the form that the core uses (`LogConfig.java`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .values import ConfigError, Value, invalid

_FOREVER_MS: Final = 9223372036854775807
_UNLIMITED: Final = 2147483639
_MAGIC_1_IN_0: Final = 10
"""The release 0.10 brought it."""


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """A topic's effective configuration, parsed. Sizes in bytes, times in ms."""

    max_message_bytes: int = 1048588
    max_decompressed_message_bytes: int = _UNLIMITED
    max_decompressed_bytes: int = 33554432
    compacted: bool = False
    deletable: bool = True
    log_append_time: bool = False
    timestamp_before_max_ms: int = _FOREVER_MS
    timestamp_after_max_ms: int = 3600000
    min_insync_replicas: int = 1
    retention_ms: int = 604800000
    retention_bytes: int = -1
    segment_bytes: int = 1073741824
    segment_ms: int = 604800000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10485760
    index_interval_bytes: int = 4096
    delete_retention_ms: int = 86400000
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = _FOREVER_MS
    min_cleanable_dirty_ratio: float = 0.5
    compression_type: str = "producer"
    unclean_leader_election: bool = False
    preallocate: bool = False
    message_downconversion: bool = True
    magic: int = 2
    """That in which records are kept from now on."""

    @property
    def roll_ms(self) -> int:
        """How long until a segment rolls, so that a compacted topic can observe `max.compaction.lag.ms`."""
        if self.compacted and self.max_compaction_lag_ms > 0:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms


def settings(
    values: Mapping[str, Value], max_decompressed_bytes: int, *, formats: bool = False
) -> TopicSettings:
    """The settings for parsed `values`; what a release does not have keeps its default. `formats` is whether
    `message.format.version` counts."""
    get: Any = values.get
    policy = get("cleanup.policy")
    # Up to 3.5 there is one limit for both directions; from 3.6 to 3.9 it is used if the newer ones are not
    # set.
    both = get("message.timestamp.difference.max.ms", _FOREVER_MS)
    before = get("message.timestamp.before.max.ms", _FOREVER_MS)
    after = get("message.timestamp.after.max.ms", _FOREVER_MS)
    return TopicSettings(
        max_message_bytes=get("max.message.bytes"),
        max_decompressed_message_bytes=get("max.decompressed.message.bytes", _UNLIMITED),
        max_decompressed_bytes=max_decompressed_bytes,
        compacted="compact" in policy,
        deletable="delete" in policy,
        log_append_time=get("message.timestamp.type") == "LogAppendTime",
        timestamp_before_max_ms=both if before == _FOREVER_MS else before,
        timestamp_after_max_ms=both if after == _FOREVER_MS else after,
        min_insync_replicas=get("min.insync.replicas"),
        retention_ms=get("retention.ms"),
        retention_bytes=get("retention.bytes"),
        segment_bytes=get("segment.bytes"),
        segment_ms=get("segment.ms"),
        segment_jitter_ms=get("segment.jitter.ms"),
        segment_index_bytes=get("segment.index.bytes"),
        index_interval_bytes=get("index.interval.bytes"),
        delete_retention_ms=get("delete.retention.ms"),
        min_compaction_lag_ms=get("min.compaction.lag.ms"),
        max_compaction_lag_ms=get("max.compaction.lag.ms", _FOREVER_MS),
        min_cleanable_dirty_ratio=get("min.cleanable.dirty.ratio"),
        compression_type=get("compression.type"),
        unclean_leader_election=get("unclean.leader.election.enable"),
        preallocate=get("preallocate"),
        message_downconversion=get("message.downconversion.enable", True),
        magic=_magic(get("message.format.version")) if formats else 2,
    )


def _magic(release: str) -> int:
    """Of the messages that brokers of that release write."""
    numbers = release.split("-")[0].split(".")
    if numbers[0] != "0" or int(numbers[1]) > _MAGIC_1_IN_0:
        return 2
    return 1 if int(numbers[1]) == _MAGIC_1_IN_0 else 0


def check_together(values: Mapping[str, Value], *, tiered_storage: bool) -> None:
    """ConfigError for values that contradict each other (`LogConfig.validateTopicLogConfigValues`)."""
    get: Any = values.get
    least, most = get("min.compaction.lag.ms"), get("max.compaction.lag.ms", _FOREVER_MS)
    if least > most:
        raise ConfigError(
            f"conflict topic config setting min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
        )
    if get("remote.storage.enable"):
        if not tiered_storage:
            raise ConfigError(
                "Tiered Storage functionality is disabled in the broker. "
                "Topic cannot be configured with remote log storage."
            )
        if "compact" in get("cleanup.policy"):
            raise ConfigError("Remote log storage is unsupported for the compacted topics")
        _check_local(get("retention.bytes"), get("local.retention.bytes"), "bytes")
        _check_local(get("retention.ms"), get("local.retention.ms"), "ms")


def _check_local(total: int, local: int, unit: str) -> None:
    """Local retention may not exceed the whole retention; -2 means the whole, -1 no limit."""
    if total == -1 or local == -2:
        return
    if local == -1:
        raise invalid(
            f"local.retention.{unit}",
            local,
            f"Value must not be -1 as retention.{unit} value is set as {total}.",
        )
    if local > total:
        raise invalid(
            f"local.retention.{unit}",
            local,
            f"Value must not be more than retention.{unit} property value: {total}",
        )
