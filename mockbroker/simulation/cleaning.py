"""A log cleaner's work on one replica."""

from ..cluster.topic import TopicPartition
from ..log import compaction
from .batches import is_tombstone
from .compacted import newest, records_of
from .scene import Scene


def clean(scene: Scene, partition: TopicPartition, broker: int, active: int) -> None:
    """Compacts a broker's replica up to its last stable offset, except for its last `active` batches."""
    log = partition.logs[broker]
    if len(log.bases) - log.first <= active:
        return
    end = min(log.bases[-max(1, active)], log.batch_base(log.last_stable_offset))
    held, before = records_of(log), newest(log)
    compaction.clean(log, end, scene.cluster.now_ms)
    left, after = records_of(log), newest(log)
    name = f"{partition.topic.name}-{partition.index}"
    if scene.recording:
        gone = ", ".join(str(offset) for offset in sorted(held.keys() - left.keys()))
        scene.tell(f"broker {broker}", f"cleans {name} up to {end}: {gone or 'nothing'} goes")
    place = partition.topic.name, partition.index
    cleaned = scene.ledger.cleaned.setdefault(place, {})
    for offset in held.keys() - left.keys():
        cleaned.setdefault(held[offset][0], set()).add(offset)
    expired = scene.ledger.expired.setdefault(place, {})
    for key, (offset, number) in before.items():
        if after.get(key) == (offset, number):
            continue
        if is_tombstone(number):
            expired[key] = max(offset, expired.get(key, -1))
        else:
            scene.violated(
                "newest-record-cleaned",
                f"{name} broker {broker}",
                f"record {number} at offset {offset} is the newest of its key, and was removed",
            )
