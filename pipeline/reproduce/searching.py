"""Looks for the history that shows most of an incident."""

from dataclasses import dataclass

from ...simulation.history import happen
from ...simulation.plan import Plan
from ..errors import PipelineError
from .matching import matched, shown
from .reading import Recorded
from .schedules import SCHEDULES


@dataclass(frozen=True, slots=True)
class Closest:
    """A history, and the places of the incident's signatures that it shows."""

    plan: Plan
    matched: frozenset[int]


def search(incident: Recorded, kafka: str, seed: int, histories: int) -> Closest:
    """The history of the first seed that shows everything, else of the first that shows most.

    PipelineError if nothing is known of how such an incident comes about.
    """
    schedule = SCHEDULES.get(incident.name)
    if schedule is None:
        known = ", ".join(sorted(SCHEDULES))
        raise PipelineError(f"{incident.name} can't be reproduced yet: known is {known}")
    best: Closest | None = None
    for each in range(seed, seed + histories):
        plan = schedule(each, kafka)
        found = matched(incident.signatures, list(shown(happen(plan, recording=True).lines)))
        if best is None or len(found) > len(best.matched):
            best = Closest(plan, found)
        if len(found) == len(incident.signatures):
            break
    assert best is not None
    return best
