"""How long the log cleaner takes for a large `__consumer_offsets`, and how long others wait meanwhile.

`python -m benchmarks.compacting --records 1000000`
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from typing import Final

from benchmarks.loading import CONFIG, GROUP, beside, fill, fill_all, tell
from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster

_CONFIG: Final = {**CONFIG, "offsets.topic.segment.bytes": "4000000", "log.cleaner.backoff.ms": "100"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=50_000, help="Partitions of groups that are committed.")
    parser.add_argument("--seconds", type=float, default=2.0, help="Measured time before the compaction.")
    given = parser.parse_args()
    with MockCluster(brokers=2, config=_CONFIG, policies={"compaction": "dead"}) as cluster:
        cluster.create_topic("orders", partitions=1)
        fill_all(cluster, given.records, given.keys)
        took, before, during = beside(cluster, given.seconds, partial(compact, cluster))
    sys.stdout.write(f"{given.records:,} records of {given.keys:,} keys compacted in {took:.2f} s\n")
    tell(before, during)


def compact(cluster: MockCluster) -> float:
    """Seconds until every replica is compacted."""
    cluster.policies.set("compaction", "runs")
    began = time.perf_counter()
    cluster.run(partial(fill, begin=0, until=1, keys=1))
    while not cluster.run(is_compacted):
        time.sleep(0.01)
    return time.perf_counter() - began


def is_compacted(core: Cluster) -> bool:
    return all(log.segments.first_dirty for log in core.offsets_partition(GROUP).logs.values())


if __name__ == "__main__":
    main()
