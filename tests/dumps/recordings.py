"""Files of real clusters, and what their brokers answered."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent / "recorded"
"""Each release has segments in `data`, and a dump of them."""
RELEASES = ("3.9.2", "4.4.0")
PIPELINE = Path(__file__).parents[1] / "pipeline" / "recorded"
"""Of clusters whose offsets topic has one partition, with dumps by more tools."""
PARTITIONS = 7

Committed = dict[str, dict[tuple[str, int], tuple[int, str]]]


def committed(release: str) -> Committed:
    """Offset and metadata of each group and partition, as the broker answered before it was killed."""
    told = json.loads((HERE / release / "committed.json").read_text())
    return {
        group: {_partition(name): (at, text) for name, (at, text) in offsets.items()}
        for group, offsets in told.items()
    }


def _partition(name: str) -> tuple[str, int]:
    topic, _, index = name.rpartition("-")
    return topic, int(index)
