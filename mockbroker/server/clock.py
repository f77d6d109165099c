"""How time passes in a running cluster."""

import time

from ..cluster.cluster import Cluster
from ..duration import Duration, later

__tracebackhide__ = True


class Clock:
    """The time of a cluster: the wall clock, which can be moved ahead and goes on from there, or a manual
    clock, which only `advance` moves.

    While a manual clock stands still, clients wait for answers by their own clocks. So what a request waits
    for (`Cluster.wait`) also ends when that time has passed outside; everything else happens only by
    `advance`.
    """

    def __init__(self, cluster: Cluster, manual: bool) -> None:
        self.manual = manual
        self.elapsed_ms = 0
        self.started = time.monotonic()
        self._cluster = cluster
        self._epoch_ms = cluster.now_ms

    @property
    def now_ms(self) -> int:
        """Unix time, which never goes back."""
        self.catch_up()
        return self._cluster.now_ms

    def advance(self, by: Duration) -> None:
        """Moves the time ahead: everything that is due by then happens, in order, each at its own time.

        Must be called in the cluster's thread, before `Pump.poke`. ValueError.
        """
        self.catch_up()
        self._cluster.advance(later(self._cluster.now_ms, by), self._waited_ms)

    def catch_up(self) -> None:
        """Lets as much time pass as has passed outside."""
        self.elapse(int((time.monotonic() - self.started) * 1000))

    def elapse(self, elapsed_ms: int) -> None:
        """Lets time pass until `elapsed_ms` after the start."""
        cluster = self._cluster
        # Somebody may have moved the cluster's time ahead, and with it this clock.
        self._epoch_ms = max(self._epoch_ms, cluster.now_ms - self.elapsed_ms)
        self.elapsed_ms = elapsed_ms
        if self.manual:
            cluster.advance(cluster.now_ms, elapsed_ms)
        else:
            cluster.advance(self._epoch_ms + elapsed_ms)

    def seconds_until(self, elapsed_ms: float) -> float:
        """How long until so many ms have passed since the start, outside."""
        return max(0.0, self.started + elapsed_ms / 1000 - time.monotonic())

    @property
    def _waited_ms(self) -> int:
        return self.elapsed_ms if self.manual else 0

    def seconds_left(self) -> float:
        """How long until something is due, if nobody moves the clock."""
        cluster = self._cluster
        deadline = cluster.next_deadline()
        if self.manual and deadline is not None and deadline > cluster.now_ms:
            deadline = cluster.environment.timers.next_wait()
        if deadline is None:
            return float("inf")
        since = time.monotonic() - self.started - self.elapsed_ms / 1000
        return max(0.0, (deadline - cluster.now_ms) / 1000 - since)
