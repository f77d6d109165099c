"""When segments are deleted and logs compacted (`LogManager.cleanupLogs`, `LogCleaner`).

A broker checks its logs every `log.retention.check.interval.ms`, and compacted logs every
`log.cleaner.backoff.ms`. Here timers are set only for those of these times at which something may have
changed.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from ..configs import TopicSettings
from ..environment import Environment, Nobody, Timer
from ..log import retention
from ..outcome import PARKED, Asked, Steps
from ..policies.retention.compaction import compaction as cleaner
from ..policies.retention.retention_limit import retention_limit
from ..policies.retention.time_retention import time_retention
from .peers import Cleaned, HostedTopic, LeaderEndPoint

if TYPE_CHECKING:
    from ..log import compaction

_NEVER_MS: Final = 1 << 60
"""Limits as high as Kafka's largest long mean no limit; no timer waits for that."""


class _Tick(NamedTuple):
    """A time at which replicas are checked."""

    timer: Timer
    partitions: dict[Cleaned, None]


class _Check(Nobody):
    """A check of a replica, which is done in parts. `again` is whether the next one came due meanwhile."""

    again = False


class Cleanup:
    """Retention and compaction of all replicas of a cluster, each on its own. `in_parts` does what takes long
    so that others are served in between (`Work.begin`)."""

    def __init__(self, environment: Environment, in_parts: Callable[[Asked, Steps], object]) -> None:
        self._environment = environment
        self._in_parts = in_parts
        self._started_ms = environment.now_ms
        self._planned: dict[Cleaned, int] = {}
        """When each is checked next."""
        self._under_way: dict[Cleaned, _Check] = {}
        self._due: dict[int, _Tick] = {}

    def appending(self, replicas: Iterable[Cleaned]) -> None:
        """A batch is about to be appended to replicas of a partition, the first one at this time."""
        now_ms, ticks = self._environment.now_ms, {}
        for partition in replicas:
            partition.appended_ms = now_ms
            segments = partition.log.segments
            by_file_time = partition.policies[time_retention] == "file-time"
            if by_file_time is not segments.by_file_time:
                segments.go_by_file_time(by_file_time)
            settings = segments.settings
            compacted = settings.compacted
            in_time = settings.retention_ms >= 0 and partition not in self._planned
            if in_time or compacted or settings.retention_bytes >= 0:
                if compacted not in ticks:
                    ticks[compacted] = self._tick(settings, now_ms + 1)
                self._plan_at(partition, ticks[compacted])

    def log_start_moved(self, partition: Cleaned) -> None:
        """Segments may be below it now; these are deleted whatever the topic's configuration."""
        if retention.is_below_start(partition.log):
            self._plan(partition, self._environment.now_ms + 1)

    def reconfigured(self, partition: Cleaned) -> None:
        """The configuration of the topic or of the brokers has changed."""
        self.forget(partition)
        self.returned(partition)

    def returned(self, partition: Cleaned) -> None:
        """The replica's broker is back; while it was down, nobody cleaned the replica."""
        if partition.log.end_offset:
            self._plan_for_content(partition)
        self.log_start_moved(partition)

    def forget(self, partition: Cleaned) -> None:
        """The partition no longer needs to be checked; a check that is under way ends."""
        self._under_way.pop(partition, None)
        self._unplan(partition)

    def _unplan(self, partition: Cleaned) -> None:
        tick_ms = self._planned.pop(partition, None)
        if tick_ms is None:
            return
        tick = self._due[tick_ms]
        del tick.partitions[partition]
        if not tick.partitions:
            tick.timer.cancel()
            del self._due[tick_ms]

    def _plan_for_content(self, partition: Cleaned) -> None:
        """Plans a check at the next regular time, unless logs of such a topic never change by themselves."""
        settings = partition.settings
        if settings.compacted or settings.retention_ms >= 0 or settings.retention_bytes >= 0:
            self._plan(partition, self._environment.now_ms + 1)

    def _plan(self, partition: Cleaned, at_ms: int) -> None:
        """Plans a check of the partition at the first regular time at or after `at_ms`."""
        self._plan_at(partition, self._tick(partition.settings, at_ms))

    def _plan_at(self, partition: Cleaned, tick_ms: int | None) -> None:
        planned_ms = self._planned.get(partition)
        if tick_ms is None or (planned_ms is not None and planned_ms <= tick_ms):
            return
        self._unplan(partition)
        self._planned[partition] = tick_ms
        tick = self._due.get(tick_ms)
        if tick is None:
            timer = self._environment.timers.at(tick_ms, lambda: self._look_at(tick_ms))
            tick = self._due[tick_ms] = _Tick(timer, {})
        tick.partitions[partition] = None

    def _tick(self, settings: TopicSettings, at_ms: int) -> int | None:
        """The first regular time from `at_ms` on, None if nothing cleans such a topic."""
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

    def _look_at(self, tick_ms: int) -> None:
        """Checks all replicas that are due: leaders first, because followers learn from them."""
        due = self._due.pop(tick_ms).partitions
        for partition in due:
            del self._planned[partition]
        passes: dict[tuple[HostedTopic, int], compaction.Passes] = {}
        leaders: set[Cleaned | LeaderEndPoint] = set()
        for partition in sorted(due, key=lambda each: not each.leads):
            partition.appended_ms = None
            source = partition.fetcher.source if partition.fetcher is not None else None
            leader = partition if source is None else source
            if leader not in leaders:
                leaders.add(leader)
                leader.appended_ms = None
                leader.tell_followers()
            under_way = self._under_way.get(partition)
            if under_way is not None:
                under_way.again = True
            elif not partition.deleted and partition.host.online:
                check = self._under_way[partition] = _Check(self._environment)
                shared = passes.setdefault((partition.topic, partition.index), [])
                self._in_parts(check, self._steps(partition, check, shared))

    def _steps(self, partition: Cleaned, check: _Check, passes: "compaction.Passes") -> Steps:
        """Compacts a replica, deletes segments, and plans the next check. Ends early if the broker goes
        down, or the partition is forgotten."""
        try:
            compacted = partition.settings.compacted and partition.policies[cleaner] == "runs"
            if compacted:
                from ..log import compaction

                for _ in compaction.compact(partition.log, self._environment.now_ms, passes):
                    yield
                    if self._under_way.get(partition) is not check or not partition.host.online:
                        return PARKED
            at_ms = self._delete(partition, compacted)
        finally:
            if self._under_way.get(partition) is check:
                del self._under_way[partition]
        if check.again:
            at_ms = 0
        if at_ms < _NEVER_MS:
            self._plan(partition, max(at_ms, self._environment.now_ms + 1))
        return PARKED

    def _delete(self, partition: Cleaned, compacted: bool) -> int:
        """Deletes segments; returns when there may be more to do, `_NEVER_MS` or later if never."""
        now_ms, log = self._environment.now_ms, partition.log
        limit = log.high_watermark
        if limit < log.end_offset and partition.policies[retention_limit] == "log-end-offset":
            limit = log.end_offset
        count = retention.old_segments(log, now_ms, limit)
        if count:
            start = log.segment_end(count - 1)
            if start > log.start_offset:
                partition.delete_upto(start)
            log.delete_segments(count, now_ms)
        if limit < log.end_offset and retention.old_segments(log, now_ms, log.end_offset):
            # What prevented the rest may be over at the next check.
            return now_ms
        expires_ms = retention.expires_at(log) or _NEVER_MS
        if not compacted:
            return expires_ms
        from ..log import compaction

        return min(expires_ms, compaction.dirtier_at(log, now_ms) or _NEVER_MS)
