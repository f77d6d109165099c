"""Draws a plan from a seed, and runs it."""

import gc
import random as stdlib_random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from ..cluster.liveness import Liveness
from . import invariants
from .consumer_setting import Commit, ConsumerSetting, Reset
from .group_setting import NAMES, GroupSetting
from .ledger import Violation
from .network import Random
from .plan import BOTH, COMPACT, Options, Plan, Step
from .producer_setting import Generation, ProducerSetting
from .steps import STEPS, start_broker
from .timeline import STEP, Line
from .world import World

T = TypeVar("T")
_LENGTH_MS: Final = (3_000, 12_000)
_STEPS: Final = (3, 14)
_PRODUCES: Final = (4, 16)
_LOOK_AGAIN_MS: Final = 500
HAND_OVER_MS: Final = 1_500
"""By then a rebalance in progress is over."""
_PURGES: Final = 0.3
_TRANSACTIONAL: Final = 0.2
_EVEN: Final = 0.4
_TROUBLED: Final = 0.5
_TROUBLES: Final = (1, 6)
_TROUBLE: Final = [name for name, kind in STEPS.items() for _ in range(kind.producer_weight)]
_COMPACTED: Final = 0.15
_IN_FLIGHT: Final = [1, 5]
_CLEANINGS: Final = (3, 12)
_SLOWED: Final = (1, 4)
_IDLE_MS: Final = (46_000, 58_000)
_AT_ANY_TIME: Final = {"move-coordinator": (1, 5), "newer-commit": (1, 2)}
_AFTERWARDS: Final = {"produce": (2, 8), "rebalance": (1, 4)}
_ROLL_MS: Final = 2_000
"""Only segments that are no longer written to are compacted."""
_ENDS: Final = (2, 8)
_INSTANCES: Final = (0, 2)
_GENERATIONS: Final = [Generation.PLAIN, Generation.V0_11, Generation.V1_0, Generation.V2_5]
_NEW_OBJECTS: Final = 50_000
"""So many new objects until Python looks for reference cycles."""
_MEMBERS: Final = (2, 4)
_MEMBERS_TROUBLES: Final = (3, 12)
_FED: Final = (8, 24)
_ASSIGNORS: Final = ["", "", "uniform", "range"]
_STATIC: Final = 0.3
_SETTLES_MS: Final = {False: 6_000, True: 20_000}
"""Regular expressions are looked up every 10 s at most."""
_MEMBERS_TROUBLE: Final = [name for name, kind in STEPS.items() for _ in range(kind.member_weight)]
_DRAWN: Final = [name for name, kind in STEPS.items() for _ in range(kind.weight)]


@dataclass(frozen=True, slots=True)
class History:
    """The result of a plan. `lines` are its timeline, if that was recorded."""

    plan: Plan
    violations: tuple[Violation, ...]
    requests: int
    read_again: int
    lines: tuple[Line, ...] = ()


def draw(seed: int, options: Options) -> Plan:
    """The plan of a seed: always the same for the same options, in any version of Python."""
    random = stdlib_random.Random(f"{seed}")
    length_ms = _between(random, *_LENGTH_MS)
    steps = [Step(0, "rebalance")]
    steps += [
        Step(_between(random, 0, length_ms), "produce", STEPS["produce"].draw(random))
        for _ in range(_between(random, *_PRODUCES))
    ]
    for _ in range(_between(random, *_STEPS)):
        name = _one_of(random, _DRAWN)
        steps += _drawn(random, name, _between(random, 200, length_ms))
    generation = options.producer or _one_of(random, _GENERATIONS)
    plan = Plan(
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
    )
    plan = _with_producers(random, plan, steps, length_ms, options.transactional)
    in_flight = _one_of(random, _IN_FLIGHT)
    if generation not in (Generation.PLAIN, Generation.V0_11):
        plan = replace(plan, producers=tuple(replace(each, in_flight=in_flight) for each in plan.producers))
    chosen = random.random() < _COMPACTED
    chosen = chosen if options.compacted is None else options.compacted
    if chosen:
        plan = _with_cleaners(random, plan, length_ms)
    if options.slow_metadata:
        plan = _with_slow_metadata(random, plan, length_ms)
    if options.offsets_topic:
        plan = _with_offsets_topic(random, plan, length_ms, newer_commits=options.newer_commits)
    if options.consumer_groups:
        plan = _with_consumer_group(random, plan, length_ms, expressions=options.expressions)
    return plan


def _with_producers(
    random: Random, plan: Plan, steps: list[Step], length_ms: int, transactional: bool | None
) -> Plan:
    """Adds trouble for producers. It is drawn last, so that everything else is the same without it."""
    (producer,) = plan.producers
    plan = replace(plan, purges=random.random() < _PURGES)
    if random.random() < _TROUBLED:
        for _ in range(_between(random, *_TROUBLES)):
            steps += _drawn(random, _one_of(random, _TROUBLE), _between(random, 200, length_ms))
    chosen = random.random() < _TRANSACTIONAL if transactional is None else transactional
    if chosen and producer.generation is not Generation.PLAIN:
        timeout_ms = _one_of(random, [1_500, 60_000])
        producer = replace(producer, acks=-1, transactional=True, transaction_timeout_ms=timeout_ms)
        consumer = replace(plan.consumer, read_committed=random.random() < 0.5)
        plan = replace(plan, producers=(producer,), consumer=consumer)
        for name, counts in (("end-transaction", _ENDS), ("new-instance", _INSTANCES)):
            for _ in range(_between(random, *counts)):
                steps += _drawn(random, name, _between(random, 200, length_ms))
        for _ in range(_between(random, *_PRODUCES)):
            args = {**STEPS["produce"].draw(random), "producer": 1}
            steps.append(Step(_between(random, 0, length_ms), "produce", args))
    if random.random() < _EVEN:
        # A batch is only mistaken for another one if it has as many records.
        count = _one_of(random, [1, 2])
        steps = [
            replace(each, args={**each.args, "count": count}) if each.do == "produce" else each
            for each in steps
        ]
    return plan.with_steps(tuple(sorted(steps, key=lambda each: each.at_ms)))


