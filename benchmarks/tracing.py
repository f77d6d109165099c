"""What the trace costs: the CPU time of an answer without one, with one that keeps no bodies, and with all.

`python -m benchmarks.tracing --rounds 7`: each round starts the three brokers afresh and measures them in
turn; the median of the rounds' ratios counts.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
from contextlib import ExitStack
from typing import Final, Literal

import trio

from benchmarks.apis import Broker
from benchmarks.bench import Bench
from benchmarks.client import run
from benchmarks.peers import started
from benchmarks.scenarios import choose
from mockbroker import serve

USUAL: Final = "produce-100B-16,epoch-16,fetch-1KB"
KINDS: Final[dict[str, bool | Literal["requests"]]] = {"off": False, "requests": "requests", "on": True}
"""What the trace of each broker keeps."""
GOAL: Final = 1.5
"""What it may cost of produce requests as pytest's fixtures keep it, as a multiple."""
_SERVE: Final = "serve"

Round = dict[str, dict[str, float]]
"""µs of the broker for each answer, by scenario and kind of broker."""


def measure(rotation: int, scenarios: str, seconds: float, warm_up: float) -> Round:
    """One round; `rotation` says which broker comes first."""
    kinds = [*KINDS] * 2
    kinds = kinds[rotation % len(KINDS) :][: len(KINDS)]
    with ExitStack() as stack:
        benches = {}
        for kind in kinds:
            running = stack.enter_context(started([sys.executable, "-m", "benchmarks.tracing", _SERVE, kind]))
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


def summary(rounds: list[Round]) -> list[str]:
    """The medians of each scenario, and how far the rounds' ratios are apart."""
    lines = []
    for name in rounds[0]:
        usual, *others = KINDS
        cost = statistics.median(each[name][usual] for each in rounds)
        lines.append(f"{name}: {cost:.2f} µs for each answer without a trace")
        for kind in others:
            ratios = sorted(each[name][kind] / each[name][usual] for each in rounds)
            middle = statistics.median(ratios)
            lines.append(f"  {kind}: {middle:.3f} times that ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    return lines


async def serve_one(kind: str) -> None:
    """A broker with this trace. Its address is the line it prints."""
    async with serve(brokers=1, trace=KINDS[kind]) as cluster:
        sys.stdout.write(f"{cluster.bootstrap_servers}\n")
        sys.stdout.flush()
        await trio.sleep_forever()


def main() -> None:
    if sys.argv[1:2] == [_SERVE]:
        trio.run(serve_one, sys.argv[2])
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
    sys.stdout.write("\n".join([*summary(rounds), f"goal: requests of produce {GOAL} at most"]) + "\n")


if __name__ == "__main__":
    main()
