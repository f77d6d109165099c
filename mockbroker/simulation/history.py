"""Draws a plan from a seed, and lets it happen."""

import random as stdlib_random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from ..cluster.broker import Liveness
from . import invariants
from .consumer import Commit, ConsumerSetting, Reset
from .ledger import Violation
from .network import Random
from .plan import Options, Plan, Step
from .producer import Generation, ProducerSetting
from .steps import STEPS, start_broker
from .world import World

T = TypeVar("T")
_LENGTH_MS: Final = (3_000, 12_000)
_STEPS: Final = (3, 14)
_PRODUCES: Final = (4, 16)
HAND_OVER_MS: Final = 1_500
"""A rebalance that is under way is over by then."""
_DRAWN: Final = [name for name, kind in STEPS.items() for _ in range(kind.weight)]


@dataclass(frozen=True, slots=True)
class History:
    """What came of a plan. `lines` are (ms since the start, who, what), if they were asked for."""

    plan: Plan
    violations: tuple[Violation, ...]
    requests: int
    read_again: int
    lines: tuple[tuple[int, str, str], ...] = ()


def draw(seed: int, options: Options) -> Plan:
    """The plan of a seed: the same for the same options, whatever Python it is."""
    random = stdlib_random.Random(f"{seed}")
    length_ms = _between(random, *_LENGTH_MS)
    steps = [Step(0, "rebalance")]
    steps += [
        Step(_between(random, 0, length_ms), "produce", STEPS["produce"].draw(random))
        for _ in range(_between(random, *_PRODUCES))
    ]
    for _ in range(_between(random, *_STEPS)):
        name = _one_of(random, _DRAWN)
        kind, at_ms = STEPS[name], _between(random, 200, length_ms)
        args = kind.draw(random)
        steps.append(Step(at_ms, name, args))
        if kind.then:
            undo = {each: value for each, value in args.items() if each in ("client", "broker")}
            steps.append(Step(at_ms + _between(random, *kind.follow_ms), kind.then, undo))
    generation = options.producer or _one_of(random, list(Generation))
    return Plan(
        seed=seed,
        kafka=options.kafka,
        policies=dict(options.policies),
        consumer=ConsumerSetting(
            options.commit or _one_of(random, list(Commit)), options.reset or _one_of(random, list(Reset))
        ),
        producers=(ProducerSetting(generation, -1 if random.random() < 0.8 else 1),),
        topics=1 + (random.random() < 0.2),
        unclean=random.random() < 0.3,
        min_insync=1 + (random.random() < 0.3),
        delay_ms=_one_of(random, [2, 10, 60]),
        replica_fetch_bytes=_one_of(random, [150, 1 << 20]),
        commit_rate=_one_of(random, [0.1, 0.5, 1.0]),
        steps=tuple(sorted(steps, key=lambda each: each.at_ms)),
    )


def happen(
    plan: Plan, *, recording: bool = False, watch: Callable[[World], None] = lambda world: None
) -> History:
    """Runs a plan to its quiet end. `watch` gets the world before anything happens."""
    world = World(plan, recording)
    watch(world)
    for step in plan.steps:
        world.run_until(step.at_ms)
        if recording:
            world.tell("*", str(step).split("  ", 1)[1])
        STEPS[step.do].do(world, step.args)
    end_ms = plan.steps[-1].at_ms if plan.steps else 0
    calm_down(world)
    world.run_until(end_ms + HAND_OVER_MS)
    if world.owner is None:
        world.hand_over(commit=True)
    world.run_until(end_ms + plan.quiet_ms)
    invariants.check_end(world)
    return History(
        plan,
        tuple(world.violations),
        world.network.requests,
        sum(each.read_again for each in world.ledger.readings.values()),
        tuple(world.lines),
    )


def calm_down(world: World) -> None:
    """Everything works again."""
    invariants.check_fetchers(world)
    world.network.mend_all()
    for broker in world.cluster.brokers.values():
        STEPS["rejoin-broker"].do(world, {"broker": broker.id})
        if broker.liveness is not Liveness.RUNNING:
            start_broker(world, {"broker": broker.id})
        STEPS["resume-follower"].do(world, {"broker": broker.id})


def _between(random: Random, low: int, high: int) -> int:
    return random.randrange(low, high + 1)


def _one_of(random: Random, choices: list[T]) -> T:
    return choices[random.randrange(0, len(choices))]
