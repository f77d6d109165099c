"""The steps by which an incident comes about: those that its kind names, at times that a seed chooses."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from ...simulation.plan import Plan, Step

_LATE_MS: Final = 3_000


def _unclean_election(seed: int, kafka: str) -> Plan:
    """A replica is left behind, those in sync go down, and it is elected. The files don't tell when the
    others came back, compared with when consumers noticed: the seed chooses."""
    back_ms = 4_000 + Random(f"{seed}").randrange(_LATE_MS)
    written = {"producer": 0, "count": 2}
    steps = (
        Step(0, "rebalance"),
        Step(100, "produce", written),
        Step(1_000, "stop-broker", {"broker": 3}),
        Step(1_500, "produce", written),
        Step(2_500, "stop-broker", {"broker": 2}),
        Step(2_600, "kill-broker", {"broker": 1}),
        Step(4_000, "start-broker", {"broker": 3}),
        Step(back_ms, "start-broker", {"broker": 2}),
        Step(back_ms, "start-broker", {"broker": 1}),
    )
    return Plan(seed, kafka, unclean=True, commit_rate=1.0, steps=steps)


SCHEDULES: Final[Mapping[str, Callable[[int, str], Plan]]] = {"unclean-election": _unclean_election}
"""By the incident's name."""
