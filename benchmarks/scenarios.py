"""What is measured, each scenario against one broker and on a topic of its own.

Times are taken around requests and answers alone: topics, filling and the verification of fetched data lie
outside.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.apis import Broker, Partition
from benchmarks.crowd import Crowd
from benchmarks.flight import FIRST_ID, Flight, explain, learn_layout
from benchmarks.process import cpu_us, own_cpu_us, resident_mb
from benchmarks.records import build_batch, verify_batches, whole_batches
from benchmarks.wire import CORRELATION, CORRELATION_AT, Connection, Reader, WrongAnswerError

VALUE_BYTES = 1000
RECORDS_100_KB = 98
RECORDS_1_MB = 1000  # 1.01 MB: under the limit that brokers have by default
MEMORY_LOG_MB = 100
FETCH_LOG_BATCHES = 40  # 4 MB: librdkafka's mock keeps no more than about 5 MB of a partition
FETCH_1_KB_RECORDS = 2000
LARGE_IN_FLIGHT = 5
LARGE_LIMIT_BYTES = 1 << 30
"""A phase of large batches ends early after this much, since the broker keeps it in memory."""

_clock = time.perf_counter_ns


@dataclass
class Outcome:
    """What one scenario gave.

    By the unit of the scenario, `rate` counts answers or MB (10**6 bytes) of batches a second, and the CPU
    times are µs for each of them.
    """

    answers: int = 0
    rate: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    broker_cpu_us: float | None = None
    client_cpu_us: float | None = None
    resident_mb: float | None = None
    records_verified: int = 0
    error: str | None = None
    left_out: str | None = None

    def conclude(self, amount: float, seconds: float) -> None:
        """Set the rate, and make the CPU times, total till now, those of one answer or MB."""
        self.rate = amount / seconds
        if self.client_cpu_us is not None:
            self.client_cpu_us /= amount
        if self.broker_cpu_us is not None:
            self.broker_cpu_us /= amount

    def take_latencies(self, nanoseconds: list[int]) -> None:
        nanoseconds.sort()
        self.p50_us = nanoseconds[len(nanoseconds) // 2] / 1e3
        self.p99_us = nanoseconds[len(nanoseconds) * 99 // 100] / 1e3


@dataclass(frozen=True)
class Bench:
    """The broker under test, its process if known, and how long to warm up and to measure, in seconds."""

    broker: Broker
    pid: int | None
    seconds: float
    warm_up: float

    @contextmanager
    def topic(self, name: str) -> Iterator[tuple[Connection, Partition]]:
        """A fresh topic and a connection to its leader; the topic is deleted afterwards."""
        with ExitStack() as stack:
            connection = stack.enter_context(Connection(self.broker.address))
            partition = self.broker.create_topic(connection, f"{name}-{secrets.token_hex(4)}")
            if partition.leader != self.broker.address:
                connection = stack.enter_context(Connection(partition.leader))
            self.broker.check_log_end(connection, partition, 0)
            yield connection, partition
            with Connection(self.broker.address) as second:
                self.broker.delete_topic(second, partition.topic)

    @contextmanager
    def cpu(self, outcome: Outcome) -> Iterator[None]:
        """Total CPU time of broker and client in the phase inside."""
        broker, client = cpu_us(self.pid), own_cpu_us()
        yield
        outcome.client_cpu_us = own_cpu_us() - client
        after = cpu_us(self.pid)
        if broker is not None and after is not None:
            outcome.broker_cpu_us = after - broker


def _fly(flight: Flight, depth: int, seconds: float, limit: int) -> tuple[int, int]:
    """Keep `depth` requests in flight, then wait for all of them; answers and nanoseconds."""
    start = _clock()
    deadline = start + int(seconds * 1e9)
    flight.send(depth)
    in_flight = depth
    answers = 0
    while in_flight:
        count = flight.receive()
        answers += count
        if _clock() < deadline and answers < limit:
            flight.send(count)
        else:
            in_flight -= count
    return answers, _clock() - start


def _one_by_one(flight: Flight, seconds: float) -> tuple[list[int], int]:
    """One request in flight; the latency of each and the time of all, in nanoseconds."""
    latencies: list[int] = []
    start = _clock()
    deadline = start + int(seconds * 1e9)
    while _clock() < deadline:
        flight.one_by_one(deadline, latencies)
    return latencies, _clock() - start


def _measure(bench: Bench, flight: Flight, depth: int, request_bytes: int, amount: float = 1) -> Outcome:
    """Warm up, then measure; an answer stands for `amount` of the scenario's unit."""
    limit = max(depth, LARGE_LIMIT_BYTES // request_bytes)
    outcome = Outcome()
    if depth == 1:
        _one_by_one(flight, bench.warm_up)
        with bench.cpu(outcome):
            latencies, elapsed = _one_by_one(flight, bench.seconds)
            outcome.answers = len(latencies)
        outcome.take_latencies(latencies)
    else:
        _fly(flight, depth, bench.warm_up, limit // 8)
        with bench.cpu(outcome):
            outcome.answers, elapsed = _fly(flight, depth, bench.seconds, limit)
    outcome.conclude(outcome.answers * amount, elapsed / 1e9)
    return outcome


def produce(bench: Bench, *, records: int, value_bytes: int, depth: int, megabytes: bool = False) -> Outcome:
    """Batches on one connection, `depth` in flight; the log must grow by exactly what was acknowledged."""
    batch = build_batch(records, value_bytes)
    with bench.topic("produce") as (connection, partition):
        frame = bench.broker.produce_frame(partition, batch)
        flight = Flight(connection, frame, depth, bench.broker.read_produced, 0, records)
        outcome = _measure(bench, flight, depth, len(frame), len(batch) / 1e6 if megabytes else 1)
        bench.broker.check_log_end(connection, partition, flight.value)
    return outcome


def _fill(
    bench: Bench, connection: Connection, partition: Partition, batch: bytes, records: int, count: int
) -> None:
    """`count` batches of `records` records into a fresh topic, outside any timed part."""
    frame = bench.broker.produce_frame(partition, batch)
    flight = Flight(connection, frame, LARGE_IN_FLIGHT, bench.broker.read_produced, 0, records)
    _fly(flight, LARGE_IN_FLIGHT, 3600, count - LARGE_IN_FLIGHT)
    while flight.value < count * records:
        flight.send(1)
        flight.receive()
    bench.broker.check_log_end(connection, partition, count * records)


def memory(bench: Bench) -> Outcome:
    """Resident memory of the broker once a log of 100 MB was produced in 100 KB batches."""
    batch = build_batch(RECORDS_100_KB, VALUE_BYTES)
    count = MEMORY_LOG_MB * 1_000_000 // len(batch)
    with bench.topic("memory") as (connection, partition):
        _fill(bench, connection, partition, batch, RECORDS_100_KB, count)
        return Outcome(answers=count, resident_mb=resident_mb(bench.pid))


def fetch_large(bench: Bench) -> Outcome:
    """Read a log of 4 MB from end to end, 1 MB at most an answer, again and again; each pass is verified."""
    batch = build_batch(RECORDS_100_KB, VALUE_BYTES)
    log_end = FETCH_LOG_BATCHES * RECORDS_100_KB
    log_bytes = FETCH_LOG_BATCHES * len(batch)
    max_bytes = 1 << 20
    outcome = Outcome()
    with bench.topic("fetch") as (connection, partition):
        _fill(bench, connection, partition, batch, RECORDS_100_KB, FETCH_LOG_BATCHES)
        frame, offset_at = bench.broker.fetch_frame(partition, max_bytes, wait_ms=500)
        arena = memoryview(bytearray(2 * log_bytes + 2 * max_bytes))  # an answer may end in a cut batch

        def one_pass() -> tuple[int, list[memoryview]]:
            """Nanoseconds of the requests and answers, and the batches of each answer."""
            spent = offset = at = 0
            fetched = []
            for correlation in range(FIRST_ID, FIRST_ID + 4 * FETCH_LOG_BATCHES):
                if offset == log_end:
                    break
                CORRELATION.pack_into(frame, CORRELATION_AT, correlation)
                frame[offset_at : offset_at + 8] = offset.to_bytes(8, "big")
                start = _clock()
                connection.socket.sendall(frame)
                size = connection.answer_into(arena[at:])
                spent += _clock() - start
                records = _fetched_records(bench, arena[at : at + size], correlation)
                used, offset = whole_batches(records)
                if not used:
                    raise WrongAnswerError("fetch without a whole batch below the log end")
                fetched.append(records[:used])
                at += size
            return spent, fetched

        def verify(fetched: list[memoryview]) -> int:
            """Check the batches of a whole pass; their bytes."""
            offset = 0
            for records in fetched:
                verified, offset = verify_batches(records, offset)
                outcome.records_verified += verified
            if offset != log_end:
                raise WrongAnswerError(f"{offset} records read back, {log_end} acknowledged")
            return sum(map(len, fetched))

        verify(one_pass()[1])
        outcome.records_verified = 0
        elapsed = fetched_bytes = 0
        with bench.cpu(outcome):
            while elapsed < bench.seconds * 1e9:
                spent, fetched = one_pass()
                elapsed += spent
                fetched_bytes += verify(fetched)
                outcome.answers += len(fetched)
        outcome.client_cpu_us = None  # the verification is in it
        outcome.conclude(fetched_bytes / 1e6, elapsed / 1e9)
    return outcome


def _fetched_records(bench: Bench, answer: memoryview, correlation: int) -> memoryview:
    reader = Reader(answer)
    if reader.correlation_id != correlation:
        raise WrongAnswerError(f"correlation id {reader.correlation_id}, expected {correlation}")
    fetched = bench.broker.read_fetched(reader)
    if fetched.error:
        raise WrongAnswerError(f"fetch: error code {fetched.error}")
    return fetched.records


def fetch_small(bench: Bench) -> Outcome:
    """One batch of one 1 KB record an answer, from all over the log, one fetch in flight."""
    batch = build_batch(1, VALUE_BYTES)
    outcome = Outcome()
    latencies: list[int] = []
    with bench.topic("fetch") as (connection, partition):
        _fill(bench, connection, partition, batch, 1, FETCH_1_KB_RECORDS)
        frame, offset_at = bench.broker.fetch_frame(partition, len(batch), wait_ms=500)
        room = memoryview(bytearray(1 << 21))
        offsets = [at * 617 % FETCH_1_KB_RECORDS for at in range(1, FETCH_1_KB_RECORDS + 1)]
        frames = []
        for which, offset in enumerate(offsets):
            CORRELATION.pack_into(frame, CORRELATION_AT, FIRST_ID + which)
            frame[offset_at : offset_at + 8] = offset.to_bytes(8, "big")
            frames.append(bytes(frame))

        def fly(seconds: float) -> list[int]:
            """Fetch from each offset in turn; the latency of each in nanoseconds."""
            spent: list[int] = []
            send, read = connection.socket.sendall, connection.answer_into
            left = int(seconds * 1e9)
            while left > 0:
                answers: list[bytes] = []
                began = _clock()
                for request in frames:
                    start = _clock()
                    send(request)
                    size = read(room)
                    end = _clock()
                    spent.append(end - start)
                    answers.append(bytes(room[:size]))
                    if end - began > left:
                        break
                left -= end - began
                for which, answer in enumerate(answers):
                    records = _fetched_records(bench, memoryview(answer), FIRST_ID + which)
                    used, _ = whole_batches(records)
                    if not used:
                        raise WrongAnswerError(f"fetch without the record at offset {offsets[which]}")
                    outcome.records_verified += verify_batches(records[:used], offsets[which])[0]
            return spent

        fly(bench.warm_up)
        outcome.records_verified = 0
        with bench.cpu(outcome):
            latencies = fly(bench.seconds)
            outcome.answers = len(latencies)
        outcome.client_cpu_us = None  # the verification is in it
        outcome.conclude(len(latencies), sum(latencies) / 1e9)
        outcome.take_latencies(latencies)
    return outcome


def leader_epoch(bench: Bench, *, depth: int) -> Outcome:
    """Where the present leader epoch ends, asked again and again: always the log end."""
    with bench.topic("epoch") as (connection, partition):
        _fill(bench, connection, partition, build_batch(1, 100), 1, 100)
        frame = bench.broker.epoch_frame(partition)
        flight = Flight(connection, frame, depth, bench.broker.read_epoch, 100, 0)
        return _measure(bench, flight, depth, len(frame))


def connections(bench: Bench, *, count: int) -> Outcome:
    """100 B produced on each of `count` connections, one request in flight on each."""
    batch = build_batch(1, 100)
    outcome = Outcome()
    with bench.topic("connections") as (first, partition), ExitStack() as stack:
        frame = bench.broker.produce_frame(partition, batch)
        first.socket.sendall(frame)
        room = memoryview(bytearray(1 << 16))
        answer = room[: first.answer_into(room)]
        if (cell := bench.broker.read_produced(Reader(answer))).error or cell.value:
            raise explain(answer, bench.broker.read_produced, 0, 0)
        layout = learn_layout(answer, bench.broker.read_produced)
        links = [stack.enter_context(Connection(partition.leader)) for _ in range(count)]
        crowd = Crowd(links, frame, layout, bench.broker.read_produced)
        crowd.fly(bench.warm_up)
        with bench.cpu(outcome):
            latencies, elapsed = crowd.fly(bench.seconds)
            outcome.answers = len(latencies)
        outcome.conclude(outcome.answers, elapsed / 1e9)
        outcome.take_latencies(latencies)
        crowd.offsets.append(0)
        acknowledged = len(crowd.offsets)
        if sorted(crowd.offsets) != list(range(acknowledged)):
            raise WrongAnswerError("an offset was acknowledged twice or not at all")
        bench.broker.check_log_end(first, partition, acknowledged)
    return outcome


@dataclass(frozen=True)
class Scenario:
    """A name to choose it by, the words of the table, what its rate counts (if it has one), and what it runs.

    One that is `alone` gets a broker of its own, so that what it leaves behind disturbs no other.
    """

    name: str
    title: str
    unit: str
    run: Callable[[Bench], Outcome]
    alone: bool = False


def _produce(name: str, value_bytes: int, depth: int) -> Scenario:
    size = f"{value_bytes} B" if value_bytes < 1000 else "1 KB"
    run = partial(produce, records=1, value_bytes=value_bytes, depth=depth)
    return Scenario(name, f"produce {size}, {depth} in flight", "answer", run)


def _produce_large(name: str, size: str, records: int) -> Scenario:
    run = partial(produce, records=records, value_bytes=VALUE_BYTES, depth=LARGE_IN_FLIGHT, megabytes=True)
    return Scenario(name, f"produce {size} batches, {LARGE_IN_FLIGHT} in flight", "MB", run)


SCENARIOS = (
    Scenario("memory", f"memory after {MEMORY_LOG_MB} MB produced", "", memory, alone=True),
    _produce("produce-100B-1", 100, 1),
    _produce("produce-100B-16", 100, 16),
    _produce("produce-100B-64", 100, 64),
    _produce("produce-1KB-1", 1000, 1),
    _produce("produce-1KB-16", 1000, 16),
    _produce("produce-1KB-64", 1000, 64),
    _produce_large("produce-100KB", "100 KB", RECORDS_100_KB),
    _produce_large("produce-1MB", "1 MB", RECORDS_1_MB),
    Scenario("fetch-1MB", "fetch 1 MB", "MB", fetch_large),
    Scenario("fetch-1KB", "fetch 1 KB, 1 in flight", "answer", fetch_small),
    Scenario("epoch-1", "OffsetForLeaderEpoch, 1 in flight", "answer", partial(leader_epoch, depth=1)),
    Scenario("epoch-16", "OffsetForLeaderEpoch, 16 in flight", "answer", partial(leader_epoch, depth=16)),
    Scenario("connections-64", "64 connections, produce 100 B", "answer", partial(connections, count=64)),
)


def choose(prefixes: str) -> list[Scenario]:
    """Scenarios whose name starts with one of the comma-separated prefixes; all for an empty string."""
    wanted = tuple(prefix.strip() for prefix in prefixes.split(",") if prefix.strip())
    return [scenario for scenario in SCENARIOS if not wanted or scenario.name.startswith(wanted)]
