"""What a cluster keeps of each thing is small."""

import pytest

from benchmarks.growth import MADE
from benchmarks.memory import each
from mockbroker.cluster.cluster import Cluster

MOST = {
    "topics": 1_800,
    "partitions": 5_000,
    "groups": 6_000,
    "members": 4_800,
    "producers": 850,
    "sessions": 1_100,
}
"""Bytes; one and a half times what they took when this was written."""


@pytest.mark.parametrize("kind", MADE)
def test_each_takes_little(kind: str) -> None:
    assert 0 < each(MADE[kind], 200) < MOST[kind]


def test_what_is_kept_is_seen() -> None:
    kept: list[bytes] = []

    def keep(_: Cluster, n: int) -> None:
        kept.extend(bytes(10_000) for _ in range(n))

    assert 10_000 <= each(keep, 100) < 10_500