def _with_cleaners(random: Random, plan: Plan, length_ms: int) -> Plan:
    """Adds log cleaners and compacted topics, drawn after everything else."""
    plan = replace(
        plan,
        cleanup=_one_of(random, [COMPACT, BOTH]),
        delete_retention_ms=_one_of(random, [300, 60_000]),
    )
    plan = replace(plan, purges=plan.purges and plan.cleanup == BOTH)
    return _with_more(random, plan, "clean-log", _CLEANINGS, length_ms)


def _with_slow_metadata(random: Random, plan: Plan, length_ms: int) -> Plan:
    """Lets brokers learn late what the controller decides, drawn after everything else."""
    return _with_more(random, plan, "slow-metadata", _SLOWED, length_ms)


def _with_offsets_topic(random: Random, plan: Plan, length_ms: int, *, newer_commits: bool) -> Plan:
    """Moves the coordinator, drawn after everything else.

    Between two times of traffic the group stops for so long that what it committed early in the first has
    expired in the second, but not what it committed last.
    """
    resumes_ms = length_ms + _between(random, *_IDLE_MS)
    more_ms = _between(random, *_LENGTH_MS)
    steps = [*plan.steps, Step(length_ms, "stop-consumer"), Step(resumes_ms, "rebalance")]
    spans = ((200, length_ms), (resumes_ms, resumes_ms + more_ms))
    for name, counts in _AFTERWARDS.items():
        for _ in range(_between(random, *counts)):
            steps += _drawn(random, name, _between(random, *spans[1]))
    for name, counts in _AT_ANY_TIME.items():
        if newer_commits or name != "newer-commit":
            for _ in range(_between(random, *counts)):
                steps += _drawn(random, name, _between(random, *_one_of(random, spans)))
    plan = replace(plan, offsets_retention_minutes=1, log_roll_ms=_ROLL_MS)
    return plan.with_steps(tuple(sorted(steps, key=lambda each: each.at_ms)))


def _with_consumer_group(random: Random, plan: Plan, length_ms: int, *, expressions: bool) -> Plan:
    """Adds a group whose coordinator assigns partitions, and its trouble, drawn after everything else."""
    members = _between(random, *_MEMBERS)
    group = GroupSetting(
        members,
        partitions=_one_of(random, [1, 2, 3]),
        static=random.random() < _STATIC,
        assignors=tuple(_one_of(random, _ASSIGNORS) for _ in range(members)),
    )
    starts = [_between(random, 0, length_ms // 2) for _ in range(members)]
    steps = [*plan.steps, *(Step(at_ms, "start-member", {"member": i}) for i, at_ms in enumerate(starts))]
    for _ in range(_between(random, *_FED)):
        steps += _drawn(random, "feed", _between(random, 0, length_ms))
    for _ in range(_between(random, *_MEMBERS_TROUBLES)):
        name = _one_of(random, _MEMBERS_TROUBLE)
        drawn = _drawn(random, name, _between(random, 200, length_ms))
        if name == "subscribe-member" and not expressions:
            drawn = [replace(each, args={**each.args, "to": each.args["to"] % len(NAMES)}) for each in drawn]
        steps += drawn
    plan = replace(plan, group=group, quiet_ms=_SETTLES_MS[expressions])
    return plan.with_steps(tuple(sorted(steps, key=lambda each: each.at_ms)))


def _with_more(random: Random, plan: Plan, name: str, counts: tuple[int, int], length_ms: int) -> Plan:
    """Adds steps of one kind."""
    steps = list(plan.steps)
    for _ in range(_between(random, *counts)):
        steps += _drawn(random, name, _between(random, 200, length_ms))
    return plan.with_steps(tuple(sorted(steps, key=lambda each: each.at_ms)))


def _drawn(random: Random, name: str, at_ms: int) -> list[Step]:
    """A step, and the step that undoes it."""
    kind = STEPS[name]
    args = kind.draw(random)
    steps = [Step(at_ms, name, args)]
    if kind.then:
        undo = {each: value for each, value in args.items() if each in ("client", "broker", "member")}
        steps.append(Step(at_ms + _between(random, *kind.follow_ms), kind.then, undo))
    return steps


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
            world.tell(STEP, step.told)
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
            start_broker(world, {"broker": broker.id})
        STEPS["resume-follower"].do(world, {"broker": broker.id})
    world.finish_transactions()
    for member in world.members:
        member.resume()
        member.start()


def _between(random: Random, low: int, high: int) -> int:
    return random.randrange(low, high + 1)


def _one_of(random: Random, choices: Sequence[T]) -> T:
    return choices[random.randrange(0, len(choices))]
