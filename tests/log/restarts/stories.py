"""What a broker knows of producers once it is back. Each batch has a record, at an offset of its own; all in
one minute are in one segment."""

from pathlib import Path
from typing import Final

from mockbroker.rig import batches
from mockbroker.rig.stories import Setting, Steps, Told, named

from .stage import KILLED, STOPPED, RestartStage

_BATCH_BYTES: Final = len(batches.batch([batches.Record(key=b"k")]))
KEPT: Final = {"cleanup.policy": "compact,delete"}
"""No segment is deleted: there is no cleaner."""


def three_segments(s: RestartStage, **configs: str) -> None:
    """Producer 7 at offsets 0 and 1, 8 at 2 and 3, 9 and 10 in the active segment, at 4 and 5."""
    s.create(**configs)
    for producer_id, minute in ((7, 0), (8, 5)):
        for sequence in (0, 1):
            assert s.write(producer_id, sequence, minute=minute)[0] == "NONE"
    s.write(9, 0, minute=10)
    s.write(10, 0, minute=10)


def started_again(s: RestartStage) -> Steps:
    s.again()
    yield "known", s.known()
    yield "offsets", s.offsets()


def known_before_and_after(s: RestartStage) -> Steps:
    yield "before", s.known()
    yield from started_again(s)


def gaps(s: RestartStage, *producers: int) -> Steps:
    for producer_id in producers:
        yield f"{producer_id}: gap", s.write(producer_id, 9, minute=10)


def abort(s: RestartStage, *producers: int) -> Steps:
    for producer_id in producers:
        yield f"{producer_id} aborts", s.end(producer_id, committed=False)
    yield "offsets then", s.offsets()


def duplicates(s: RestartStage) -> Steps:
    """How many batches are remembered."""
    s.create()
    for sequence in range(7):
        s.write(7, sequence, minute=0)
    for sequence in range(3):
        s.write(8, sequence, minute=0)
    yield from started_again(s)
    for sequence in (6, 5, 4, 3, 2, 1):
        yield f"7: {sequence}", s.write(7, sequence, minute=0)
    for sequence in (2, 1, 4, 3, 3, 2):
        yield f"8: {sequence}", s.write(8, sequence, minute=0)


def duplicates_in_segments(s: RestartStage) -> Steps:
    """The same, of batches in different segments."""
    s.create()
    for sequence, minute in enumerate((0, 0, 5, 5, 5)):
        s.write(7, sequence, minute=minute)
    for sequence in range(3):
        s.write(8, sequence, minute=0)
    s.write(9, 0, minute=10)
    yield from started_again(s)
    for sequence in (4, 3, 2, 1):
        yield f"7: {sequence}", s.write(7, sequence, minute=10)
    for sequence in (2, 1, 3):
        yield f"8: {sequence}", s.write(8, sequence, minute=10)


def nothing_deleted(s: RestartStage) -> Steps:
    three_segments(s)
    yield from known_before_and_after(s)


def first_segment_deleted(s: RestartStage) -> Steps:
    """DeleteRecords up to the base offset of the second."""
    three_segments(s)
    s.delete_below(2)
    yield from known_before_and_after(s)
    for producer_id in (7, 8, 9):
        yield f"{producer_id}: again", s.write(producer_id, producer_id != 9, minute=10)
        yield f"{producer_id}: next", s.write(producer_id, 1 + (producer_id != 9), minute=10)


def into_the_second_segment(s: RestartStage) -> Steps:
    three_segments(s)
    s.delete_below(3)
    yield from started_again(s)


def upto_the_active_segment(s: RestartStage) -> Steps:
    three_segments(s)
    s.delete_below(4)
    yield from known_before_and_after(s)
    yield from gaps(s, 7, 8, 9)


def below_segments_that_stay(s: RestartStage) -> Steps:
    """The same in a log whose older segments are there still: the log start offset is in a checkpoint."""
    three_segments(s, **KEPT)
    s.delete_below(4)
    yield from known_before_and_after(s)
    yield from gaps(s, 7, 8, 9)


