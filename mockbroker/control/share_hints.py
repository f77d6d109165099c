"""Why members of share groups get nothing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..cluster.sharing import shares_of
from ..coordinators.share.settings import reads_committed
from ..share_partitions.states import RecordState

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..cluster.led_share import LedShare


def share_groups(cluster: "Cluster") -> Iterator[str]:
    """Of share partitions from which a member waits for records."""
    for _, shares in shares_of(cluster.brokers.values()):
        for led in shares.waited_for():
            yield from _of(led)


def _of(led: "LedShare") -> Iterator[str]:
    share = led.active()
    if share is None:
        return
    where, group = f"{led.partition.topic.name}-{led.partition.index}", led.key.group
    if led.began_at == share.start_offset and not share.batches:
        yield (
            f"the share group {group!r} began at the end of {where}, offset {led.began_at}: what is there "
            "before is not delivered (share.auto.offset.reset=latest)"
        )
    held = [
        (last - first + 1, each)
        for first, last, each in share.parts()
        if each.state is RecordState.ACQUIRED and each.locked_until is not None
    ]
    if held:
        ends_ms = min(each.locked_until or 0 for _, each in held)
        left_s = max(0, ends_ms - led.environment.now_ms) / 1000
        count = sum(number for number, _ in held)
        records = f"{count} records of {where} are" if count != 1 else f"1 record of {where} is"
        by = _members(sorted({each.member for _, each in held}))
        most, full = share.limits.records, ""
        if share.in_flight >= most and share.end_offset + 1 < led.partition.log.high_watermark:
            full = f", and no more are delivered (group.share.partition.max.record.locks={most})"
        yield (
            f"{records} acquired in the share group {group!r} by {by}{full}: "
            f"the first lock ends in {left_s:g} s, or by expire_locks()"
        )
    log = led.partition.log
    if log.last_stable_offset < log.high_watermark and reads_committed(led.environment.configs, group):
        yield (
            f"the share group {group!r} reads committed records only, and gets none of {where} from offset "
            f"{log.last_stable_offset} on, because a transaction is open"
        )


def _members(ids: list[str]) -> str:
    return f"member {ids[0]}" if len(ids) == 1 else f"{len(ids)} members"
