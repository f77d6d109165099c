"""Scenarios of connections: many at once, and each as it begins."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.apis import NotOfferedError, api_versions
from benchmarks.bench import Bench, ScenarioResult, clock
from benchmarks.crowd import Crowd
from benchmarks.flight import explain, learn_layout
from benchmarks.records import build_batch
from benchmarks.wire import Connection, Reader, WrongAnswerError

PATIENCE_NS = 20 * 10**9
"""For all connections to be there."""


def at_once(bench: Bench, *, count: int) -> ScenarioResult:
    """100 B produced on each of `count` connections, one request in flight on each."""
    batch = build_batch(1, 100)
    with bench.topic("connections") as (first, partition), ExitStack() as stack:
        frame = bench.broker.produce_frame(partition, batch)
        first.socket.sendall(frame)
        room = memoryview(bytearray(1 << 16))
        answer = room[: first.answer_into(room)]
        if (cell := bench.broker.read_produced(Reader(answer))).error or cell.value:
            raise explain(answer, bench.broker.read_produced, 0, 0)
        layout = learn_layout(answer, bench.broker.read_produced)
        links: list[Connection] = []
        deadline = clock() + PATIENCE_NS
        try:
            while len(links) < count and clock() < deadline:
                links.append(stack.enter_context(bench.broker.connect(partition.leader)))
        except OSError as reason:
            raise NotOfferedError(f"{count} connections: {reason}") from None
        if len(links) < count:
            raise NotOfferedError(f"{count} connections: takes {len(links)} in {PATIENCE_NS // 10**9} s")
        crowd = Crowd(links, frame, layout, bench.broker.read_produced)
        crowd.fly(bench.warm_up)
        outcome = bench.timed(lambda: crowd.fly(bench.seconds))
        crowd.offsets.append(0)
        acknowledged = len(crowd.offsets)
        if sorted(crowd.offsets) != list(range(acknowledged)):
            raise WrongAnswerError("an offset was acknowledged twice or not at all")
        bench.broker.check_log_end(first, partition, acknowledged)
    return outcome


def beginning(bench: Bench) -> ScenarioResult:
    """From opening a connection to its first answer, that of ApiVersions; one after the other."""

    def some(seconds: float) -> tuple[list[int], int]:
        latencies: list[int] = []
        start = clock()
        deadline = start + int(seconds * 1e9)
        while (began := clock()) < deadline:
            with bench.broker.connect() as connection:
                api_versions(connection)
                latencies.append(clock() - began)
        return latencies, clock() - start

    some(bench.warm_up)
    return bench.timed(lambda: some(bench.seconds))
