"""`python -m benchmarks.week`: a week of all kinds of traffic, in the cluster's time, and what is kept of it.

Every hour topics, groups, producers, transactions, sessions, connections, faults and configurations come and
go, and brokers restart. What the cluster keeps is counted at the end of each day: what grows from day to day
is a leak.
"""

import argparse
import sys
from collections import Counter

from benchmarks.kept import ALL

from . import Week


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--kafka", default="4.4")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--step-hours", type=int, default=1, help="less often, with longer pauses")
    parser.add_argument("--no-trace", dest="traced", action="store_false")
    given = parser.parse_args()
    week = Week(given.kafka, given.seed, traced=given.traced, step_hours=given.step_hours)
    days: list[Counter[str]] = []
    for day in range(given.days):
        week.play(24)
        days.append(week.kept())
        sys.stderr.write(f"day {day + 1}: {week.requests:,} requests, {days[-1][ALL]:,} objects\n")
    names = sorted({name for day in days for name in day}, key=lambda name: -days[-1][name])
    sys.stdout.write(
        f"{'kept at the end of day':45}" + "".join(f"{i + 1:8}" for i in range(len(days))) + "\n"
    )
    for name in names:
        counts = [day[name] for day in days]
        if max(counts) > 1:
            sys.stdout.write(f"{name:45}" + "".join(f"{count:8,}" for count in counts) + "\n")


if __name__ == "__main__":
    main()
