"""A history in words, line by line: what was done, what clients did, and how brokers changed."""

from collections.abc import Callable
from typing import Final, NamedTuple

from ..cluster.cluster import Cluster
from ..trace import Event, events
from ..trace.states import States

_TOLD: Final = frozenset(
    {events.Leader, events.InSyncReplicas, events.LogStart, events.Truncation, events.Follower}
)
STEP: Final = "step"
VIOLATION: Final = "VIOLATION"


class Line(NamedTuple):
    """`at_ms` counts from the start; `who` is a client, a broker, or one of `STEP` and `VIOLATION`."""

    at_ms: int
    who: str
    what: str

    def __str__(self) -> str:
        return f"{self.at_ms / 1000:8.3f} s  {self.who:10}  {self.what}"


class Timeline:
    """Keeps lines. Before each line it adds what has changed in the cluster since the previous one."""

    def __init__(self, cluster: Cluster, start_ms: int) -> None:
        self._cluster, self._start_ms = cluster, start_ms
        self._states = States(cluster, details=False)
        self._said: dict[str, str] = {}
        self.lines: list[Line] = []

    def tell(self, who: str, what: str) -> None:
        """Adds a line, unless it repeats the one before."""
        self.look()
        at_ms = self._cluster.now_ms - self._start_ms
        if self._said.get(who) != what or who in (STEP, VIOLATION):
            self._said[who] = what
            self.lines.append(Line(at_ms, who, what))

    def look(self) -> None:
        """Adds what has changed in the cluster since the last look."""
        for kind, values in self._states.changes():
            if kind in _TOLD and not str(values[0]).startswith("__"):
                make: Callable[..., Event] = kind
                at_ms = self._cluster.now_ms - self._start_ms
                self.lines.append(Line(at_ms, "cluster", make(0, 0, *values).text()))


def until(lines: tuple[Line, ...], invariant: str) -> tuple[Line, ...]:
    """The lines up to the first violation of `invariant`, or all lines if there is none."""
    for index, line in enumerate(lines):
        if line.who == VIOLATION and line.what.startswith(f"{invariant}:"):
            return lines[: index + 1]
    return lines
