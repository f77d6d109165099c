"""What is known of a partition: its leaders, its log from start to end, what was written and read."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..readers.broker_messages import COMPACTED, NO_DISK
from ..rows import INTERNAL
from ..tables import functions as F
from .lag import Lag
from .leaderless import Leaderless, with_brokers
from .ledger import Ledger, refused_only
from .readers import Readers
from .row import Note, Row, goes_on, note, voice
from .run import Run
from .stability import Stability
from .standing import Standing

_NOTICED_MS: Final = 10_000
"""What took less is not noted."""
_APART_MS: Final = 5_000
"""Refusals that lie further apart don't belong together: a producer that is refused tries again soon."""
_TIMED_OUT: Final = ("REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
_TIMEOUT_MS: Final = 35_000
"""A broker that waits for followers refuses late: `request.timeout.ms` is half a minute by default."""
_KEPT: Final = 5
"""The batches of a producer that a leader keeps in mind (ProducerStateEntry.NUM_BATCHES_TO_RETAIN)."""
_ALIVE: Final = 5
"""Commits by which a group shows that it lives."""
_ANSWERED: Final = 1_000
"""The batches that are kept in mind, because answers may come in another order."""
_UNAVAILABLE: Final = (
    *("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "LEADER_NOT_AVAILABLE"),
    *("NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT", "KAFKA_STORAGE_ERROR", "FENCED_LEADER_EPOCH"),
)
Batch = tuple[int, int, Row]
"""The first sequence number, the number of records, and the row."""


@dataclass(slots=True)
class Partition:
    """`begins` has by leader epoch the row of its leader, with the offset at which it begins; `readable` the
    highest commit of a record of an epoch; `watermarks` by broker its last high watermark, `led` the epoch in
    which it leads by its own log, and `highs` by epoch the highest one that its leader told.

    `acknowledged` are the last batches whose producers got an answer, which only traces tell, and
    `acknowledged_end` is the highest end of one.

    `ends` has by voice the last batch of its log, `open` by voice and producer the first batch of a
    transaction without a marker, and `batches` the last ones of a producer with its epoch. `stands` has the
    last commit of each group, `lags` how far it is behind, `readers` what groups have read, `start` is the
    last log start. `silent` is that a leader does not answer its followers, `refusing` that producers are
    refused. `created` are the brokers that created their log, `furthest` is the highest commit, and
    `emptied` has what that was when a broker created its log a second time.
    """

    begins: dict[int, Row] = field(default_factory=dict)
    readable: dict[int, Row] = field(default_factory=dict)
    watermarks: dict[int, Row] = field(default_factory=dict)
    led: dict[int, int] = field(default_factory=dict)
    highs: dict[int, Row] = field(default_factory=dict)
    acknowledged: deque[Row] = field(default_factory=lambda: deque(maxlen=_ANSWERED))
    acknowledged_end: int = 0
    ends: dict[str, Row] = field(default_factory=dict)
    open: dict[tuple[str, int], Row] = field(default_factory=dict)
    batches: dict[tuple[str, int], tuple[int | None, list[Batch]]] = field(default_factory=dict)
    stands: dict[str, Standing] = field(default_factory=dict)
    lags: dict[str, Lag] = field(default_factory=dict)
    readers: Readers = field(default_factory=Readers)
    start: Row | None = None
    created: set[int] = field(default_factory=set)
    furthest: Row | None = None
    emptied: dict[int, Row] = field(default_factory=dict)
    stability: Stability = field(default_factory=Stability)
    highest: Row | None = None
    leaderless: Leaderless = field(default_factory=Leaderless)
    silent: Run | None = None
    refusing: Run | None = None


def step(state: Partition, row: Row) -> Iterable[Note]:
    return _STEPS[row.kind](state, row)


def end(state: Partition) -> Iterator[Note]:
    yield from _missing(state)
    yield from _refused_until_now(state)
    yield from state.leaderless.end()
    for (who, _), row in state.open.items():
        last = state.ends[who]
        if last.at_ms - row.at_ms >= _NOTICED_MS:
            yield _open(row, last)
    yield from state.stability.stands(_NOTICED_MS)
    log_end = state.highest.end_offset if state.highest is not None else None
    for group, standing in state.stands.items():
        yield from standing.stands(group, log_end, _NOTICED_MS)
    yield from state.readers.end(log_end)
    for group, lag in state.lags.items():
        last, behind = lag.last
        offset = last.offset or 0
        if lag.grows and lag.count >= _ALIVE and offset > (lag.base.offset or 0):
            until = max(offset + behind, log_end or 0)
            about = {"group": group, "client": None, "number": until - offset - lag.least}
            yield note("lag-grows", lag.base, last, offset=offset, end_offset=until, **about)
    if state.start is not None:
        yield note("log-start", state.start, offset=state.start.offset)


def _leader(state: Partition, row: Row) -> Iterator[Note]:
    if row.detail == NO_DISK:
        state.leaderless.broker(row)
        return
    silent = state.silent
    if silent is not None and row.leader is not None and row.leader not in (-1, silent.first.leader):
        if _took(silent.first, row) >= _NOTICED_MS:
            yield note("no-leader", silent.first, silent.last, row)
        state.silent = None
    yield from state.leaderless.leader(row, state.led, _NOTICED_MS)
    epoch = row.leader_epoch
    if row.broker is not None and row.leader != row.broker:
        state.led.pop(row.broker, None)
    if epoch is None or row.offset is None or row.leader != row.broker or row.leader is None:
        return
    state.led[row.leader] = epoch
    if epoch == 0 and row.offset == 0 and state.begins and 0 not in state.begins:
        # A topic of that name was created anew.
        yield from _anew(state)
    state.begins.setdefault(epoch, row)
    emptied = state.emptied.pop(row.leader, None)
    if emptied is not None and epoch > 0 and row.offset == 0:
        # Its disk is empty, and no other replica in sync had the records: not every commit has an epoch.
        about = {"offset": 0, "end_offset": emptied.offset}
        yield note("acknowledged-missing", emptied, row, group=None, client=None, **about)


def _broker(state: Partition, row: Row) -> Iterable[Note]:
    state.leaderless.broker(row)
    return ()


def _unanswered(state: Partition, row: Row) -> Iterable[Note]:
    """Whether the leader was gone tells what comes next: another one, or a record that it took."""
    silent = state.silent
    if silent is None or silent.first.leader != row.leader or not silent.takes(row, _APART_MS):
        state.silent = Run.of(row)
    return ()


def _log(state: Partition, row: Row) -> Iterator[Note]:
    """A replica is created on a broker to which the partition moves, too: it begins at 0 as a topic does."""
    if row.detail == COMPACTED:
        state.readers.compacted = row
    elif row.partition is None or row.detail == "deleted":
        yield from _anew(state)
    elif row.detail == "created" and row.broker is not None:
        if row.broker in state.created and state.furthest is not None:
            state.emptied[row.broker] = state.furthest
        state.created.add(row.broker)


def _anew(state: Partition) -> Iterator[Note]:
    yield from _missing(state)
    state.begins.clear()
    state.readable.clear()
    state.watermarks.clear()
    state.led.clear()
    state.highs.clear()
    state.acknowledged.clear()
    state.acknowledged_end = 0
    state.created.clear()
    state.emptied.clear()
    state.stability.clear()
    state.furthest = None


def _missing(state: Partition) -> Iterator[Note]:
    """A group, or a high watermark, had passed a record of an epoch, and the leader of a later one began
    before that record: whatever clocks say."""
    for epoch, began in sorted(state.begins.items()):
        passed = (*state.readable.items(), *state.highs.items())
        had = [row for each, row in passed if each < epoch]
        above = [row for row in had if (row.offset or 0) > (began.offset or 0)]
        if not above:
            continue
        highest = max(above, key=lambda row: row.offset or 0)
        for known in (state.readable, state.highs):
            for each in [each for each in known if each < epoch]:
                del known[each]
        yield note(
            *("acknowledged-missing", highest, began),
            group=None,
            client=None,
            offset=began.offset,
            end_offset=highest.offset,
        )


def _commit(state: Partition, row: Row) -> Iterable[Note]:
    offset, epoch, group = row.offset, row.leader_epoch, row.group
    if offset is None or row.detail == "in a transaction":
        return ()
    if offset > 0 and (state.furthest is None or (state.furthest.offset or 0) < offset):
        state.furthest = row
    if epoch is not None:
        known = state.readable.get(epoch)
        if known is None or (known.offset or 0) < offset:
            state.readable[epoch] = row
    if group is None:
        return ()
    log_end = 0 if state.highest is None else state.highest.end_offset or 0
    stands = state.stands.get(group)
    if stands is None:
        state.stands[group] = Standing(offset)
    else:
        stands.commit(row, offset, log_end)
    if state.highest is None:
        return ()
    behind = max(log_end - offset, 0)
    lag = state.lags.get(group)
    if lag is None:
        lag = state.lags[group] = Lag(row, behind, (row, behind))
    lag.add(row, behind)
    return state.readers.commit(row, log_end)


def _watermark(state: Partition, row: Row) -> Iterable[Note]:
    state.stability.watermark(row, state.acknowledged)
    if (
        row.source == "broker-log"
        and row.broker is not None
        and row.offset is not None
        and row.detail != "fell"
    ):
        state.watermarks[row.broker] = row
        epoch = state.led.get(row.broker)
        if epoch is not None and row.detail != "loaded":
            state.highs[epoch] = max(row, state.highs.get(epoch, row), key=lambda each: each.offset or 0)
    return ()


def _truncation(state: Partition, row: Row) -> Iterator[Note]:
    """Only what the leader told a follower: a log that was not written whole is cut as well, and read again
    from the leader. What lies above the high watermark nobody has read, and nobody but its leader may have:
    such batches are cut each time that a broker shuts down under load, and producers send them again."""
    if row.broker is None or not (row.detail or "").startswith("due to leader epoch"):
        return
    mark = state.watermarks.get(row.broker)
    if mark is None or row.offset is None or mark.offset is None or row.offset >= mark.offset:
        return
    state.watermarks[row.broker] = row
    yield note("acknowledged-missing", mark, row, offset=row.offset, end_offset=mark.offset)


def _log_start(state: Partition, row: Row) -> Iterable[Note]:
    if row.offset is not None and (state.start is None or (state.start.offset or 0) <= row.offset):
        state.start = row
    return ()


def _refused(state: Partition, row: Row) -> Iterator[Note]:
    run = state.refusing
    apart = _TIMEOUT_MS if row.error in _TIMED_OUT else _APART_MS
    if run is not None and run.takes(row, apart):
        return
    yield from _refused_until_now(state)
    state.refusing = Run.of(row)


def _refused_until_now(state: Partition) -> Iterator[Note]:
    run, state.refusing = state.refusing, None
    if run is not None and run.took_ms >= _NOTICED_MS:
        yield note(
            "producers-refused", run.first, run.last, client=None, number=run.count, detail=run.last.error
        )


def _append(state: Partition, row: Row) -> Iterable[Note]:
    state.silent = None
    found: Sequence[Note] = ()
    if row.source == "trace":
        found = [*_refused_until_now(state), *_overwritten(state, row)]
        state.stability.append(row)
    who = voice(row)
    last = state.ends.get(who)
    if last is None or goes_on(last, row):
        state.ends[who] = row
    # Nobody is given markers, and some clients never commit an offset after one.
    highest = 0 if state.highest is None else state.highest.end_offset or 0
    if row.end_offset is not None and row.end_offset > highest and "control" not in (row.detail or ""):
        state.highest = row
        state.readers.append(row)
    producer, detail = row.producer_id, row.detail
    if producer is None:
        return found
    if detail is not None and detail.startswith("transactional"):
        key = who, producer
        if "control" not in detail:
            state.open.setdefault(key, row)
            return found
        begun = state.open.pop(key, None)
        if begun is not None and "abort" in detail and row.at_ms - begun.at_ms >= _NOTICED_MS:
            return [*found, _open(begun, row)]
    elif row.sequence is not None and row.end_offset is not None and row.topic not in INTERNAL:
        return [*found, *_written_twice(state, who, row)]
    return found


def _overwritten(state: Partition, row: Row) -> Iterator[Note]:
    """Two producers got the same offsets: the leader of the first was one that others did not follow."""
    if row.offset is None or row.end_offset is None:
        return
    if row.offset < state.acknowledged_end:
        for each in state.acknowledged:
            first, last = max(each.offset or 0, row.offset), min(each.end_offset or 0, row.end_offset)
            # A batch that is sent again gets the same answer again.
            again = row.sequence is not None and _batch(each) == _batch(row)
            if first < last and not again:
                about = {"client": None, "producer_id": None, "offset": first, "end_offset": last}
                yield note("acknowledged-missing", each, row, **about)
    state.acknowledged.append(row)
    state.acknowledged_end = max(state.acknowledged_end, row.end_offset)


def _batch(row: Row) -> tuple[int | None, int | None, int | None, int | None]:
    return row.producer_id, row.producer_epoch, row.sequence, row.offset


def _written_twice(state: Partition, who: str, row: Row) -> Iterator[Note]:
    producer, sequence = row.producer_id, row.sequence
    assert producer is not None
    assert sequence is not None
    assert row.offset is not None
    assert row.end_offset is not None
    count = row.end_offset - row.offset
    epoch, kept = state.batches.get((who, producer), (None, []))
    if epoch != row.producer_epoch:
        kept = []
    for first, records, before in kept:
        if first == sequence and records == count and (before.offset or 0) < row.offset:
            yield note(
                "written-twice", before, row, offset=row.offset, end_offset=row.end_offset, number=count
            )
    state.batches[who, producer] = row.producer_epoch, [*kept[1 - _KEPT :], (sequence, count, row)]


def _open(begun: Row, until: Row) -> Note:
    ended = "control" in (until.detail or "") and until.producer_id == begun.producer_id
    return note(
        "transaction-open",
        *(begun, until),
        producer_id=begun.producer_id,
        offset=begun.offset,
        end_offset=until.end_offset,
        detail="aborted" if ended else None,
    )


def _took(first: Row, last: Row) -> int:
    return last.at_ms - first.at_ms


_STEPS: Final = {
    "broker": _broker,
    "leader": _leader,
    "unanswered": _unanswered,
    "log": _log,
    "commit": _commit,
    "high-watermark": _watermark,
    "truncation": _truncation,
    "log-start": _log_start,
    "refused": _refused,
    "append": _append,
}
LEDGER: Final = Ledger(
    "partitions",
    tuple(_STEPS),
    F.col("topic").isNotNull()
    & F.col("partition").isNotNull()
    & F.col("time_ms").isNotNull()
    & refused_only((F.col("api") == "Produce") & F.col("error").isin(*_UNAVAILABLE)),
    F.concat_ws("\n", "topic", "partition"),
    (
        *("broker", "group", "client", "topic", "partition", "offset", "from_offset", "end_offset"),
        *("leader_epoch", "leader", "producer_id", "producer_epoch", "sequence", "error", "detail"),
    ),
    Partition,
    step,
    end,
    with_brokers,
)
