"""Recorded sequences, played to a mock alone: no Java is needed."""

import time
from collections.abc import Iterator, Sequence

from ...cluster_options import unchecked
from ...rig.scene import Target
from ...server.mock_cluster import MockCluster
from .comparing import Difference, first_difference
from .connecting import configured, connected
from .playing import BEHIND_MS, Playing
from .recordings import Recorded


def replay(recorded: Sequence[Recorded]) -> Iterator[tuple[Recorded, Difference | None]]:
    """Each with the first answer of a mock of its release that is not the real broker's, None if all are."""
    for release, brokers, acls in dict.fromkeys(map(_cluster, recorded)):
        config = configured(release, acls=acls)
        with MockCluster(kafka=unchecked(release), brokers=brokers, config=config) as cluster:
            target = connected(cluster.bootstrap_servers)
            for number, each in enumerate(recorded):
                if _cluster(each) == (release, brokers, acls):
                    yield each, _played(target, each, f"x{number:07x}", cluster)


def _cluster(recorded: Recorded) -> tuple[str, int, bool]:
    """The release, the size, and whether it has an authorizer."""
    return recorded.kafka, recorded.sequence.brokers, recorded.sequence.has_acls


def _played(target: Target, recorded: Recorded, suffix: str, cluster: MockCluster) -> Difference | None:
    now_ms = int(time.time() * 1000) - BEHIND_MS
    got = Playing(target, recorded.sequence, suffix, now_ms, cluster, recorded.answers).play()
    return first_difference(recorded.sequence, recorded.answers, got)
