"""What replication costs: the same on topics of three replicas and of one, in one cluster, in turn."""

from __future__ import annotations

from statistics import median
from typing import Final

from benchmarks.apis import Partition
from benchmarks.bench import Bench, ScenarioResult, fill, one_by_one
from benchmarks.flight import Flight
from benchmarks.process import resident_mb
from benchmarks.records import build_batch
from benchmarks.wire import Connection

REPLICAS: Final = 3
LOG_MB: Final = 20
_SLICE_SECONDS: Final = 0.02
_WARM_UP_BATCHES: Final = 2000


def latency(bench: Bench) -> ScenarioResult:
    """Batches of one 100 B record, one in flight, all in-sync replicas to acknowledge.

    Short slices of both take turns; the ratio is the median of those of neighbours.
    """
    batch = build_batch(1, 100)
    outcome = ScenarioResult()
    with bench.topic("single") as single, bench.topic("replicated", REPLICAS) as replicated:
        one, three = (_flight(bench, *opened, batch) for opened in (single, replicated))
        for flight in (one, three):
            one_by_one(flight, bench.warm_up)
        latencies: list[int] = []
        ratios: list[float] = []
        spent = 0
        while spent < bench.seconds * 1e9:
            alone, _ = one_by_one(one, _SLICE_SECONDS)
            together, elapsed = one_by_one(three, _SLICE_SECONDS)
            ratios.append(median(together) / median(alone))
            latencies += together
            spent += elapsed
        outcome.answers = len(latencies)
        outcome.conclude(len(latencies), spent / 1e9)
        outcome.take_latencies(latencies)
        outcome.times_one_replica = median(ratios)
        for (connection, partition), flight in ((single, one), (replicated, three)):
            bench.broker.check_log_end(connection, partition, flight.value)
    return outcome


def _flight(bench: Bench, connection: Connection, partition: Partition, batch: bytes) -> Flight:
    frame = bench.broker.produce_frame(partition, batch)
    return Flight(connection, frame, 1, bench.broker.read_produced, 0, 1)


def memory(bench: Bench) -> ScenarioResult:
    """What 20 MB in batches of one 100 B record add to the resident memory; such small ones weigh most."""
    batch = build_batch(1, 100)
    count = LOG_MB * 1_000_000 // len(batch)
    with (
        bench.topic("warm-up", REPLICAS) as warm_up,
        bench.topic("single") as single,
        bench.topic("replicated", REPLICAS) as replicated,
    ):
        fill(bench, *warm_up, batch, 1, _WARM_UP_BATCHES)
        sizes = [resident_mb(bench.pid)]
        for opened in (single, replicated):
            fill(bench, *opened, batch, 1, count)
            sizes.append(resident_mb(bench.pid))
    outcome = ScenarioResult(answers=2 * count)
    before, between, after = sizes
    if before is not None and between is not None and after is not None:
        outcome.resident_mb = after - between
        outcome.times_one_replica = (after - between) / (between - before)
    return outcome
