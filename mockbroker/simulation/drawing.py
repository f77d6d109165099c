"""Draws a plan from a seed.

What options ask for is drawn after everything else, so that the rest is the same with and without it.
"""

import random as stdlib_random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from .consumer_setting import ConsumerSetting
from .group_setting import NAMES, GroupSetting
from .kinds import UNDOES
from .plan import BOTH, Options, Plan, Step
from .producer_setting import Generation, ProducerSetting
from .share_setting import ShareSetting
from .steps import STEPS
from .weights import WEIGHTS, Range, Weights

T = TypeVar("T")
_SEVERAL_IN_FLIGHT: Final = (Generation.V1_0, Generation.V2_5, Generation.V4_0)
_FIRST_MS: Final = 200
"""Before that nothing happens to the cluster."""
_ROLL_MS: Final = 2_000
"""Only segments that are no longer written to are compacted."""
_SETTLES_MS: Final = {False: 6_000, True: 20_000}
"""Regular expressions are looked up every 10 s at most."""
_LIKELY: Final = [name for name, kind in STEPS.items() for _ in range(kind.weight)]
_TROUBLE: Final = [name for name, kind in STEPS.items() for _ in range(kind.producer_weight)]
_MEMBERS_TROUBLE: Final = [name for name, kind in STEPS.items() for _ in range(kind.member_weight)]
_SHARERS_TROUBLE: Final = [name for name, kind in STEPS.items() for _ in range(kind.share_weight)]
_SHARES_SETTLE_MS: Final = 9_000
_ALTERED_MS: Final = (100, 1_500)
"""So long after all members were asked to leave."""
_ALTERED_TWICE_MS: Final = ((100, 600), (800, 1_500))
_MUTED_MS: Final = 2_000
"""So long before and after, a member sends no heartbeats."""


def draw(seed: int, options: Options) -> Plan:
    """The plan of a seed: always the same for the same options, in any version of Python."""
    return drawn(seed, options)[0]


def drawn(seed: int, options: Options, weights: Weights = WEIGHTS) -> tuple[Plan, Mapping[str, Any]]:
    """The plan of a seed, and what the seed drew for it, by the names in `Weights`."""
    drawing = _Drawing(seed, options, weights)
    return drawing.plan(), drawing.chosen


