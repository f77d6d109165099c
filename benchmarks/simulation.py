"""How many simulated requests a core handles in a second, by kinds of producers, topics and groups.

`python -m benchmarks.simulation --seeds 500 --rounds 3`
"""

import argparse
import sys
import time
from typing import Final

from mockbroker.simulation.exploring import Variant, run
from mockbroker.simulation.plan import Options
from mockbroker.simulation.producer_setting import Generation

KINDS: Final = {
    "plain": {"producer": Generation.PLAIN, "transactional": False, "compacted": False},
    "idempotent": {"producer": Generation.V2_5, "transactional": False, "compacted": False},
    "transactional": {"producer": Generation.V2_5, "transactional": True, "compacted": False},
    "compacted": {"producer": Generation.V2_5, "transactional": False, "compacted": True},
    "consumer group": {"consumer_groups": True},
    "share group": {"share_groups": True},
    "mixed": {},
}
"""What is chosen; seeds choose the rest, all of it in `mixed`."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3, help="of which the fastest counts")
    parser.add_argument("--kafka", default="4.4")
    given = parser.parse_args()
    list(run(Variant("first", Options(given.kafka)), range(3)))
    fastest: dict[str, tuple[float, float]] = {}
    for _ in range(given.rounds):
        for name, chosen in KINDS.items():
            options = Options(given.kafka, **chosen)  # type: ignore[arg-type]
            began = time.process_time()
            requests = sum(row["requests"] for row in run(Variant(name, options), range(given.seeds)))
            took = time.process_time() - began
            fastest[name] = max(fastest.get(name, (0.0, 0.0)), (requests / took, given.seeds / took))
    sys.stdout.write(f"Kafka {given.kafka}, {given.seeds} histories of each kind, in a second of CPU time\n")
    for name, (requests_per_s, histories_per_s) in fastest.items():
        sys.stdout.write(f"{name:16}{requests_per_s:8,.0f} requests {histories_per_s:6,.0f} histories\n")


if __name__ == "__main__":
    main()
