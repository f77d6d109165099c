"""How long the log cleaner takes for a large `__consumer_offsets`, and how long others wait meanwhile.

`python -m benchmarks.compacting --records 1000000`
"""

from __future__ import annotations

import time
from functools import partial
from typing import Final

from benchmarks import loading
from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster

_CONFIG: Final = {"offsets.topic.segment.bytes": "4000000", "log.cleaner.backoff.ms": "100"}


def compact(cluster: MockCluster) -> float:
    """Seconds until every replica is compacted. SystemExit if there is nothing to compact."""
    if not cluster.run(has_closed_segments):
        raise SystemExit("too few records: they don't fill a segment, and the last one is never compacted")
    cluster.policies.set("compaction", "runs")
    began = time.perf_counter()
    cluster.run(partial(loading.fill, begin=0, until=1, keys=1))
    while not cluster.run(is_compacted):
        time.sleep(0.01)
    return time.perf_counter() - began


def has_closed_segments(core: Cluster) -> bool:
    return all(len(log.segments.all) > 1 for log in core.offsets_partition(loading.GROUP).logs.values())


def is_compacted(core: Cluster) -> bool:
    return all(log.segments.first_dirty for log in core.offsets_partition(loading.GROUP).logs.values())


if __name__ == "__main__":
    loading.main(__doc__, "compacted", compact, _CONFIG)