def into_the_second_of_segments_that_stay(s: RestartStage) -> Steps:
    three_segments(s, **KEPT)
    s.delete_below(3)
    yield from started_again(s)


def into_the_active_segment(s: RestartStage) -> Steps:
    """A producer whose records are all deleted, in a segment that is still there."""
    three_segments(s)
    s.delete_below(5)
    yield from known_before_and_after(s)
    s.again()
    yield "known after the second time", s.known()


def everything_deleted(s: RestartStage) -> Steps:
    three_segments(s)
    s.delete_below(6)
    yield from known_before_and_after(s)


def everything_deleted_of_one_segment(s: RestartStage) -> Steps:
    s.create()
    s.write(7, 0, minute=0)
    s.delete_below(1)
    yield from known_before_and_after(s)


def deleted_in_the_first_segment(s: RestartStage) -> Steps:
    """It is the only one: there never was a snapshot."""
    s.create()
    s.write(7, 0, minute=0)
    s.write(8, 0, minute=0)
    s.delete_below(1)
    yield from started_again(s)


def retention_left_two(s: RestartStage) -> Steps:
    """Segments are deleted by retention.bytes."""
    three_segments(s)
    s.retain(3 * _BATCH_BYTES, 2)
    yield from known_before_and_after(s)


def retention_left_one(s: RestartStage) -> Steps:
    three_segments(s)
    s.retain(_BATCH_BYTES, 4)
    yield from known_before_and_after(s)


def known_twice(s: RestartStage) -> Steps:
    """Who was known after the first time is, or is not, after the next, in a log that went on."""
    three_segments(s)
    s.delete_below(2)
    s.again()
    yield "known", s.known()
    s.write(9, 1, minute=15)
    s.delete_below(4)
    s.again()
    yield "known after the second time", s.known()
    s.delete_below(6)
    s.again()
    yield "known after the third time", s.known()


def open_over_a_roll(s: RestartStage) -> Steps:
    """A transaction that began in an older segment, and one that is in it alone."""
    s.create()
    s.write(7, 0, minute=0, transactional=True)
    s.write(8, 0, minute=0, transactional=True)
    s.write(7, 1, minute=5, transactional=True)
    s.write(9, 0, minute=5, transactional=True)
    yield from known_before_and_after(s)
    for producer_id in (7, 8, 9):
        yield f"{producer_id} aborts", s.end(producer_id, committed=False)
        yield f"offsets after {producer_id}", s.offsets()
    yield "aborted", s.aborted(0)
    yield "known at last", s.known()


def open_and_deleted(s: RestartStage) -> Steps:
    """The records of a transaction are deleted, with their segment; the log begins below the active one."""
    s.create()
    s.write(7, 0, minute=0, transactional=True)
    s.write(8, 0, minute=5)
    s.write(9, 0, minute=10)
    s.delete_below(1)
    yield "before", s.known()
    yield "offsets before", s.offsets()
    yield from started_again(s)
    yield from abort(s, 7)
    yield "aborted", s.aborted(1)


def open_and_deleted_upto_the_active_segment(s: RestartStage) -> Steps:
    """One transaction goes on in the active segment, the other does not."""
    s.create()
    s.write(7, 0, minute=0, transactional=True)
    s.write(8, 0, minute=0, transactional=True)
    s.write(9, 0, minute=5)
    s.write(7, 1, minute=5, transactional=True)
    s.delete_below(2)
    yield "before", s.known()
    yield "offsets before", s.offsets()
    yield from started_again(s)
    yield from abort(s, 7, 8)
    yield "aborted", s.aborted(2)
    yield "known at last", s.known()


