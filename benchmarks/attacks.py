"""How long a good client waits while others attack the broker: `python -m benchmarks.attacks`.

In each row a broker is started afresh. One client produces 100 B every few milliseconds, and each time asks
on a new connection too, while the attack goes on in another process; the first row is without any.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from benchmarks.apis import Broker, api_versions
from benchmarks.attackers import ATTACKS, FLOODS, bomb_frame
from benchmarks.bench import Bench, ScenarioResult, clock
from benchmarks.login_attacks import OPTIONS as LOGIN_OPTIONS
from benchmarks.login_attacks import OPTIONS_OF
from benchmarks.peers import OURS, PEERS, started
from benchmarks.process import resident_mb
from benchmarks.records import build_batch
from benchmarks.trees import ROOT
from benchmarks.wire import WrongAnswerError

AIM_MS: Final = 250
_PAUSE_SECONDS: Final = 0.002
_PREPARING_SECONDS: Final = 180
_BOMBS: Final = 3
_OPTIONS: Final = ("--control", "0", "--config", "mockbroker.client.telemetry=true", *LOGIN_OPTIONS)
"""What some attacks need."""


@dataclass
class Waited:
    """How long the good client waited for its answers, and for a connection with its first answer."""

    answers_ns: list[int]
    connections_ns: list[int]

    def p99_ms(self) -> float:
        return sorted(self.answers_ns)[len(self.answers_ns) * 99 // 100] / 1e6

    def most_ms(self) -> float:
        return max(self.answers_ns) / 1e6

    def connecting_ms(self) -> float:
        return max(self.connections_ns) / 1e6


@contextmanager
def under_attack(
    name: str | None, address: str, topic: str, seconds: float, control: str | None
) -> Iterator[None]:
    """An attacker in a process of its own, from when it has begun to when it has ended."""
    if name is None:
        yield
        return
    command = [sys.executable, "-m", "benchmarks.attackers", name, address, topic, str(seconds)]
    command += [] if control is None else ["--control", control]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as attacker:
        assert attacker.stdout is not None
        try:
            if not attacker.stdout.readline():
                raise WrongAnswerError(f"{name} could not begin")
            yield
            if attacker.poll():
                raise WrongAnswerError(f"{name} ended early, with exit status {attacker.returncode}")
        finally:
            attacker.kill()


def beside(bench: Bench, name: str | None, seconds: float, control: str | None = None) -> Waited:
    """The good client's times while an attack goes on. WrongAnswerError when it is answered wrongly."""
    waited = Waited([], [])
    with bench.topic("good") as (connection, partition):
        frame = bench.broker.produce_frame(partition, build_batch(1, 100))
        # The attacker takes part of its time to prepare what it sends.
        lasting = seconds + _PREPARING_SECONDS
        with under_attack(name, bench.broker.address, partition.topic, lasting, control):
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                start = clock()
                reader = connection.call(frame)
                waited.answers_ns.append(clock() - start)
                produced = bench.broker.read_produced(reader)
                if produced.error or produced.value != len(waited.answers_ns) - 1:
                    raise WrongAnswerError(f"beside {name}: error {produced.error}, offset {produced.value}")
                start = clock()
                with bench.broker.connect() as other:
                    api_versions(other)
                waited.connections_ns.append(clock() - start)
                time.sleep(_PAUSE_SECONDS)
    return waited


def worst(bench: Bench) -> ScenarioResult:
    """One good client beside each attack in turn: its times beside the worst of them."""
    outcome = ScenarioResult()
    latencies: list[int] = []
    for name in FLOODS:
        waited = beside(bench, name, bench.seconds)
        outcome.answers += len(waited.answers_ns)
        outcome.take_latencies(waited.answers_ns)
        if not latencies or waited.p99_ms() * 1e6 > latencies[len(latencies) * 99 // 100]:
            latencies = sorted(waited.answers_ns)
    outcome.take_latencies(latencies)
    outcome.conclude(len(latencies), sum(latencies) / 1e9)
    return outcome


def refuse_a_bomb(bench: Bench) -> ScenarioResult:
    """From sending 60 KB that would decompress to 2 GB to the answer that refuses them."""
    with bench.topic("bomb") as (connection, partition):
        frame = bomb_frame(partition.topic)

        def bombs() -> tuple[list[int], int]:
            latencies = []
            for _ in range(_BOMBS):
                start = clock()
                reader = connection.call(frame)
                latencies.append(clock() - start)
                if not reader.skip("isii").int16():
                    raise WrongAnswerError("the bomb was taken")
            return latencies, sum(latencies)

        outcome = bench.timed(bombs)
        bench.broker.check_log_end(connection, partition, 0)
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5, help="of each row")
    parser.add_argument("--only", default="", help=f"comma-separated: {', '.join(ATTACKS)}")
    given = parser.parse_args()
    chosen = [name for name in given.only.split(",") if name]
    (ours,) = [peer for peer in PEERS if peer.name == OURS]
    out = sys.stdout.write
    out(f"{'beside':16}{'answers':>8}{'p50 ms':>9}{'p99 ms':>9}{'longest':>9}{'connect':>9}{'MB':>8}\n")
    failed = False
    for name in [None, *(each for each in ATTACKS if not chosen or each in chosen)]:
        with ExitStack() as stack:
            options = (*_OPTIONS, *OPTIONS_OF.get(name or "", ()))
            running = stack.enter_context(started([*ours.commands().by_brokers[1], *options]))
            bench = Bench(Broker(running.address), running.pid, given.seconds, 0)
            try:
                waited = beside(bench, name, given.seconds, running.control)
            except (WrongAnswerError, OSError) as wrong:
                out(f"{name or 'nobody':16}ERR {wrong}\n")
                sys.stdout.flush()
                failed = True
                continue
            p50 = sorted(waited.answers_ns)[len(waited.answers_ns) // 2] / 1e6
            out(
                f"{name or 'nobody':16}{len(waited.answers_ns):8}{p50:9.2f}{waited.p99_ms():9.1f}"
                f"{waited.most_ms():9.1f}{waited.connecting_ms():9.1f}{resident_mb(running.pid) or 0:8.0f}\n"
            )
            sys.stdout.flush()
            failed = failed or waited.p99_ms() > AIM_MS
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
