"""Committing offsets and asking for them, on one connection to the group's coordinator."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks.apis import Partition
from benchmarks.bench import Bench, ScenarioResult, clock
from benchmarks.wire import CORRELATION, CORRELATION_AT, Connection, Reader, WrongAnswerError

OFFSET = 4711
_NOT_YET = frozenset({14, 15, 16})
_TRIES = 200
_PAUSE_SECONDS = 0.02


def commit(bench: Bench) -> ScenarioResult:
    """The same offset of one partition, committed again and again."""
    with _coordinator(bench) as (connection, partition, group):
        frame = bench.broker.commit_frame(partition, group, OFFSET)
        outcome = _measure(bench, connection, frame)
        if _committed(bench, connection, partition, group) != OFFSET:
            raise WrongAnswerError("what was committed is not there")
        return outcome


def committed(bench: Bench) -> ScenarioResult:
    """The committed offset of one partition, asked for again and again."""
    with _coordinator(bench) as (connection, partition, group):
        return _measure(bench, connection, bench.broker.offset_frame(partition, group))


@contextmanager
def _coordinator(bench: Bench) -> Iterator[tuple[Connection, Partition, str]]:
    """A topic, a group with a committed offset, and a connection to its coordinator."""
    group = f"bench-{secrets.token_hex(4)}"
    with (
        bench.topic("commit") as (first, partition),
        bench.broker.connect(bench.broker.coordinator(first, group)) as connection,
    ):
        frame = bench.broker.commit_frame(partition, group, OFFSET)
        _until_served(lambda: bench.broker.read_committed(connection.call(frame)))
        if _committed(bench, connection, partition, group) != OFFSET:
            raise WrongAnswerError("what was committed is not there")
        yield connection, partition, group


def _until_served(ask: Callable[[], int]) -> None:
    """A new coordinator may not serve the group yet."""
    for _ in range(_TRIES):
        error = ask()
        if not error:
            return
        if error not in _NOT_YET:
            break
        time.sleep(_PAUSE_SECONDS)
    raise WrongAnswerError(f"OffsetCommit: error code {error}")


def _committed(bench: Bench, connection: Connection, partition: Partition, group: str) -> int:
    error, offset = bench.broker.read_offset(connection.call(bench.broker.offset_frame(partition, group)))
    if error:
        raise WrongAnswerError(f"OffsetFetch: error code {error}")
    return offset


def _measure(bench: Bench, connection: Connection, frame: bytearray) -> ScenarioResult:
    """Equal requests, one in flight, whose answers are equal but for their correlation ids."""
    room = memoryview(bytearray(1 << 16))
    expected = bytes(connection.call(frame).frame[8:])

    def fly(seconds: float) -> tuple[list[int], int]:
        latencies: list[int] = []
        send, read = connection.socket.sendall, connection.answer_into
        start = clock()
        deadline, now, identity = start + int(seconds * 1e9), start, 0
        while now < deadline:
            identity += 1
            CORRELATION.pack_into(frame, CORRELATION_AT, identity)
            sent = clock()
            send(frame)
            size = read(room)
            now = clock()
            latencies.append(now - sent)
            if room[8:size] != expected or Reader(room[:size]).correlation_id != identity:
                raise WrongAnswerError("an answer unlike the first one")
        return latencies, now - start

    fly(bench.warm_up)
    return bench.timed(lambda: fly(bench.seconds))
