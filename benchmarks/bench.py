"""What all scenarios use: the broker under test, requests in flight, and results."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from benchmarks.apis import Broker, Partition
from benchmarks.flight import Flight
from benchmarks.process import cpu_us, own_cpu_us
from benchmarks.wire import Connection

LARGE_IN_FLIGHT: Final = 5

clock: Final = time.perf_counter_ns
"""Nanoseconds of an arbitrary beginning."""


@dataclass
class ScenarioResult:
    """The figures of one scenario.

    By the unit of the scenario, `rate` counts answers or MB (10**6 bytes) of batches a second, and the CPU
    times are µs for each of them. `times_one_replica` compares the same with one replica: how many times the
    p50, or the memory, it takes.
    """

    answers: int = 0
    rate: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    broker_cpu_us: float | None = None
    client_cpu_us: float | None = None
    resident_mb: float | None = None
    times_one_replica: float | None = None
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
    def topic(self, name: str, replicas: int = 1) -> Iterator[tuple[Connection, Partition]]:
        """A fresh topic and a connection to its leader; the topic is deleted afterwards."""
        with ExitStack() as stack:
            connection = stack.enter_context(self.broker.connect())
            partition = self.broker.create_topic(connection, f"{name}-{secrets.token_hex(4)}", replicas)
            if partition.leader != self.broker.address:
                connection = stack.enter_context(self.broker.connect(partition.leader))
            self.broker.check_log_end(connection, partition, 0)
            yield connection, partition
            with self.broker.connect() as second:
                self.broker.delete_topic(second, partition.topic)

    @contextmanager
    def cpu(self, outcome: ScenarioResult) -> Iterator[None]:
        """Total CPU time of broker and client in the phase inside."""
        broker, client = cpu_us(self.pid), own_cpu_us()
        yield
        outcome.client_cpu_us = own_cpu_us() - client
        after = cpu_us(self.pid)
        if broker is not None and after is not None:
            outcome.broker_cpu_us = after - broker

    def timed(
        self, work: Callable[[], tuple[list[int], int]], outcome: ScenarioResult | None = None
    ) -> ScenarioResult:
        """Measures work that gives the latency of each answer, and the time of all, in nanoseconds."""
        outcome = outcome or ScenarioResult()
        with self.cpu(outcome):
            latencies, elapsed = work()
            outcome.answers = len(latencies)
        outcome.conclude(len(latencies), elapsed / 1e9)
        outcome.take_latencies(latencies)
        return outcome


def fly(flight: Flight, depth: int, seconds: float, limit: int) -> tuple[int, int]:
    """Keep `depth` requests in flight, then wait for all of them; answers and nanoseconds."""
    start = clock()
    deadline = start + int(seconds * 1e9)
    flight.send(depth)
    in_flight = depth
    answers = 0
    while in_flight:
        count = flight.receive()
        answers += count
        if clock() < deadline and answers < limit:
            flight.send(count)
        else:
            in_flight -= count
    return answers, clock() - start


def one_by_one(flight: Flight, seconds: float) -> tuple[list[int], int]:
    """One request in flight; the latency of each and the time of all, in nanoseconds."""
    latencies: list[int] = []
    start = clock()
    deadline = start + int(seconds * 1e9)
    while clock() < deadline:
        flight.one_by_one(deadline, latencies)
    return latencies, clock() - start


def fill(
    bench: Bench, connection: Connection, partition: Partition, batch: bytes, records: int, count: int
) -> None:
    """`count` batches of `records` records into a fresh topic, outside any timed part."""
    frame = bench.broker.produce_frame(partition, batch)
    flight = Flight(connection, frame, LARGE_IN_FLIGHT, bench.broker.read_produced, 0, records)
    fly(flight, LARGE_IN_FLIGHT, 3600, count - LARGE_IN_FLIGHT)
    while flight.value < count * records:
        flight.send(1)
        flight.receive()
    bench.broker.check_log_end(connection, partition, count * records)
