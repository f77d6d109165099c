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

    def appending(self, partition: "Partition") -> None:
        """A batch is about to be appended, the first at this time."""
        partition.appended_ms = self._environment.now_ms
        by_file_time = partition.policies[time_retention] == "file-time"
        for log in partition.logs.values():
            log.segments.go_by_file_time(by_file_time)
        settings = partition.topic.settings
        if settings.compacted or settings.retention_bytes >= 0 or partition not in self._timers:
            self._plan_for_content(partition)

    def log_start_moved(self, partition: "Partition") -> None:
        """Segments may lie below it now, which are deleted whatever the topic's configuration."""
        if any(retention.is_below_start(log) for log in partition.logs.values()):
            self._plan(partition, self._environment.now_ms + 1)

    def reconfigured(self, partition: "Partition") -> None:
        """The topic's configuration changed, or that of the brokers."""
        self.forget(partition)
        self.returned(partition)

    def returned(self, partition: "Partition") -> None:
        """A replica is back on a broker that was down, where nobody cleaned it."""
        if any(log.end_offset for log in partition.logs.values()):
            self._plan_for_content(partition)
        self.log_start_moved(partition)

    def forget(self, partition: "Partition") -> None:
        """The partition needs no looking at any more."""
        timer = self._timers.pop(partition, None)
        if timer is not None:
            timer.cancel()

    def _plan_for_content(self, partition: "Partition") -> None:
        """Looks at the next regular time, unless logs of such a topic stay as they are."""
        settings = partition.topic.settings
        if settings.compacted or settings.retention_ms >= 0 or settings.retention_bytes >= 0:
            self._plan(partition, self._environment.now_ms + 1)

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
        """The first regular time from `at_ms` on, None when no cleaner is there for such a topic."""
        configs = self._environment.configs
        first_ms = self._started_ms
        if settings.compacted:
            if not configs.broker_bool("log.cleaner.enable"):
                return None
            interval_ms = max(1, configs.broker_int("log.cleaner.backoff.ms"))
        else:
            first_ms += configs.broker_int("log.initial.task.delay.ms")
            interval_ms = configs.broker_int("log.retention.check.interval.ms")
        return first_ms + max(0, -((first_ms - at_ms) // interval_ms)) * interval_ms

    def _look(self, partition: "Partition") -> None:
        """Every replica on a running broker is cleaned by itself, the leader's first."""
        del self._timers[partition]
        now_ms, brokers = self._environment.now_ms, partition.topic.cluster.brokers
        partition.appended_ms = None
        partition.tell_followers()
        passes: list[compaction.Pass] = []
        due: list[int | None] = []
        for broker in sorted(partition.logs, key=lambda each: each != partition.leader):
            if brokers[broker].online:
                due += self._clean(partition, broker, passes)
        times = [each for each in due if each is not None and each < _NEVER_MS]
        if times:
            self._plan(partition, max(min(times), now_ms + 1))

    def _clean(self, partition: "Partition", broker: int, passes: list[compaction.Pass]) -> list[int | None]:
        """Compacts a replica and deletes from it; when there may be more to do."""
        now_ms, log, settings = self._environment.now_ms, partition.logs[broker], partition.topic.settings
        if settings.compacted:
            compaction.compact(log, now_ms, passes)
        policies = self._environment.policies.at(partition.topic.name, broker)
        beyond = policies[retention_limit] == "log-end-offset"
        limit = log.end_offset if beyond else log.high_watermark
        count = retention.old_segments(log, now_ms, limit)
        if count:
            start = log.segment_end(count - 1)
            if start > log.start_offset:
                partition.seen_by(broker).delete_upto(broker, start)
            log.delete_segments(count, now_ms)
        due = [retention.expires_at(log)]
        if settings.compacted:
            due.append(compaction.dirtier_at(log, now_ms))
        if retention.old_segments(log, now_ms, log.end_offset):
            # What held the rest back may be gone at the next look.
            due.append(now_ms)
        return due
