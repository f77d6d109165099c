"""Recorded sequences, played to a mock alone: no Java is needed."""

import time
from collections.abc import Iterator, Sequence

from ...rig.scene import Target
from ...server.mock_cluster import MockCluster
from .comparing import Difference, first_difference
from .connecting import connected, login_addresses, mock
from .playing import BEHIND_MS, Playing
from .recordings import Recorded
from .steps import Needs


def replay(recorded: Sequence[Recorded]) -> Iterator[tuple[Recorded, Difference | None]]:
    """Each with the first answer of a mock of its release that is not the real broker's, None if all are."""
    for kind in dict.fromkeys(map(_cluster, recorded)):
        with mock(*kind) as cluster:
            target = connected(cluster.bootstrap_servers)
            for number, each in enumerate(recorded):
                if _cluster(each) == kind:
                    yield each, _played(target, each, f"x{number:07x}", cluster)


def _cluster(recorded: Recorded) -> tuple[str, int, Needs]:
    """The release, the size, and what it has for the sequence."""
    return recorded.kafka, recorded.sequence.brokers, recorded.sequence.needs


def _played(target: Target, recorded: Recorded, suffix: str, cluster: MockCluster) -> Difference | None:
    now_ms = int(time.time() * 1000) - BEHIND_MS
    sequence = recorded.sequence
    logins = login_addresses(cluster) if sequence.needs.logins else ()
    got = Playing(target, sequence, suffix, now_ms, cluster, recorded.answers, logins=logins).play()
    return first_difference(sequence, recorded.answers, got)
