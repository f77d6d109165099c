"""A real broker and a mock side by side, and what differs between them."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, Self

from ...cluster_options import unchecked
from ...rig.real_broker import RealCluster
from ...rig.scene import Target
from ...rig.setup import QUICK_CONFIG
from ...server.mock_cluster import MockCluster
from .comparing import Difference, first_difference
from .connecting import configured, connected
from .generating import sequence
from .playing import BEHIND_MS, Playing
from .shrinking import shrunk
from .steps import MOVE, RESTARTS, Sequence
from .together import Together

_TOPICS_KEPT: Final = 40
_SHRUNK_EACH: Final = 1
"""How many sequences of one signature are made small."""


@dataclass
class Found:
    """All differences of one signature."""

    signature: str
    count: int = 0
    sequence: Sequence | None = None
    expected: list[Any] = field(default_factory=list)
    difference: Difference | None = None
    names: list[str] = field(default_factory=list)


class Pair:
    """Clusters of one release and size, real and mock."""

    def __init__(
        self, release: str, against: str | None = None, brokers: int = 1, *, acls: bool = False
    ) -> None:
        """`against` has the addresses of real brokers that run already; else they are started, with an
        authorizer for `acls`."""
        self.release = release
        self.brokers = brokers
        self._against = against
        quick = brokers > 1 and not against
        config = {**configured(release, acls=acls), **(QUICK_CONFIG if quick else {})}
        self._real = None if against else RealCluster(release, brokers, config)
        self._mock = MockCluster(kafka=unchecked(release), brokers=brokers, config=config)
        self._pool = ThreadPoolExecutor(2)
        self._played = 0
        self.targets: list[Target] = []

    def __enter__(self) -> Self:
        if self._real is not None:
            self._real.start()
            self._against = self._real.bootstrap_servers
        assert self._against is not None
        self._mock.start()
        addresses = (self._against, self._mock.bootstrap_servers)
        self.targets = [connected(each) for each in addresses]
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()
        try:
            self._mock.stop()
        finally:
            if self._real is not None:
                self._real.stop()

    @property
    def versions(self) -> dict[str, list[int]]:
        """By API, what both have; also of `MOVE` and `RESTARTS`."""
        real, mock = self.targets
        found = {api: sorted(set(real.supported(api)) & set(mock.supported(api))) for api in real.versions}
        # Brokers that somebody else has started can't be stopped from here.
        if self.brokers == 1:
            return found
        return found | {each: [0] for each in ((MOVE,) if self._real is None else (MOVE, *RESTARTS))}

    def answers(self, steps: Sequence) -> tuple[list[Any], list[Any]]:
        """Of the real broker and of the mock."""
        self._played += 1
        suffix = f"x{self._played:04x}{time.time_ns() // 1000 % 0xFFF:03x}"
        now_ms = int(time.time() * 1000) - BEHIND_MS
        together = Together(len(self.targets))
        games = [
            Playing(target, steps, suffix, now_ms, brokers, together=together, rank=rank)
            for rank, (target, brokers) in enumerate(zip(self.targets, (self._real, self._mock), strict=True))
        ]
        played = [self._pool.submit(game.play) for game in games]
        expected, got = (each.result() for each in played)
        for target, game in zip(self.targets, games, strict=True):
            target.unneeded += sorted(game.topics)
            target.delete_topics(at_least=_TOPICS_KEPT)
        return expected, got

    def difference(self, steps: Sequence) -> Difference | None:
        return first_difference(steps, *self.answers(steps))


def run(
    pair: Pair,
    seed: int,
    count: int,
    *,
    first: int = 0,
    malformed: bool = False,
    family: str | None = None,
    report: Callable[[dict[str, Found], Counter[str]], None] = lambda found, unstable: None,
) -> tuple[dict[str, Found], Counter[str]]:
    """What differs, twice over, by signature; and what differed once only."""
    found: dict[str, Found] = {}
    unstable: Counter[str] = Counter()
    for number in range(first, first + count):
        drawn = sequence(
            seed, number, pair.versions, malformed_steps=malformed, family=family, brokers=pair.brokers
        )
        difference = pair.difference(drawn)
        if difference is not None:
            again = pair.difference(drawn)
            if again is None or again.signature != difference.signature:
                unstable[difference.signature] += 1
            else:
                _count(pair, drawn, difference, found)
        report(found, unstable)
    return found, unstable


def _count(pair: Pair, drawn: Sequence, difference: Difference, found: dict[str, Found]) -> None:
    entry = found.setdefault(difference.signature, Found(difference.signature))
    entry.count += 1
    entry.names.append(drawn.name)
    if entry.count > _SHRUNK_EACH:
        return
    entry.sequence = shrunk(drawn, difference, pair.difference)
    entry.expected, got = pair.answers(entry.sequence)
    entry.difference = first_difference(entry.sequence, entry.expected, got) or difference
