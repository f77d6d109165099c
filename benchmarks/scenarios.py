"""What is measured, each scenario against one broker and on a topic of its own.

Times are taken around requests and answers alone: topics, filling and the verification of fetched data lie
outside.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from benchmarks import attacks, connections, groups, members, replicas
from benchmarks.apis import NotOfferedError
from benchmarks.bench import LARGE_IN_FLIGHT, Bench, ScenarioResult, clock, fill, fly, one_by_one
from benchmarks.flight import FIRST_ID, Flight, IdempotentFlight
from benchmarks.process import resident_mb
from benchmarks.records import build_batch, verify_batches, whole_batches
from benchmarks.wire import CORRELATION, CORRELATION_AT, Reader, WrongAnswerError

VALUE_BYTES = 1000
RECORDS_100_KB = 98
RECORDS_1_MB = 1000  # 1.01 MB: under the limit that brokers have by default
MEMORY_LOG_MB = 100
FETCH_LOG_BATCHES = 40  # 4 MB: librdkafka's mock keeps no more than about 5 MB of a partition
FETCH_1_KB_RECORDS = 2000
IDEMPOTENT_IN_FLIGHT = 5
FETCH_WAIT_MS = 500
PARKED_SECONDS = 0.003
"""After this time a broker that nobody else asks has received the Fetch, and waits."""
LARGE_LIMIT_BYTES = 1 << 30
"""A phase of large batches ends early after this much, since the broker keeps it in memory."""


def _measure(
    bench: Bench, flight: Flight, depth: int, request_bytes: int, amount: float = 1
) -> ScenarioResult:
    """Warm up, then measure; an answer stands for `amount` of the scenario's unit, 1 with one in flight."""
    if depth == 1:
        one_by_one(flight, bench.warm_up)
        return bench.timed(lambda: one_by_one(flight, bench.seconds))
    limit = max(depth, LARGE_LIMIT_BYTES // request_bytes)
    outcome = ScenarioResult()
    fly(flight, depth, bench.warm_up, limit // 8)
    with bench.cpu(outcome):
        outcome.answers, elapsed = fly(flight, depth, bench.seconds, limit)
    outcome.conclude(outcome.answers * amount, elapsed / 1e9)
    return outcome


def produce(
    bench: Bench, *, records: int, value_bytes: int, depth: int, megabytes: bool = False
) -> ScenarioResult:
    """Batches on one connection, `depth` in flight; the log must grow by exactly what was acknowledged."""
    batch = build_batch(records, value_bytes)
    with bench.topic("produce") as (connection, partition):
        frame = bench.broker.produce_frame(partition, batch)
        flight = Flight(connection, frame, depth, bench.broker.read_produced, 0, records)
        outcome = _measure(bench, flight, depth, len(frame), len(batch) / 1e6 if megabytes else 1)
        bench.broker.check_log_end(connection, partition, flight.value)
    return outcome


def idempotent(bench: Bench) -> ScenarioResult:
    """Batches of one 1 KB record of an idempotent producer, as many in flight as Java's sends."""
    with bench.topic("idempotent") as (connection, partition):
        batch = build_batch(1, VALUE_BYTES, *bench.broker.producer(connection))
        frame = bench.broker.produce_frame(partition, batch)
        given = (connection, frame, IDEMPOTENT_IN_FLIGHT, bench.broker.read_produced, 0, 1)
        flight = IdempotentFlight(frame.index(batch), len(batch), *given)
        outcome = _measure(bench, flight, IDEMPOTENT_IN_FLIGHT, len(frame))
        bench.broker.check_log_end(connection, partition, flight.value)
    return outcome


def wake_up(bench: Bench) -> ScenarioResult:
    """From sending a Produce of 100 B to the answer of a Fetch that waits for it on another connection."""
    batch = build_batch(1, 100)
    room = memoryview(bytearray(1 << 16))
    with bench.topic("wake") as (producer, partition), bench.broker.connect(partition.leader) as consumer:
        produce_frame = bench.broker.produce_frame(partition, batch)
        fetch_frame, offset_at = bench.broker.fetch_frame(partition, 1 << 20, wait_ms=FETCH_WAIT_MS)
        offset = 0

        def one() -> int:
            nonlocal offset
            fetch_frame[offset_at : offset_at + 8] = offset.to_bytes(8, "big")
            consumer.socket.sendall(fetch_frame)
            time.sleep(PARKED_SECONDS)
            start = clock()
            producer.socket.sendall(produce_frame)
            size = consumer.answer_into(room)
            spent = clock() - start
            fetched = bench.broker.read_fetched(Reader(room[:size]))
            if spent > FETCH_WAIT_MS * 1e6 / 2:
                raise NotOfferedError("a Fetch that waits is not woken")
            if fetched.error or verify_batches(fetched.records, offset) != (1, offset + 1):
                raise WrongAnswerError(f"fetch without the record at offset {offset}")
            produced = bench.broker.read_produced(Reader(room[: producer.answer_into(room)]))
            if produced.error or produced.value != offset:
                raise WrongAnswerError(f"error code {produced.error}, offset {produced.value}")
            offset += 1
            return spent

        def some(seconds: float) -> tuple[list[int], int]:
            deadline = clock() + int(seconds * 1e9)
            spent = [one()]
            while clock() < deadline:
                spent.append(one())
            return spent, sum(spent)

        some(bench.warm_up)
        return bench.timed(lambda: some(bench.seconds))


def memory(bench: Bench) -> ScenarioResult:
    """Resident memory of the broker once a log of 100 MB was produced in 100 KB batches."""
    batch = build_batch(RECORDS_100_KB, VALUE_BYTES)
    count = MEMORY_LOG_MB * 1_000_000 // len(batch)
    with bench.topic("memory") as (connection, partition):
        fill(bench, connection, partition, batch, RECORDS_100_KB, count)
        return ScenarioResult(answers=count, resident_mb=resident_mb(bench.pid))


def fetch_large(bench: Bench) -> ScenarioResult:
    """Read a log of 4 MB from end to end, 1 MB at most an answer, again and again; each pass is verified."""
    batch = build_batch(RECORDS_100_KB, VALUE_BYTES)
    log_end = FETCH_LOG_BATCHES * RECORDS_100_KB
    log_bytes = FETCH_LOG_BATCHES * len(batch)
    max_bytes = 1 << 20
    outcome = ScenarioResult()
    with bench.topic("fetch") as (connection, partition):
        fill(bench, connection, partition, batch, RECORDS_100_KB, FETCH_LOG_BATCHES)
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
                start = clock()
                connection.socket.sendall(frame)
                size = connection.answer_into(arena[at:])
                spent += clock() - start
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


def fetch_small(bench: Bench) -> ScenarioResult:
    """One batch of one 1 KB record an answer, from all over the log, one fetch in flight."""
    batch = build_batch(1, VALUE_BYTES)
    outcome = ScenarioResult()
    with bench.topic("fetch") as (connection, partition):
        fill(bench, connection, partition, batch, 1, FETCH_1_KB_RECORDS)
        frame, offset_at = bench.broker.fetch_frame(partition, len(batch), wait_ms=500)
        room = memoryview(bytearray(1 << 21))
        offsets = [at * 617 % FETCH_1_KB_RECORDS for at in range(1, FETCH_1_KB_RECORDS + 1)]
        frames = []
        for which, offset in enumerate(offsets):
            CORRELATION.pack_into(frame, CORRELATION_AT, FIRST_ID + which)
            frame[offset_at : offset_at + 8] = offset.to_bytes(8, "big")
            frames.append(bytes(frame))

        def fly(seconds: float) -> tuple[list[int], int]:
            """Fetch from each offset in turn; the latency of each and their sum, in nanoseconds."""
            spent: list[int] = []
            send, read = connection.socket.sendall, connection.answer_into
            left = int(seconds * 1e9)
            while left > 0:
                answers: list[bytes] = []
                began = clock()
                for request in frames:
                    start = clock()
                    send(request)
                    size = read(room)
                    end = clock()
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
            return spent, sum(spent)

        fly(bench.warm_up)
        outcome.records_verified = 0
        bench.timed(lambda: fly(bench.seconds), outcome)
        outcome.client_cpu_us = None  # the verification is in it
    return outcome


def leader_epoch(bench: Bench, *, depth: int) -> ScenarioResult:
    """Where the present leader epoch ends, asked again and again: always the log end."""
    with bench.topic("epoch") as (connection, partition):
        fill(bench, connection, partition, build_batch(1, 100), 1, 100)
        frame = bench.broker.epoch_frame(partition)
        flight = Flight(connection, frame, depth, bench.broker.read_epoch, 100, 0)
        return _measure(bench, flight, depth, len(frame))


def heartbeat(bench: Bench, *, depth: int) -> ScenarioResult:
    """Of the only member of a consumer group, whose assignment does not change."""
    group = f"bench-{secrets.token_hex(4)}"
    with (
        bench.topic("heartbeat") as (first, partition),
        bench.broker.connect(bench.broker.coordinator(first, group)) as connection,
    ):
        epoch = members.join(connection, bench.broker, group, partition.topic)
        frame = members.unchanged(bench.broker, group, epoch)
        value = members.read(connection.call(frame)).value
        return _measure(bench, Flight(connection, frame, depth, members.read, value, 0), depth, len(frame))


@dataclass(frozen=True)
class Scenario:
    """A name to choose it by, the words of the table, what its rate counts (if it has one), and what it runs.

    One that is `alone` gets a cluster of its own, so that what it leaves behind disturbs no other; it has as
    many `brokers` as it needs. With `tls`, clients speak TLS. One that is `only_ours` would be the end of
    other brokers, and one that is not `usual` is left out unless it is named.
    """

    name: str
    title: str
    unit: str
    run: Callable[[Bench], ScenarioResult]
    alone: bool = False
    brokers: int = 1
    tls: bool = False
    only_ours: bool = False
    usual: bool = True


def _produce(name: str, value_bytes: int, depth: int) -> Scenario:
    size = f"{value_bytes} B" if value_bytes < 1000 else "1 KB"
    run = partial(produce, records=1, value_bytes=value_bytes, depth=depth)
    return Scenario(name, f"produce {size}, {depth} in flight", "answer", run)


def _produce_large(name: str, size: str, records: int) -> Scenario:
    run = partial(produce, records=records, value_bytes=VALUE_BYTES, depth=LARGE_IN_FLIGHT, megabytes=True)
    return Scenario(name, f"produce {size} batches, {LARGE_IN_FLIGHT} in flight", "MB", run)


def _with_tls(scenario: Scenario) -> Scenario:
    return replace(scenario, name=f"tls-{scenario.name}", title=f"TLS, {scenario.title}", tls=True)


def _replicated(name: str, title: str, unit: str, run: Callable[[Bench], ScenarioResult]) -> Scenario:
    return Scenario(name, title, unit, run, alone=True, brokers=replicas.REPLICAS)


def _as_it_comes(client: str, does: str, brokers: int) -> Scenario:
    """A client of the field, one partition on as many replicas as there are brokers."""
    name = f"{client}_{does}"

    def run(bench: Bench) -> ScenarioResult:
        try:
            from benchmarks import as_they_come
        except ImportError as missing:
            raise NotOfferedError(str(missing)) from None
        measured: ScenarioResult = getattr(as_they_come, name)(bench, replicas=brokers)
        return measured

    replicas = f"{brokers} replica{'s' * (brokers > 1)}"
    title = f"{client} as it comes, {does} 1 KB, {replicas}"
    return Scenario(
        f"{client}-{does}-{brokers}", title, "record", run, alone=True, brokers=brokers, usual=False
    )


_CONNECTIONS_64 = Scenario(
    "connections-64", "64 connections, produce 100 B", "answer", partial(connections.at_once, count=64)
)
_FETCH_1_MB = Scenario("fetch-1MB", "fetch 1 MB", "MB", fetch_large)

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
    _FETCH_1_MB,
    Scenario("fetch-1KB", "fetch 1 KB, 1 in flight", "answer", fetch_small),
    Scenario("epoch-1", "OffsetForLeaderEpoch, 1 in flight", "answer", partial(leader_epoch, depth=1)),
    Scenario("epoch-16", "OffsetForLeaderEpoch, 16 in flight", "answer", partial(leader_epoch, depth=16)),
    Scenario("commit", "OffsetCommit, 1 in flight", "answer", groups.commit),
    Scenario("committed", "OffsetFetch, 1 in flight", "answer", groups.committed),
    Scenario(
        "heartbeat-16",
        "ConsumerGroupHeartbeat, 16 in flight",
        "answer",
        partial(heartbeat, depth=16),
        alone=True,  # librdkafka's mock ends when a member joins
    ),
    _CONNECTIONS_64,
    Scenario(
        "connections-1000",
        "1,000 connections, produce 100 B",
        "answer",
        partial(connections.at_once, count=1000),
        alone=True,  # librdkafka's mock takes no more afterwards
    ),
    Scenario("idempotent-5", "idempotent produce 1 KB, 5 in flight", "answer", idempotent),
    Scenario("wake-up", "wake-up of a waiting Fetch", "answer", wake_up),
    _replicated("replicas-latency", "produce 100 B to 3 replicas, 1 in flight", "answer", replicas.latency),
    _replicated("replicas-memory", f"memory of {replicas.LOG_MB} MB on 3 replicas", "", replicas.memory),
    *(
        _as_it_comes(client, does, brokers)
        for client in ("librdkafka", "java")
        for does in ("produce", "consume")
        for brokers in (1, 3)
    ),
    *map(
        _with_tls,
        (
            _produce("produce-1KB-1", 1000, 1),
            _produce("produce-1KB-16", 1000, 16),
            _FETCH_1_MB,
            _CONNECTIONS_64,
            Scenario("connect", "a new connection, ApiVersions", "answer", connections.beginning),
        ),
    ),
    Scenario("attacks", "beside the worst attack", "answer", attacks.worst, alone=True, only_ours=True),
    Scenario("bomb", "refuse a bomb", "answer", attacks.refuse_a_bomb, alone=True, only_ours=True),
)


def choose(prefixes: str) -> list[Scenario]:
    """Scenarios whose name starts with one of the comma-separated prefixes; the usual ones for an empty
    string."""
    wanted = tuple(prefix.strip() for prefix in prefixes.split(",") if prefix.strip())
    return [each for each in SCENARIOS if (each.name.startswith(wanted) if wanted else each.usual)]
