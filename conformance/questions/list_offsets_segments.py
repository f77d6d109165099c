"""ListOffsets in logs of several segments: the first whose largest timestamp is late enough is searched."""

from ...rig.batches import GZIP, OLD, Record, batch
from ..registry import Scene, Steps, about
from .fetch_segments import EACH_ITS_OWN, MINUTE_MS
from .list_offsets import listed

question = about("list_offsets")

FEW = (1, 7, 11)
NO_TIMESTAMP = -1


def times(*deltas: int, codec: int = 0) -> bytes:
    """A batch of records with these timestamps after OLD."""
    return batch([Record(timestamp=OLD + delta) for delta in deltas], codec=codec)


@question(at=FEW)
def by_timestamp_in_segments(s: Scene) -> Steps:
    topic = s.topic(configs=EACH_ITS_OWN)
    for deltas in ((50, 10), (90, 30), (20,), (90, 95, 40), (5,)):
        s.produce(topic, times(*deltas))
    for delta in (-10, 0, 11, 50, 51, 90, 91, 95, 96):
        yield f"{delta:+}", listed(s, topic, OLD + delta)
    yield "max timestamp", listed(s, topic, -3)


@question(at=FEW)
def deleted_records_of_a_segment(s: Scene) -> Steps:
    """The segment that is searched is the first whose largest timestamp is late enough; deleted records
    count."""
    for label, configs in (("one segment", {}), ("two segments", EACH_ITS_OWN)):
        topic = s.topic(label.replace(" ", "-"), configs=configs)
        s.produce(topic, times(100, 10, 20))
        s.produce(topic, times(60, 70))
        for start in (1, 3):
            s.delete_records(topic, start)
            for delta in (5, 15, 50, 65, 80):
                yield f"{label}, log start {start}, {delta:+}", listed(s, topic, OLD + delta)
            yield f"{label}, log start {start}, max timestamp", listed(s, topic, -3)


@question(at=FEW)
def deleted_batches_of_a_segment(s: Scene) -> Steps:
    """A segment still has the timestamps of batches that were deleted."""
    topic = s.topic(configs={"segment.ms": str(MINUTE_MS)})
    for deltas in ((100,), (20,), (30,), (2 * MINUTE_MS,), (40,)):
        s.produce(topic, times(*deltas))
    for start in range(1, 5):
        s.delete_records(topic, start)
        for delta in (0, 25, 50, 100, 101, 2 * MINUTE_MS):
            yield f"log start {start}, {delta:+}", listed(s, topic, OLD + delta)
        yield f"log start {start}, max timestamp", listed(s, topic, -3)


@question(at=FEW)
def the_same_largest_timestamp_in_segments(s: Scene) -> Steps:
    """The first segment that has the largest timestamp counts."""
    topic = s.topic(configs=EACH_ITS_OWN)
    for deltas in ((10,), (30, 50, 50), (50,), (20, 50)):
        s.produce(topic, times(*deltas))
    yield "max timestamp", listed(s, topic, -3)
    for start in (2, 3, 4):
        s.delete_records(topic, start)
        yield f"log start {start}", listed(s, topic, -3)
    packed = s.topic("packed", configs=EACH_ITS_OWN)
    for deltas in ((10,), (30, 50, 20), (40,)):
        s.produce(packed, times(*deltas, codec=GZIP))
    yield "compressed", listed(s, packed, -3)


@question(at=FEW)
def segments_without_timestamps(s: Scene) -> Steps:
    """Such segments are as old as their files, so nothing is found for any earlier time."""
    topic = s.topic(configs=EACH_ITS_OWN)
    without = batch([Record(timestamp=NO_TIMESTAMP)])
    yield "empty, max timestamp", listed(s, topic, -3)
    s.produce(topic, without)
    yield "only one without, max timestamp", listed(s, topic, -3)
    yield "only one without, +0", listed(s, topic, OLD)
    s.produce(topic, times(10))
    s.produce(topic, without)
    for delta in (0, 10, 11):
        yield f"{delta:+}", listed(s, topic, OLD + delta)
    yield "max timestamp", listed(s, topic, -3)
    yield "2^63-1", listed(s, topic, 2**63 - 1)
    s.delete_records(topic, 1)
    yield "log start 1, +0", listed(s, topic, OLD)


@question(at=FEW)
def only_deleted_records(s: Scene) -> Steps:
    """Nothing is found in an empty log, whatever its segment holds."""
    topic = s.topic()
    s.produce(topic, times(10, 20))
    s.produce(topic, times(5))
    s.delete_records(topic, 3)
    for delta in (0, 10, 20, 21):
        yield f"{delta:+}", listed(s, topic, OLD + delta)
    yield "max timestamp", listed(s, topic, -3)
