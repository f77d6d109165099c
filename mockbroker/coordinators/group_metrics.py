"""What a group coordinator counts (`GroupCoordinatorMetrics.java`, `CoordinatorRuntimeMetricsImpl.java`)."""

from collections import deque
from typing import Final

from ..environment import Environment

_KEPT_MS: Final = 60_000
"""`metrics.num.samples` times `metrics.sample.window.ms`."""


class GroupMetrics:
    """Since the broker started: `offset_commits` are the offsets that were committed."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._loads: Final[deque[tuple[int, int]]] = deque()
        """When each of the last loads ended, and how long it took, in ms."""
        self.offset_commits = 0

    def loaded(self, began_ms: int) -> None:
        """A partition of `__consumer_offsets` has been loaded."""
        now_ms = self._environment.now_ms
        self._loads.append((now_ms, now_ms - began_ms))
        self._forget()

    @property
    def load_times_ms(self) -> list[int]:
        """Those of the last minute."""
        self._forget()
        return [took_ms for _, took_ms in self._loads]

    def _forget(self) -> None:
        while self._loads and self._loads[0][0] <= self._environment.now_ms - _KEPT_MS:
            self._loads.popleft()

    def clear(self) -> None:
        """The broker goes down."""
        self._loads.clear()
        self.offset_commits = 0
