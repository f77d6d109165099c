"""When logs are cut and compacted (`LogManager.cleanupLogs`, `LogCleaner`).

A broker looks at its logs every `log.retention.check.interval.ms`, and at compacted ones every
`log.cleaner.backoff.ms`. Here a partition has a timer for the first of these times at which something can
have changed, and none when nothing can.
"""

from typing import TYPE_CHECKING, Final

from ..environment import Environment, Timer
from ..log import compaction, retention
from ..policies.retention.retention_limit import retention_limit
from ..policies.retention.time_retention import time_retention

if TYPE_CHECKING:
    from ..configs import TopicSettings
    from .partition import Partition

_NEVER_MS: Final = 1 << 60
"""Limits of Kafka's largest long mean no limit; no timer waits for that."""


class Cleanup:
    """Retention and compaction of all partitions of a cluster."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._started_ms = environment.now_ms
        self._timers: dict[Partition, Timer] = {}

    def appending(self, partition: "Partition", base_offset: int) -> None:
        """A batch is about to be appended, the first at this time."""
        now_ms, segments = self._environment.now_ms, partition.segments
        settings = partition.topic.settings
        segments.by_file_time = partition.policies[time_retention] == "file-time"
        if segments.lags:
            segments.catch_up(partition.log, settings)
        segments.note(base_offset, now_ms)
        if partition not in self._timers or settings.compacted or settings.retention_bytes >= 0:
            self._plan(partition, now_ms + 1)

    def reconfigured(self, partition: "Partition") -> None:
        """The topic's configuration changed, or that of the brokers."""
        self.forget(partition)
        if partition.log.end_offset:
            self._plan(partition, self._environment.now_ms + 1)

    def forget(self, partition: "Partition") -> None:
        """The partition needs no looking at any more."""
        timer = self._timers.pop(partition, None)
        if timer is not None:
            timer.cancel()

    def _plan(self, partition: "Partition", at_ms: int) -> None:
        """Looks at the partition at the first regular time that is not before `at_ms`."""
        tick_ms = self._tick(partition.topic.settings, at_ms)
        planned = self._timers.get(partition)
        if tick_ms is None or (planned is not None and planned.deadline_ms <= tick_ms):
            return
        if planned is not None:
            planned.cancel()
        self._timers[partition] = self._environment.timers.at(tick_ms, lambda: self._look(partition))

    def _tick(self, settings: "TopicSettings", at_ms: int) -> int | None:
        """The first regular time from `at_ms` on, None when logs of such a topic stay as they are."""
        configs = self._environment.configs
        first_ms = self._started_ms
        if settings.compacted:
            if not configs.broker_bool("log.cleaner.enable"):
                return None
            interval_ms = max(1, configs.broker_int("log.cleaner.backoff.ms"))
        else:
            if settings.retention_ms < 0 and settings.retention_bytes < 0:
                return None
            first_ms += configs.broker_int("log.initial.task.delay.ms")
            interval_ms = configs.broker_int("log.retention.check.interval.ms")
        return first_ms + max(0, -((first_ms - at_ms) // interval_ms)) * interval_ms

    def _look(self, partition: "Partition") -> None:
        del self._timers[partition]
        now_ms = self._environment.now_ms
        segments, log, settings = partition.segments, partition.log, partition.topic.settings
        segments.catch_up(log, settings)
        segments.noted_ms = None
        if settings.compacted:
            compaction.compact(segments, log, partition.logs.values(), settings, now_ms)
        beyond = partition.policies[retention_limit] == "log-end-offset"
        limit = log.end_offset if beyond else log.high_watermark
        start = retention.delete_old(segments, log, settings, now_ms, limit)
        if start > log.start_offset:
            partition.advance_log_start(start)
        due = [retention.expires_at(segments, settings)]
        if settings.compacted:
            due.append(compaction.dirtier_at(segments, log, settings, now_ms))
        if log.high_watermark < log.end_offset:
            # What held the rest back may be gone at the next look.
            due.append(now_ms)
        times = [each for each in due if each is not None and each < _NEVER_MS]
        if times:
            self._plan(partition, max(min(times), now_ms + 1))
