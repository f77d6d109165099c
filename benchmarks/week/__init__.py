"""A week of all kinds of traffic, hour by hour."""

from collections import Counter
from typing import Final

from benchmarks.kept import kept

from . import operations, traffic
from .stage import START_MS, WeekCluster

HOUR_MS: Final = 3600 * 1000


class Week(WeekCluster):
    """The cluster, and what goes on in it hour by hour, or every `step_hours`."""

    def __init__(
        self, kafka: str = "4.4", seed: int = 1, *, traced: bool = True, step_hours: int = 1
    ) -> None:
        super().__init__(kafka, seed, traced=traced)
        self._step_ms = step_hours * HOUR_MS

    def kept(self) -> Counter[str]:
        return kept(self.cluster, self.faults, self.trace)

    def play(self, hours: int) -> None:
        """So many hours go by."""
        for _ in range(hours * HOUR_MS // self._step_ms):
            self._play_step()

    def _play_step(self) -> None:
        end_ms = START_MS + (self.hour + 1) * self._step_ms
        for happens in (
            traffic.produce,
            traffic.transactions,
            traffic.groups,
            traffic.topics,
            traffic.sessions,
            traffic.connections,
            operations.configurations,
            operations.faults,
            operations.brokers,
        ):
            happens(self)
            self.pass_ms(60_000)
        self.hour += 1
        self.cluster.advance(end_ms)