def open_below_segments_that_stay(s: RestartStage) -> Steps:
    """The same with all segments there still."""
    s.create(**KEPT)
    s.write(7, 0, minute=0, transactional=True)
    s.write(8, 0, minute=0, transactional=True)
    s.write(9, 0, minute=5)
    s.write(7, 1, minute=5, transactional=True)
    s.delete_below(2)
    yield from known_before_and_after(s)
    yield from abort(s, 7, 8)
    yield "aborted", s.aborted(2)
    yield "known at last", s.known()


def open_and_deleted_in_the_active_segment(s: RestartStage) -> Steps:
    """The first record of a transaction, and the only one of another."""
    s.create()
    s.write(9, 0, minute=0)
    s.write(7, 0, minute=5, transactional=True)
    s.write(8, 0, minute=5, transactional=True)
    s.write(7, 1, minute=5, transactional=True)
    s.delete_below(3)
    yield from known_before_and_after(s)
    yield from abort(s, 7)
    yield "aborted", s.aborted(3)


def ended(s: RestartStage) -> Steps:
    """Transactions that ended in older segments, and in the active one."""
    s.create()
    s.write(7, 0, minute=0, transactional=True)
    s.write(8, 0, minute=0, transactional=True)
    s.end(7, committed=False)
    s.end(8, committed=True)
    s.write(7, 1, minute=5, transactional=True)
    s.end(7, committed=False)
    yield "before", s.known()
    yield "aborted before", s.aborted(0)
    yield from started_again(s)
    yield "aborted", s.aborted(0)
    yield "8: again", s.write(8, 0, minute=5)
    yield "8: next", s.write(8, 1, minute=5)


def ended_and_deleted(s: RestartStage) -> Steps:
    """Nothing but markers is left of two producers; the third wrote after them."""
    s.create()
    s.write(7, 0, minute=0, transactional=True)
    s.write(8, 0, minute=0, transactional=True)
    s.end(7, committed=False)
    s.end(8, committed=True)
    s.write(9, 0, minute=5)
    s.delete_below(2)
    yield from known_before_and_after(s)
    yield "aborted", s.aborted(2)
    yield "7: next", s.write(7, 1, minute=5)
    yield "8: gap", s.write(8, 5, minute=5)


def epochs(s: RestartStage) -> Steps:
    """An epoch in the active segment, of a producer whose older ones are deleted."""
    s.create()
    s.write(7, 0, minute=0)
    s.write(8, 0, minute=0, epoch=2)
    s.write(7, 0, minute=5, epoch=1)
    s.delete_below(2)
    yield from started_again(s)
    yield "7: epoch 0", s.write(7, 1, minute=5)
    yield "8: epoch 0", s.write(8, 0, minute=5)


_CONFIG: Final = {
    "transaction.partition.verification.enable": "false",
    "log.flush.offset.checkpoint.interval.ms": "500",
    "log.flush.start.offset.checkpoint.interval.ms": "500",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
    "log.cleaner.enable": "false",
    "broker.session.timeout.ms": "3000",
    "zookeeper.session.timeout.ms": "3000",
}
_STORIES: Final = named(
    duplicates,
    duplicates_in_segments,
    nothing_deleted,
    first_segment_deleted,
    into_the_second_segment,
    upto_the_active_segment,
    below_segments_that_stay,
    into_the_second_of_segments_that_stay,
    into_the_active_segment,
    everything_deleted,
    everything_deleted_of_one_segment,
    deleted_in_the_first_segment,
    retention_left_two,
    retention_left_one,
    known_twice,
    open_over_a_roll,
    open_and_deleted,
    open_and_deleted_upto_the_active_segment,
    open_below_segments_that_stay,
    open_and_deleted_in_the_active_segment,
    ended,
    ended_and_deleted,
    epochs,
)
STORIES: Final = Told(
    Path(__file__).parent,
    {f"{way}{name}": each for way in (KILLED, STOPPED) for name, each in _STORIES.items()},
    RestartStage,
    Setting(1, _CONFIG, apart=True),
)
"""A broker ends once its checkpoints are written: the recovery point is the base offset of the active
segment, and the log start offset is what it was."""