class _Drawing:
    def __init__(self, seed: int, options: Options, weights: Weights) -> None:
        self._seed, self._options, self._weights = seed, options, weights
        self._random = stdlib_random.Random(f"{seed}")
        self.chosen: dict[str, Any] = {}
        self._steps: list[Step] = []
        self._length_ms = self._between("length_ms")

    # What is drawn, by its name in the weights; what was given is not.

    def _between(self, name: str) -> int:
        return self._note(name, _between(self._random, getattr(self._weights, name)))

    def _chance(self, name: str, given: bool | None = None) -> bool:
        return self._note(name, self._happens(name) if given is None else given)

    def _happens(self, name: str) -> bool:
        return bool(self._random.random() < getattr(self._weights, name))

    def _one_of(self, name: str, given: Any = None) -> Any:
        return self._note(name, given or self._choice(getattr(self._weights, name)))

    def _choice(self, choices: Sequence[T]) -> T:
        return choices[self._random.randrange(0, len(choices)) if len(choices) > 1 else 0]

    def _note(self, name: str, value: T) -> T:
        self.chosen[name] = value
        return value

    # Steps.

    def _add(self, name: str, at_ms: int, **args: int) -> None:
        """A step, and the one that undoes it. `args` take the place of what is drawn."""
        kind = STEPS[name]
        step = Step(at_ms, name, {**kind.draw(self._random), **args})
        self._steps.append(step)
        if kind.then:
            undo = {key: value for key, value in step.args.items() if key in UNDOES}
            self._steps.append(Step(at_ms + _between(self._random, kind.follow_ms), kind.then, undo))

    def _add_some(self, count: str, names: Sequence[str], *spans: Range) -> None:
        """Steps of these kinds, at any time of the spans; `count` names how many."""
        for _ in range(self._between(count)):
            self._add(self._choice(names), _between(self._random, self._choice(spans)))

    # The plan and its parts.

    def plan(self) -> Plan:
        options, whole, later = self._options, (0, self._length_ms), (_FIRST_MS, self._length_ms)
        self._add("rebalance", 0)
        self._add_some("produces", ["produce"], whole)
        self._add_some("steps", _LIKELY, later)
        generation = self._one_of("generation", options.producer)
        plan = Plan(
            seed=self._seed,
            kafka=options.kafka,
            policies=dict(options.policies),
            consumer=ConsumerSetting(
                self._one_of("commit", options.commit), self._one_of("reset", options.reset)
            ),
            producers=(ProducerSetting(generation, -1 if self._chance("acks_all") else 1),),
            topics=1 + self._chance("second_topic"),
            unclean=self._chance("unclean"),
            min_insync=1 + self._chance("two_in_sync"),
            delay_ms=self._one_of("delay_ms"),
            replica_fetch_bytes=self._one_of("replica_fetch_bytes"),
            commit_rate=self._one_of("commit_rate"),
            purges=self._chance("purges"),
        )
        plan = self._with_trouble_of_producers(plan, whole, later)
        if (in_flight := self._one_of("in_flight")) > 1 and generation in _SEVERAL_IN_FLIGHT:
            plan = replace(plan, producers=tuple(replace(p, in_flight=in_flight) for p in plan.producers))
        compacted = self._happens("compacted")
        if self._note("compacted", compacted if options.compacted is None else options.compacted):
            plan = self._with_cleaners(plan, later)
        if options.slow_metadata:
            self._add_some("slowed", ["slow-metadata"], later)
        if options.offsets_topic:
            plan = self._with_offsets_topic(plan)
        if options.consumer_groups:
            plan = self._with_consumer_group(plan, whole, later)
        if options.share_groups:
            plan = self._with_share_group(plan, whole, later)
        return plan.with_steps(tuple(sorted(self._steps, key=lambda each: each.at_ms)))

    def _with_trouble_of_producers(self, plan: Plan, whole: Range, later: Range) -> Plan:
        (producer,) = plan.producers
        if self._chance("troubled"):
            self._add_some("troubles", _TROUBLE, later)
        chosen = self._chance("transactional", self._options.transactional)
        if chosen and producer.generation is not Generation.PLAIN:
            timeout_ms = self._one_of("transaction_timeout_ms")
            producer = replace(producer, acks=-1, transactional=True, transaction_timeout_ms=timeout_ms)
            consumer = replace(plan.consumer, read_committed=self._chance("read_committed"))
            plan = replace(plan, producers=(producer,), consumer=consumer)
            self._add_some("ends", ["end-transaction"], later)
            self._add_some("instances", ["new-instance"], later)
            for _ in range(self._between("second_produces")):
                args = {**STEPS["produce"].draw(self._random), "producer": 1}
                self._steps.append(Step(_between(self._random, whole), "produce", args))
        if self._chance("even"):
            count = self._one_of("even_count")
            self._steps = [
                replace(each, args={**each.args, "count": count}) if each.do == "produce" else each
                for each in self._steps
            ]
        return plan

    def _with_cleaners(self, plan: Plan, later: Range) -> Plan:
        """With log cleaners and compacted topics."""
        cleanup, retention_ms = self._one_of("cleanup"), self._one_of("delete_retention_ms")
        self._add_some("cleanings", ["clean-log"], later)
        purges = plan.purges and cleanup == BOTH
        return replace(plan, cleanup=cleanup, delete_retention_ms=retention_ms, purges=purges)

    def _with_offsets_topic(self, plan: Plan) -> Plan:
        """With a coordinator that moves.

        Between two times of traffic the group stops for so long that what it committed early in the first has
        expired in the second, but not what it committed last.
        """
        resumes_ms = self._length_ms + self._between("idle_ms")
        second = resumes_ms, resumes_ms + self._between("more_ms")
        spans = (_FIRST_MS, self._length_ms), second
        self._add("stop-consumer", self._length_ms)
        self._add("rebalance", resumes_ms)
        self._add_some("later_produces", ["produce"], second)
        self._add_some("later_rebalances", ["rebalance"], second)
        self._add_some("coordinator_moves", ["move-coordinator"], *spans)
        if self._options.newer_commits:
            self._add_some("newer_commits", ["newer-commit"], *spans)
        return replace(plan, offsets_retention_minutes=1, log_roll_ms=_ROLL_MS)

    def _with_consumer_group(self, plan: Plan, whole: Range, later: Range) -> Plan:
        """With a group whose coordinator assigns partitions, and its trouble."""
        members, partitions = self._between("members"), self._one_of("partitions")
        static = self._chance("static")
        assignors = tuple(self._choice(self._weights.assignor) for _ in range(members))
        group = GroupSetting(members, partitions, static, self._note("assignor", assignors))
        for member in range(members):
            self._add("start-member", _between(self._random, (0, self._length_ms // 2)), member=member)
        self._add_some("feeds", ["feed"], whole)
        self._add_some("member_troubles", _MEMBERS_TROUBLE, later)
        if not self._options.expressions:
            self._steps = [
                replace(each, args={**each.args, "to": each.args["to"] % len(NAMES)})
                if each.do == "subscribe-member"
                else each
                for each in self._steps
            ]
        return replace(plan, group=group, quiet_ms=_SETTLES_MS[self._options.expressions])

    def _alter_twice(self) -> None:
        """The group is told to begin anew, and again once a member that nobody counts any more has had the
        leaders read that."""
        at_ms = _between(self._random, (self._length_ms // 2 + _MUTED_MS, self._length_ms + _MUTED_MS))
        self._add("mute-sharer", at_ms - _MUTED_MS, ms=3 * _MUTED_MS)
        self._add("rest-sharers", at_ms)
        first_ms, second_ms = (at_ms + _between(self._random, each) for each in _ALTERED_TWICE_MS)
        for altered_ms in (first_ms, second_ms):
            self._add("alter-share-offsets", altered_ms)
        for _ in range(self._between("fed_meanwhile")):
            self._add("feed-share", _between(self._random, (at_ms, second_ms + _ALTERED_MS[1])))

    def _with_share_group(self, plan: Plan, whole: Range, later: Range) -> Plan:
        """With a share group, and its trouble."""
        shares = ShareSetting(
            self._between("sharers"),
            self._one_of("share_partitions"),
            self._chance("share_latest"),
            self._one_of("deliveries"),
            self._one_of("lock_ms"),
            self._one_of("share_records"),
            self._chance("strict"),
            self._chance("implicit"),
            self._chance("poison"),
        )
        for member in range(shares.members):
            self._add("start-sharer", _between(self._random, (0, self._length_ms // 2)), member=member)
        self._add_some("share_feeds", ["feed-share"], whole)
        self._add_some("share_troubles", _SHARERS_TROUBLE, later)
        for _ in range(self._between("rests")):
            at_ms = _between(self._random, later)
            self._add("rest-sharers", at_ms)
            if self._chance("muted"):
                self._add("mute-sharer", max(_FIRST_MS, at_ms - _MUTED_MS), ms=2 * _MUTED_MS)
            for _ in range(self._one_of("altered")):
                self._add("alter-share-offsets", at_ms + _between(self._random, _ALTERED_MS))
        if self._chance("altered_twice"):
            self._alter_twice()
        return replace(plan, shares=shares, quiet_ms=max(plan.quiet_ms, _SHARES_SETTLE_MS))


def _between(random: stdlib_random.Random, ends: Range) -> int:
    return random.randrange(ends[0], ends[1] + 1)
