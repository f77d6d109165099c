"""What the trace costs: the CPU time of an answer: without a look for it, idle, without bodies, and on.

`python -m benchmarks.tracing --rounds 7`: each round starts the four brokers of `benchmarks.traced` afresh
and measures them in turn; the median of the rounds' ratios counts.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
from contextlib import ExitStack
from typing import Final

from benchmarks.apis import Broker
from benchmarks.bench import Bench
from benchmarks.client import run
from benchmarks.peers import started
from benchmarks.scenarios import choose
from benchmarks.traced import KINDS

USUAL: Final = "produce-100B-16,epoch-16,fetch-1KB"
GOAL: Final = 1.05
"""What the trace may cost at most when nobody listens, as a multiple."""
GOAL_WITHOUT_BODIES: Final = 1.5
"""What it may cost of produce requests as pytest's fixtures keep it."""

Round = dict[str, dict[str, float]]
"""µs of the broker for each answer, by scenario and kind of broker."""


def measure(rotation: int, scenarios: str, seconds: float, warm_up: float) -> Round:
    """One round; `rotation` says which broker comes first."""
    kinds = [*KINDS[rotation % len(KINDS) :], *KINDS[: rotation % len(KINDS)]]
    with ExitStack() as stack:
        benches = {}
        for kind in kinds:
            running = stack.enter_context(started([sys.executable, "-m", "benchmarks.traced", kind]))
            benches[kind] = Bench(Broker(running.address), running.pid, seconds, warm_up)
        found: Round = {}
        for scenario in choose(scenarios):
            costs = found[scenario.name] = {}
            for kind, bench in benches.items():
                outcome = run(bench, scenario)
                if outcome.broker_cpu_us is None:
                    raise SystemExit(f"{scenario.name}: {outcome.error or outcome.left_out or 'no CPU time'}")
                costs[kind] = outcome.broker_cpu_us
                gc.collect()
    return found


def told(rounds: list[Round]) -> list[str]:
    """The medians of each scenario, and how far the rounds' ratios are apart."""
    lines = []
    for name in rounds[0]:
        usual, *others = KINDS
        cost = statistics.median(each[name][usual] for each in rounds)
        lines.append(f"{name}: {cost:.2f} µs for each answer without a look for the trace")
        for kind in others:
            ratios = sorted(each[name][kind] / each[name][usual] for each in rounds)
            middle = statistics.median(ratios)
            lines.append(f"  {kind}: {middle:.3f} times that ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tracing", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="measured time of each scenario")
    parser.add_argument("--warm-up", type=float, default=0.3, help="seconds before each measurement")
    parser.add_argument("--scenarios", default=USUAL, help="comma-separated name prefixes")
    given = parser.parse_args()
    if not choose(given.scenarios):
        parser.error(f"no scenario begins with {given.scenarios!r}")
    gc.disable()
    rounds = [measure(i, given.scenarios, given.seconds, given.warm_up) for i in range(given.rounds)]
    sys.stdout.write(
        "\n".join([*told(rounds), f"goals: idle {GOAL} at most, requests of produce {GOAL_WITHOUT_BODIES}"])
        + "\n"
    )


if __name__ == "__main__":
    main()
