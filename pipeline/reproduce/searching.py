"""Looks for the history that shows most of an incident."""

from collections.abc import Callable
from dataclasses import dataclass

from ...simulation.history import happen
from ...simulation.plan import Plan
from ...simulation.shrinking import shrink
from ..errors import PipelineError
from ..reproduction import Reproduction
from .matching import matched, shown
from .reading import Recorded

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Closest:
    """A history, the same where the incident is prevented, and the places of the incident's signatures that
    the first shows."""

    plan: Plan
    prevented: Plan
    matched: frozenset[int]


def search(
    incident: Recorded,
    kind: Reproduction,
    kafka: str | None,
    seed: int,
    histories: int,
    tell: Tell = lambda _: None,
    tell_progress: Tell = lambda _: None,
) -> Closest | None:
    """The history of the first seed that shows everything, else of the first that shows most; made as small
    as possible if it was drawn. `tell` is told of each step, `tell_progress` of each history.

    None if histories can't show it, PipelineError if none of them does.
    """
    if (plan := kind.plan) is None:
        return None
    best: Closest | None = None
    tell(f"trying {histories} histories")
    for each in range(seed, seed + histories):
        tell_progress(f"{each - seed} of {histories} histories tried")
        found = _try(incident, kind, plan(each, kafka or kind.kafka))
        if found is not None and (best is None or len(found.matched) > len(best.matched)):
            best = found
        if best is not None and len(best.matched) == len(incident.signatures):
            break
    if best is None:
        raise PipelineError(
            f"none of {histories} histories of Kafka {kafka or kind.kafka} shows {incident.name}: try more "
            "with --histories, or --kafka"
        )
    if kind.invariant is None:
        return best
    tell(f"making the history of seed {best.plan.seed} smaller")
    smaller = _try(incident, kind, shrink(best.plan, kind.invariant))
    return smaller if smaller is not None and smaller.matched >= best.matched else best


def _try(incident: Recorded, kind: Reproduction, plan: Plan) -> Closest | None:
    """None if it does not show the incident, or shows it although it is prevented."""
    prevented = kind.prevented(plan)
    if (wrong := kind.invariant) and (not _violates(plan, wrong) or _violates(prevented, wrong)):
        return None
    lines = happen(plan, recording=True).lines
    seen = list(shown(lines, kind.invariant, incident.name))
    return Closest(plan, prevented, matched(incident.signatures, seen))


def _violates(plan: Plan, invariant: str) -> bool:
    return any(each.invariant == invariant for each in happen(plan).violations)
