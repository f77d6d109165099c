"""The load client, a process of its own: `python -m benchmarks.client HOST:PORT`.

Writes JSON lines: the agreed versions first, then one line as each scenario ends.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from dataclasses import asdict

from benchmarks.apis import SPOKEN, Broker, NotOfferedError
from benchmarks.bench import Bench, ScenarioResult
from benchmarks.scenarios import Scenario, choose
from benchmarks.wire import WrongAnswerError


def run(bench: Bench, scenario: Scenario) -> ScenarioResult:
    """Run a scenario; what goes wrong becomes part of its outcome."""
    try:
        return scenario.run(bench)
    except NotOfferedError as missing:
        return ScenarioResult(left_out=str(missing))
    except (WrongAnswerError, OSError) as wrong:
        return ScenarioResult(error=str(wrong) or type(wrong).__name__)


def _write(line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.client", description="Measure one broker.")
    parser.add_argument("address", help="HOST:PORT of the broker")
    parser.add_argument("--pid", type=int, help="the broker's process, for its CPU time and memory")
    parser.add_argument("--seconds", type=float, default=0.7, help="measured time of each scenario")
    parser.add_argument("--warm-up", type=float, default=0.15, help="seconds before each measurement")
    parser.add_argument("--scenarios", default="", help="comma-separated name prefixes")
    parser.add_argument("--tls", action="store_true", help="speak TLS, whatever its certificate")
    asked = parser.parse_args()
    gc.disable()
    try:
        broker = Broker(asked.address, tls=asked.tls)
    except (WrongAnswerError, OSError) as wrong:
        raise SystemExit(f"ApiVersions: {wrong}") from None
    _write({"versions": {SPOKEN[key].name: version for key, version in sorted(broker.versions.items())}})
    bench = Bench(broker, asked.pid, asked.seconds, asked.warm_up)
    for scenario in choose(asked.scenarios):
        _write({"scenario": scenario.name, **asdict(run(bench, scenario))})
        gc.collect()


if __name__ == "__main__":
    main()
