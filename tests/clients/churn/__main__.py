"""`python -m tests.clients.churn`: many members join and leave for a minute, on two releases."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from rich.console import Console

from mockbroker import ReleaseName

from .driver import Plan, run

RELEASES: Final[tuple[ReleaseName, ...]] = ("3.9", "4.4")
out: Final = Console(highlight=False, markup=False, soft_wrap=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.churn", description=__doc__)
    parser.add_argument("--members", type=int, default=50, help="how many there are most of the time")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long they join and leave")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kafka", choices=RELEASES, help="one release; both by default")
    given = parser.parse_args()
    bad = 0
    for release in RELEASES:
        if given.kafka not in (None, release):
            continue
        plan = Plan(release, given.seed, given.members, given.members, given.seconds, pause_s=0.4)
        outcome = run(plan)
        out.print(
            f"{plan}: {outcome.written} records written, {outcome.again} read again, "
            f"{outcome.generations} generations"
        )
        out.print(f"{outcome.refused:7} beginnings explained by aiokafka's reading of a refused OffsetFetch")
        out.print(f"{outcome.kept:7} times kafka-python went on from its own position in an eager rebalance")
        for what, count in sorted(outcome.did.items()) + sorted(outcome.errors.items()):
            out.print(f"{count:7} {what}")
        for violation in outcome.violations:
            out.print(f"VIOLATION: {violation}")
        bad += len(outcome.violations)
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
