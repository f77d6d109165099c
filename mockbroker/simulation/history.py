"""Runs a plan."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from ..cluster.liveness import Liveness
from . import invariants
from .drawing import draw
from .ledger import Violation
from .plan import Plan
from .steps import STEPS
from .timeline import STEP, Line
from .world import World

__all__ = ["HAND_OVER_MS", "History", "calm_down", "draw", "happen"]
HAND_OVER_MS: Final = 1_500
"""By then a rebalance in progress is over."""
_LOOK_AGAIN_MS: Final = 500
_NEW_OBJECTS: Final = 50_000
"""So many new objects until Python looks for reference cycles."""


@dataclass(frozen=True, slots=True)
class History:
    """The result of a plan. `lines` are its timeline, if that was recorded."""

    plan: Plan
    violations: tuple[Violation, ...]
    requests: int
    read_again: int
    lines: tuple[Line, ...] = ()


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Makes Python look for reference cycles less often: looking takes longer than it is worth."""
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_collecting_rarely()
def happen(
    plan: Plan, *, recording: bool = False, watch: Callable[[World], None] = lambda world: None
) -> History:
    """Runs a plan to its quiet end. `watch` is given the world before anything happens."""
    world = World(plan, recording)
    watch(world)
    for step in plan.steps:
        world.run_until(step.at_ms)
        if recording:
            world.tell(STEP, step.in_words)
        STEPS[step.do].do(world, step.args)
    end_ms = plan.steps[-1].at_ms if plan.steps else 0
    calm_down(world)
    world.run_until(end_ms + HAND_OVER_MS)
    waited_ms = _await_loads(world)
    if world.owner is None:
        world.hand_over(commit=True)
    world.run_until(end_ms + waited_ms + plan.quiet_ms)
    invariants.check_end(world)
    return History(
        plan,
        tuple(world.violations),
        world.network.requests,
        sum(each.read_again for each in world.ledger.readings.values()),
        tuple(world.timeline.lines) if world.timeline else (),
    )


def _await_loads(world: World) -> int:
    """Until no coordinator loads groups any more: that may take minutes. Returns for how many ms."""
    began_ms = world.since_start_ms
    while any(broker.groups.shards.loading for broker in world.cluster.brokers.values()):
        world.run_until(world.since_start_ms + _LOOK_AGAIN_MS)
    return world.since_start_ms - began_ms


def calm_down(world: World) -> None:
    """Repairs everything, and has producers commit."""
    invariants.check_fetchers(world)
    world.network.mend_all()
    for broker in world.cluster.brokers.values():
        STEPS["rejoin-broker"].do(world, {"broker": broker.id})
        STEPS["metadata-in-time"].do(world, {"broker": broker.id})
        if broker.liveness is not Liveness.RUNNING:
            STEPS["start-broker"].do(world, {"broker": broker.id})
        STEPS["resume-follower"].do(world, {"broker": broker.id})
    world.finish_transactions()
    for member in world.members:
        member.resume()
        member.start()
    for sharer in world.sharers:
        sharer.careful = True
        sharer.resume()
        sharer.start()
